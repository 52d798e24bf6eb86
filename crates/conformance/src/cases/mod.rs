//! All cases, group by group.

mod allocate;
mod graphs;
pub(crate) mod kernels;
mod launches;
mod modules;

use crate::case::{Group, Scope};

/// The groups, in the order they run in.
pub const GROUPS: &[Group] = &[
    Group { name: "memory", scope: Scope::Device, lists: &[allocate::CASES] },
    Group { name: "module", scope: Scope::Device, lists: &[modules::CASES, modules::CODE] },
    Group { name: "launch", scope: Scope::Device, lists: &[launches::CASES] },
    Group { name: "graph", scope: Scope::Device, lists: &[graphs::CASES] },
    Group { name: "kernel", scope: Scope::Device, lists: kernels::LISTS },
];

/// What nearly every file of cases uses.
pub(crate) mod prelude {
    pub(crate) use crate::bench::*;
    pub(crate) use crate::case::{Case, Failure, Outcome, ensure, same, same_all};
    pub(crate) use crate::codes::*;
    pub(crate) use hip_sys::hip::*;
    pub(crate) use std::ffi::c_void;
    pub(crate) use std::ptr::{null, null_mut};
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
