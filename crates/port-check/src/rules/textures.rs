//! Textures and surfaces.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule =
    Rule { name: "textures", about: "texture and surface objects and references", check };

const REASON: &str =
    "gfx942 and gfx950 have no image instructions, so that texture functions do not compile for them.";
const REMEDY: &str =
    "Read from plain memory, with `__ldg` if it is read only, and interpolate in the kernel.";

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for at in scene.words() {
            let name = scene.text(at);
            let fetch = is_fetch(name) && scene.call(at).is_some() && !look.macros.is_provided(name);
            let reference = name == "texture" && scene.is(at + 1, "<") && scene.is_word(at + 2);
            if fetch || reference || HOST.contains(&name) {
                found.breaks(scene.tokens[at].at, REASON, REMEDY);
            }
        }
    }
}

fn is_fetch(name: &str) -> bool {
    let texture = name.strip_prefix("tex").or_else(|| name.strip_prefix("surf"));
    texture.is_some_and(|rest| ["1D", "2D", "3D", "Cubemap"].iter().any(|start| rest.starts_with(start)))
}

/// Types and functions of the host that make them.
const HOST: [&str; 8] = [
    "cudaTextureObject_t",
    "cudaSurfaceObject_t",
    "cudaCreateTextureObject",
    "cudaCreateSurfaceObject",
    "cudaBindTexture",
    "cudaBindTexture2D",
    "cudaBindTextureToArray",
    "cudaBindSurfaceToArray",
];
