//! Arithmetic with another rounding than to nearest.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule = Rule {
    name: "rounding-mode",
    about: "arithmetic that rounds up, down or to zero, as `__fadd_rz`",
    check,
};

const OPERATIONS: [&str; 16] = [
    "fadd", "fsub", "fmul", "fdiv", "fmaf", "frcp", "fsqrt", "frsqrt", "dadd", "dsub", "dmul", "ddiv", "fma",
    "drcp", "dsqrt", "dfma",
];

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for call in scene.calls() {
            let name = scene.text(call.name);
            let Some((operation, mode)) = name.strip_prefix("__").and_then(|rest| rest.split_once('_'))
            else {
                continue;
            };
            if OPERATIONS.contains(&operation)
                && ["ru", "rd", "rz"].contains(&mode)
                && !look.macros.is_provided(name)
            {
                let reason = format!(
                    "HIP declares `{name}` only with the macro OCML_BASIC_ROUNDED_OPERATIONS; without it there is `_rn` alone."
                );
                found.breaks(scene.tokens[call.name].at, reason, "Use `_rn` if the rounding does not matter, or define the macro and test that it builds for your GPU.");
            }
        }
    }
}
