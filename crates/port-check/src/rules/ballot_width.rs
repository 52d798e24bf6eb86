//! Masks of lanes in 32 bits.

use super::{Found, Look, Rule, types};
use crate::scene::{Function, Scene};

pub(super) const RULE: Rule = Rule {
    name: "ballot-width",
    about: "results of ballots in 32-bit integers, or counted by `__popc` and `__ffs`",
    check,
};

const BALLOTS: [&str; 6] =
    ["__ballot_sync", "__ballot", "__activemask", "__match_any_sync", "__match_all_sync", "__lanemask_lt"];
/// Functions of 32 bits, and their 64-bit siblings.
const COUNTS: [(&str, &str); 4] =
    [("__popc", "__popcll"), ("__ffs", "__ffsll"), ("__clz", "__clzll"), ("__brev", "__brevll")];

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for call in scene.calls() {
            let (name, at) = (scene.text(call.name), scene.tokens[call.name].at);
            let function = scene.function_at(call.name);
            let kept = (BALLOTS.contains(&name) && !look.macros.is_provided(name))
                .then(|| stored_in_32_bits(scene, function, call.name));
            if let Some(variable) = kept.flatten() {
                let reason =
                    format!("`{name}` of HIP returns 64 bits, one a lane, of which `{variable}` keeps 32.");
                found.breaks(at, reason, "Keep masks of lanes in `unsigned long long`, and use the functions with `ll`, as `__popcll`.");
            }
            if let Some((_, wide)) = COUNTS.iter().find(|(narrow, _)| *narrow == name) {
                let Some(argument) = call.arguments.first() else { continue };
                let tokens = &scene.tokens[argument.clone()];
                let is_ballot = |name: &str| BALLOTS.contains(&name) && !look.macros.is_provided(name);
                let direct = tokens.first().is_some_and(|token| is_ballot(token.text));
                let kept = tokens.first().filter(|token| token.is_word()).is_some_and(|token| {
                    function
                        .is_some_and(|function| holds_a_wide_ballot(scene, function, token.text, is_ballot))
                });
                if direct || kept {
                    let reason = format!("`{name}` takes 32 bits, but a mask of lanes has 64 in HIP.");
                    found.breaks(at, reason, format!("Use `{wide}`."));
                }
            }
        }
    }
}

/// The variable of 32 bits that a call's result goes to.
fn stored_in_32_bits<'a>(scene: &Scene<'a>, function: Option<&Function>, call: usize) -> Option<&'a str> {
    let assignment = call.checked_sub(1).filter(|at| scene.is(*at, "=") && *at > 0)?;
    let name = scene.text(assignment - 1);
    let declared = scene.type_of(function?, name)?;
    types::is_32_bits(declared).then_some(name)
}

/// Whether a variable, not of 32 bits, is set to a ballot's result.
fn holds_a_wide_ballot(
    scene: &Scene<'_>,
    function: &Function,
    name: &str,
    is_ballot: impl Fn(&str) -> bool,
) -> bool {
    let set = function
        .body
        .clone()
        .any(|at| scene.is(at, name) && scene.is(at + 1, "=") && is_ballot(scene.text(at + 2)));
    set && scene.type_of(function, name).is_some_and(|declared| !types::is_32_bits(declared))
}
