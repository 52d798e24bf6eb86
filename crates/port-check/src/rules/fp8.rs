//! Eight-bit floats.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule =
    Rule { name: "fp8", about: "eight-bit floats, whose format differs on gfx942", check };

const REASON: &str = "Instructions of gfx942 read FNUZ formats (other bias, largest e4m3 value 240), not NVIDIA's OCP formats, which gfx950 and gfx12 have.";
const REMEDY: &str = "Use `__hip_fp8_e4m3` and `__hip_fp8_e5m2`, and on gfx942 their `_fnuz` siblings with stored values converted and scaled.";

fn check(look: &Look<'_>, found: &mut Found) {
    for include in look.file.shared_includes().filter(|include| include.path == "cuda_fp8.h") {
        found.check(include.at, REASON, REMEDY);
    }
    for scene in &look.scenes {
        for at in scene.words().filter(|at| is_fp8(scene.text(*at))) {
            found.check(scene.tokens[at].at, REASON, REMEDY);
        }
    }
}

fn is_fp8(name: &str) -> bool {
    let conversion = name.starts_with("__nv_cvt_") && name.contains("fp8");
    conversion || name.starts_with("__nv_fp8") || ["__NV_E4M3", "__NV_E5M2"].contains(&name)
}
