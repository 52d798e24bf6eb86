//! Fast functions whose results differ.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule = Rule {
    name: "fast-math",
    about: "fast approximations, as `__expf`, whose results are not CUDA's",
    check,
};

const FAST: [&str; 11] = [
    "__expf",
    "__exp10f",
    "__logf",
    "__log2f",
    "__log10f",
    "__sinf",
    "__cosf",
    "__sincosf",
    "__tanf",
    "__powf",
    "__fdividef",
];

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for call in scene.calls() {
            let name = scene.text(call.name);
            let at = scene.tokens[call.name].at;
            if FAST.contains(&name) && !look.macros.is_provided(name) {
                let reason = format!(
                    "`{name}` is another approximation in HIP, with other last digits and other rules for subnormal numbers."
                );
                found.check(
                    at,
                    reason,
                    "Compare with a tolerance, or use the function without the underscores.",
                );
            } else if name == "__tanhf" && !look.macros.is_provided(name) {
                found.breaks(at, "HIP has no `__tanhf` for device code.", "Use `tanhf`.");
            }
        }
    }
}
