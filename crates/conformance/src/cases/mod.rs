//! All cases, group by group.

mod allocate;
mod copies;
mod devices;
mod errors;
mod events;
mod functions;
mod graphs;
mod host_functions;
mod host_memory;
mod init;
pub(crate) mod kernels;
mod launches;
mod modules;
mod peers;
mod pointers;
mod pools;
mod resets;
mod rows;
mod streams;
mod threads;

use crate::case::{Case, Group, Scope};

/// The groups, in the order they run in.
pub const GROUPS: &[Group] = &[
    once("init", &[init::CASES, init::VERSIONS, init::CURRENT]),
    once("error", &[errors::CASES, errors::LAST]),
    each(
        "device",
        &[
            devices::CASES,
            devices::NAMES,
            devices::IDENTITY,
            devices::PROPERTIES,
            devices::ATTRIBUTES,
            devices::LIMITS,
            devices::PRIORITIES,
            resets::CASES,
        ],
    ),
    each(
        "memory",
        &[
            allocate::CASES,
            allocate::FREE,
            allocate::INFO,
            host_memory::CASES,
            host_memory::REGISTER,
            host_memory::MANAGED,
            pointers::CASES,
            pointers::RANGE,
            copies::CASES,
            copies::ASYNC,
            copies::ORDER,
            rows::CASES,
            rows::FILLS,
        ],
    ),
    each("peer", &[peers::CASES, peers::COPIES]),
    each("pool", &[pools::CASES, pools::POOLS, pools::ATTRIBUTES]),
    each(
        "stream",
        &[
            streams::CASES,
            streams::DESTROY,
            streams::BUSY,
            streams::OVERLAP,
            streams::NULL_STREAM,
            host_functions::CASES,
        ],
    ),
    each("event", &[events::CASES, events::RECORD, events::WAIT, events::TIME]),
    each("module", &[modules::CASES, modules::CODE, modules::FUNCTIONS, modules::GLOBALS]),
    each(
        "launch",
        &[launches::CASES, launches::REFUSED, launches::LIMITS, launches::SHAPES, launches::SHARED],
    ),
    each("function", &[functions::CASES, functions::OCCUPANCY, functions::POTENTIAL]),
    each("thread", &[threads::CASES, threads::SHARED, threads::MANY]),
    each("graph", graphs::LISTS),
    each("kernel", kernels::LISTS),
];

/// A group whose results do not depend on the device.
const fn once(name: &'static str, lists: &'static [&'static [Case]]) -> Group {
    Group { name, scope: Scope::Process, lists }
}

/// A group that runs on each device.
const fn each(name: &'static str, lists: &'static [&'static [Case]]) -> Group {
    Group { name, scope: Scope::Device, lists }
}

/// Items that nearly every file of cases uses.
pub(crate) mod prelude {
    pub(crate) use crate::bench::*;
    pub(crate) use crate::case::{Case, Failure, Outcome, ensure, same, same_all};
    pub(crate) use crate::codes::*;
    pub(crate) use hip_sys::hip::*;
    pub(crate) use std::ffi::c_void;
    pub(crate) use std::ptr::{null, null_mut};

    pub(crate) const H2H: hipMemcpyKind = hipMemcpyKind::hipMemcpyHostToHost;
    pub(crate) const H2D: hipMemcpyKind = hipMemcpyKind::hipMemcpyHostToDevice;
    pub(crate) const D2H: hipMemcpyKind = hipMemcpyKind::hipMemcpyDeviceToHost;
    pub(crate) const D2D: hipMemcpyKind = hipMemcpyKind::hipMemcpyDeviceToDevice;
    pub(crate) const ANY: hipMemcpyKind = hipMemcpyKind::hipMemcpyDefault;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_say_their_group() {
        let mut seen = HashSet::new();
        for group in GROUPS {
            for case in group.cases() {
                assert!(seen.insert(case.name), "{} is there twice", case.name);
                let parts: Vec<&str> = case.name.split('/').collect();
                assert!(parts.len() == 3 && parts[0] == group.name, "{} in {}", case.name, group.name);
            }
        }
    }
}
