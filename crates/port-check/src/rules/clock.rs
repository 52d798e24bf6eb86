//! Clocks of device code.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule =
    Rule { name: "clock", about: "`clock`, `clock64` and `__globaltimer` in device code", check };

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for call in scene.calls().filter(|call| scene.on_device(call.name)) {
            let at = scene.tokens[call.name].at;
            match scene.text(call.name) {
                "clock" | "clock64" => {
                    let reason = "HIP counts clocks of the GPU's own changing frequency, and not those that the device's properties name.";
                    found.check(
                        at,
                        reason,
                        "Use `wall_clock64()` and hipDeviceAttributeWallClockRate to measure time.",
                    );
                }
                "__globaltimer" => found.breaks(at, "HIP has no `__globaltimer`.", "Use `wall_clock64()`."),
                _ => {}
            }
        }
    }
}
