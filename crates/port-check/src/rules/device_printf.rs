//! Output of device code.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule = Rule { name: "device-printf", about: "`printf` in device code", check };

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for call in
            scene.calls().filter(|call| scene.text(call.name) == "printf" && scene.on_device(call.name))
        {
            let reason = "HIP's `printf` calls the host from each wave, which needs PCIe atomics and makes kernels larger and slower even where it does not run.";
            found.check(
                scene.tokens[call.name].at,
                reason,
                "Leave it out of release builds, or build with -mprintf-kind=buffered.",
            );
        }
    }
}
