//! Shuffles whose width is left to the wave size.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule =
    Rule { name: "shuffle-width", about: "`__shfl`, `__shfl_up` and `__shfl_down` without a width", check };

/// Shuffles, and the number of their arguments without a width. The exchanges by xor are left out: their partners are the same in
/// waves of 64.
const SHUFFLES: [(&str, usize); 6] = [
    ("__shfl_sync", 3),
    ("__shfl_up_sync", 3),
    ("__shfl_down_sync", 3),
    ("__shfl", 2),
    ("__shfl_up", 2),
    ("__shfl_down", 2),
];

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for call in scene.calls() {
            let name = scene.text(call.name);
            let without = SHUFFLES
                .iter()
                .any(|(known, arguments)| *known == name && call.arguments.len() == *arguments);
            if without && !look.macros.is_provided(name) {
                let reason = format!(
                    "`{name}` without a width spans the wave, so that lanes 32 to 63 take part on CDNA GPUs."
                );
                found.check(
                    scene.tokens[call.name].at,
                    reason,
                    "Give the width 32 if the code counts on groups of 32 lanes.",
                );
            }
        }
    }
}
