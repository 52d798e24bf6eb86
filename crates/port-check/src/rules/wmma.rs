//! NVIDIA's matrix fragments.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule = Rule { name: "wmma", about: "`mma.h` and `nvcuda::wmma`", check };

const REMEDY: &str = "Use the library rocWMMA, whose names in `rocwmma` mirror those of `nvcuda::wmma`, and its fragment sizes for the wave size.";

fn check(look: &Look<'_>, found: &mut Found) {
    for include in
        look.file.shared_includes().filter(|include| ["mma.h", "crt/mma.h"].contains(&include.path))
    {
        found.breaks(include.at, "ROCm has no `mma.h`.", REMEDY);
    }
    for scene in &look.scenes {
        for at in scene.words() {
            let qualified =
                scene.is(at + 1, "::") && at.checked_sub(1).is_none_or(|before| !scene.is(before, "::"));
            let namespace = scene.text(at) == "nvcuda"
                || (scene.text(at) == "wmma" && qualified && !look.macros.is_provided("wmma"));
            if namespace {
                let reason = format!("HIP has no namespace `{}` with fragments of matrices.", scene.text(at));
                found.breaks(scene.tokens[at].at, reason, REMEDY);
            }
        }
    }
}
