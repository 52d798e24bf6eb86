//! Masks of `_sync` functions that have 32 bits.

use super::{Found, Look, Rule, types};
use crate::lex::{Token, tokens};
use crate::preprocess::Macros;
use crate::scene::{Call, Scene};

pub(super) const RULE: Rule = Rule {
    name: "sync-mask",
    about: "32-bit masks of `__shfl_sync`, `__ballot_sync`, `__syncwarp` and others",
    check,
};

/// Whether a function takes a mask of lanes first.
fn takes_mask(name: &str) -> bool {
    let vote =
        ["__ballot_sync", "__any_sync", "__all_sync", "__match_any_sync", "__match_all_sync", "__syncwarp"];
    let shuffle = name.starts_with("__shfl") || name.starts_with("__reduce_");
    vote.contains(&name) || (shuffle && name.ends_with("_sync"))
}

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for call in scene.calls().filter(|call| takes_mask(scene.text(call.name))) {
            let name = scene.text(call.name);
            if look.macros.is_provided(name) {
                continue;
            }
            if look.macros.is_provided("HIP_DISABLE_WARP_SYNC_BUILTINS") {
                let reason = format!(
                    "These sources define HIP_DISABLE_WARP_SYNC_BUILTINS, which takes `{name}` away, and define none of their own."
                );
                found.breaks(
                    scene.tokens[call.name].at,
                    reason,
                    "Leave the macro out, or define the function for HIP as the sources do for others.",
                );
            } else if mask_has_32_bits(scene, &call, look.macros) {
                let reason = format!(
                    "`{name}` of HIP 7 takes a mask of 64 bits alone, and a 32-bit one stops the compiler by a static_assert."
                );
                found.breaks(scene.tokens[call.name].at, reason, "Pass a 64-bit mask: 0xffffffffffffffffull for all lanes, of which waves of 32 use the lower half.");
            }
        }
    }
}

fn mask_has_32_bits(scene: &Scene<'_>, call: &Call, macros: &Macros) -> bool {
    let Some(mask) = call.arguments.first() else { return false };
    let argument = &scene.tokens[mask.clone()];
    match argument {
        [name] if name.is_word() => {
            if scene.define.is_some_and(|(_, parameters)| parameters.contains(&name.text)) {
                return false;
            }
            let declared =
                scene.function_at(call.name).and_then(|function| scene.type_of(function, name.text));
            match (declared, macros.body(name.text)) {
                (Some(declared), _) => types::is_32_bits(declared),
                (None, Some(body)) => is_32_bit_constant(&tokens(body)),
                (None, None) => ["UINT_MAX", "UINT32_MAX"].contains(&name.text),
            }
        }
        constant => is_32_bit_constant(constant),
    }
}

/// Whether it is made of integers of 32 bits: `0xffffffff`, `~0u`, `(1u << 16) - 1`, `-1`.
fn is_32_bit_constant(constant: &[Token<'_>]) -> bool {
    let mut integers = constant.iter().filter(|token| token.integer().is_some()).peekable();
    let signs = |token: &Token<'_>| {
        token.integer().is_some() || ["~", "-", "(", ")", "<<", "+"].contains(&token.text)
    };
    integers.peek().is_some()
        && constant.iter().all(signs)
        && integers.all(|token| !token.is_64_bit_integer())
}
