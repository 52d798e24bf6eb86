//! Copies to shared memory beside the computation.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule =
    Rule { name: "async-copy", about: "`__pipeline_memcpy_async` and its siblings", check };

const REMEDY: &str = "Load to registers and store to shared memory, and load the next tile before the barrier to keep the overlap.";

fn check(look: &Look<'_>, found: &mut Found) {
    for include in look.file.shared_includes().filter(|include| include.path.starts_with("cuda_pipeline")) {
        found.breaks(include.at, format!("HIP has no `{}`.", include.path), REMEDY);
    }
    for scene in &look.scenes {
        for at in scene.words().filter(|at| scene.text(*at).starts_with("__pipeline_")) {
            if !look.macros.is_provided(scene.text(at)) {
                found.breaks(scene.tokens[at].at, format!("HIP has no `{}`.", scene.text(at)), REMEDY);
            }
        }
    }
}
