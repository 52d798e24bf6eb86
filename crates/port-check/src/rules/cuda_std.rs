//! libcu++, which has CUDA's namespace.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule = Rule {
    name: "cuda-std",
    about: "libcu++: `cuda::std`, `cuda::atomic`, `cuda::barrier` and others",
    check,
};

const REMEDY: &str = "Install libhipcxx, ROCm's port of libcu++, and see that it has this part, or use HIP's own functions and `std`.";

fn check(look: &Look<'_>, found: &mut Found) {
    for include in look.file.shared_includes().filter(|include| include.path.starts_with("cuda/")) {
        found.breaks(
            include.at,
            format!("HIP comes without libcu++, and so without `{}`.", include.path),
            REMEDY,
        );
    }
    for scene in &look.scenes {
        for at in scene.words().filter(|at| scene.text(*at) == "cuda" && scene.is(at + 1, "::")) {
            // `at::cuda` is another library's; `return ::cuda` is not.
            let owner = at.checked_sub(2).filter(|_| scene.is(at - 1, "::"));
            let inner = owner.is_some_and(|owner| scene.is_word(owner) && scene.text(owner) != "return");
            if !inner && PARTS.contains(&scene.text(at + 2)) {
                let reason =
                    format!("HIP comes without libcu++, and so without `cuda::{}`.", scene.text(at + 2));
                found.breaks(scene.tokens[at].at, reason, REMEDY);
            }
        }
    }
}

/// What libcu++ has in its namespace.
const PARTS: [&str; 28] = [
    "std",
    "atomic",
    "atomic_ref",
    "atomic_thread_fence",
    "barrier",
    "pipeline",
    "pipeline_shared_state",
    "make_pipeline",
    "memcpy_async",
    "thread_scope",
    "thread_scope_block",
    "thread_scope_device",
    "thread_scope_system",
    "aligned_size_t",
    "annotated_ptr",
    "access_property",
    "latch",
    "counting_semaphore",
    "proclaim_return_type",
    "device",
    "ptx",
    "execution",
    "stream_ref",
    "minimum",
    "maximum",
    "counting_iterator",
    "make_counting_iterator",
    "discard_iterator",
];
