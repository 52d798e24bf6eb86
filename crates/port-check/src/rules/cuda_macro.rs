//! Conditions on macros of CUDA's compilers.

use super::{Found, Look, Rule};
use crate::preprocess::is_cuda;

pub(super) const RULE: Rule = Rule {
    name: "cuda-macro",
    about: "conditions on `__CUDA_ARCH__`, `__CUDACC__`, `CUDART_VERSION` and others",
    check,
};

fn check(look: &Look<'_>, found: &mut Found) {
    for condition in &look.file.conditions {
        let Some(holds) = condition.without_cuda else { continue };
        if let Some(token) = condition.tokens.iter().find(|token| is_cuda(token.text)) {
            let branch = if holds { "this branch is compiled" } else { "this branch is left out" };
            let reason = format!("HIP defines no `{}` for AMD's GPUs, so that {branch}.", token.text);
            found.check(
                token.at,
                reason,
                "See that this is the branch you want, or ask for `__HIP_PLATFORM_AMD__` first.",
            );
        }
    }
}
