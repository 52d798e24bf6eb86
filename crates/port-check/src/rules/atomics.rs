//! Atomic operations that HIP lacks, or that are slow or weak there.

use super::{Found, Look, Rule, types};

pub(super) const RULE: Rule = Rule {
    name: "atomics",
    about: "atomics on double and 16-bit floats, and those of a block or the system",
    check,
};

const HALVES: [&str; 10] = [
    "half",
    "__half",
    "half2",
    "__half2",
    "nv_bfloat16",
    "__nv_bfloat16",
    "nv_bfloat162",
    "__nv_bfloat162",
    "__hip_bfloat16",
    "__hip_bfloat162",
];
/// The operations that HIP has for the whole system.
const SYSTEM: [&str; 9] = ["Add", "Sub", "Exch", "Min", "Max", "And", "Or", "Xor", "CAS"];

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for call in scene.calls().filter(|call| scene.text(call.name).starts_with("atomic")) {
            let (name, at) = (scene.text(call.name), scene.tokens[call.name].at);
            let operation = &name["atomic".len()..];
            if look.macros.is_provided(name) && operation != "Add" {
                continue;
            }
            if operation.ends_with("_block") {
                let reason = format!("HIP has no `{name}`.");
                found.breaks(at, reason, "Use the function without `_block`, or `__hip_atomic_fetch_add` and its siblings with `__HIP_MEMORY_SCOPE_WORKGROUP`.");
            } else if let Some(known) = operation.strip_suffix("_system") {
                if SYSTEM.contains(&known) {
                    let reason = "Atomics of the whole system reach the host and other GPUs only in fine-grained memory, which hipMalloc does not give.";
                    found.check(at, reason, "Allocate with hipHostMalloc, hipMallocManaged or hipExtMallocWithFlags and hipDeviceMallocFinegrained.");
                } else {
                    found.breaks(
                        at,
                        format!("HIP has no `{name}`."),
                        "Use `__hip_atomic_fetch_add` or a loop of `atomicCAS_system`.",
                    );
                }
            } else if operation == "Add" {
                let Some(address) = call.arguments.first() else { continue };
                let of = types::pointed(scene, scene.function_at(call.name), address.clone());
                if types::names(&of, &HALVES) && !look.macros.is_provided(name) {
                    let reason = "HIP 7.2 has no `atomicAdd` for 16-bit floats.";
                    found.breaks(at, reason, "Use `unsafeAtomicAdd` on pairs (`__half2`, `__hip_bfloat162`), or a loop of `atomicCAS` on 16 or 32 bits.");
                } else if types::names(&of, &["double"]) {
                    let reason = "`atomicAdd` on double is one instruction on gfx942, but a loop of compare-and-swap on gfx90a and on RDNA GPUs.";
                    found.check(at, reason, "Build with -munsafe-fp-atomics for gfx90a if the memory is coarse-grained, or add within blocks first.");
                }
            }
        }
    }
}
