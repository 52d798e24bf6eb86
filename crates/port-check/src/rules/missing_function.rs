//! Functions and attributes of device code that HIP 7.2 does not declare.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule = Rule {
    name: "missing-function",
    about: "functions and attributes of device code that HIP lacks, as `__dp4a` or `__nanosleep`",
    check,
};

/// Names, and what to do. hipcc of ROCm 7.2.4 was asked for each of them.
const MISSING: [(&str, &str); 31] = [
    ("__nanosleep", "Use `__builtin_amdgcn_s_sleep(n)`, which waits about 64·n clocks."),
    (
        "__dp4a",
        "Use `__builtin_amdgcn_sdot4`, or `__builtin_amdgcn_sudot4` on gfx11 and later, or four products.",
    ),
    ("__dp2a_lo", "Write the two products, or use `__builtin_amdgcn_sdot2`."),
    ("__dp2a_hi", "Write the two products, or use `__builtin_amdgcn_sdot2`."),
    ("__ldcv", "Read through a `volatile` pointer, or use `__builtin_nontemporal_load`."),
    ("__ldlu", "Use `__builtin_nontemporal_load` or a plain load."),
    ("__stcg", "Use `__builtin_nontemporal_store` or a plain store."),
    ("__stcs", "Use `__builtin_nontemporal_store` or a plain store."),
    ("__stwb", "Use a plain store."),
    ("__stwt", "Write through a `volatile` pointer."),
    ("__trap", "Use `abort()` or `__builtin_trap()`."),
    ("__brkpt", "Use `__builtin_debugtrap()`."),
    ("__prof_trigger", "Leave it out."),
    ("__isGlobal", "Use `__builtin_amdgcn_is_shared` and `__builtin_amdgcn_is_private`."),
    ("__isShared", "Use `__builtin_amdgcn_is_shared`."),
    ("__isLocal", "Use `__builtin_amdgcn_is_private`."),
    ("__isConstant", "Leave the question out: constant memory is global memory."),
    ("__cvta_generic_to_shared", "Pass the pointer itself; only PTX needs the number."),
    ("__cvta_generic_to_global", "Pass the pointer itself; only PTX needs the number."),
    ("__cvta_shared_to_generic", "Pass the pointer itself; only PTX needs the number."),
    ("__barrier_sync", "Use `__syncthreads()`."),
    ("__barrier_sync_count", "Use `__syncthreads()`, or split the kernel."),
    ("__grid_constant__", "Leave it out: parameters of kernels are in constant memory anyway."),
    ("__cluster_dims__", "Leave it out: AMD's GPUs but gfx1250 have no clusters."),
    ("__maxnreg__", "Use `__launch_bounds__` or `__attribute__((amdgpu_num_vgpr(n)))`."),
    ("__viaddmax_s32", "Write `max(a + b, c)`."),
    ("__viaddmin_s32", "Write `min(a + b, c)`."),
    ("__vimax3_s32", "Write `max(max(a, b), c)`."),
    ("__vimin3_s32", "Write `min(min(a, b), c)`."),
    ("cudaGridDependencySynchronize", "Leave it out: kernels of a stream run one after the other."),
    ("cudaTriggerProgrammaticLaunchCompletion", "Leave it out: kernels of a stream run one after the other."),
];

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for at in scene.words() {
            let name = scene.text(at);
            let remedy = if is_packed(name) && scene.is(at + 1, "(") {
                Some("Write it on a vector type of four or two elements, or byte by byte.")
            } else {
                MISSING.iter().find(|(missing, _)| *missing == name).map(|(_, remedy)| *remedy)
            };
            if let Some(remedy) = remedy.filter(|_| !look.macros.is_provided(name)) {
                found.breaks(scene.tokens[at].at, format!("HIP 7.2 does not declare `{name}`."), remedy);
            }
        }
    }
}

/// Whether it is one of CUDA's functions on packed bytes or half words, as `__vadd4` and `__vcmpgtu2`.
fn is_packed(name: &str) -> bool {
    let Some(middle) = name.strip_prefix("__v").and_then(|rest| rest.strip_suffix(['2', '4'])) else {
        return false;
    };
    let operations = [
        "add", "sub", "abs", "avg", "cmp", "hadd", "max", "min", "neg", "sad", "set", "imax", "imin",
        "iaddmax", "ibmax",
    ];
    operations.iter().any(|operation| middle.starts_with(operation))
        && middle.bytes().all(|byte| byte.is_ascii_lowercase())
}
