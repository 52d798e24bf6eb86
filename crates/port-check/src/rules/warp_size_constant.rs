//! `warpSize` where a constant has to stand.

use super::{Found, Look, Rule};

pub(super) const RULE: Rule = Rule {
    name: "warp-size-constant",
    about: "`warpSize` as an array's size, a template argument or a `constexpr`",
    check,
};

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for at in scene.words().filter(|at| scene.text(*at) == "warpSize") {
            let before = |back: usize| at.checked_sub(back).map_or("", |at| scene.text(at));
            let start = (0..at).rev().find(|at| [";", "{", "}", "("].contains(&scene.text(*at)));
            let statement = &scene.tokens[start.map_or(0, |start| start + 1)..at];
            let conditional = at >= 3
                && start
                    .is_some_and(|open| open >= 2 && scene.is(open, "(") && scene.is(open - 1, "constexpr"));
            let constant = statement.iter().any(|token| token.is("constexpr")) || conditional;
            let array =
                before(1) == "[" && scene.is(at + 1, "]") && is_declared_array(&scene.tokens[..at - 1]);
            let argument = ["<", ","].contains(&before(1))
                && scene.is(at + 1, ">")
                && (scene.is(at + 2, "(") || scene.is_word(at + 2));
            let asserted = start.is_some_and(|open| open >= 1 && scene.is(open - 1, "static_assert"));
            if constant || array || argument || asserted {
                let reason = "`warpSize` is not a constant in HIP 7: the compiler learns it for each GPU, so it cannot be a size or an argument here.";
                found.breaks(scene.tokens[at].at, reason, "Size for 64 lanes, or give the wave size as a macro or a template parameter for each GPU.");
            }
        }
    }
}

/// Whether a name and a type stand before the bracket: `float x[`.
fn is_declared_array(before: &[crate::lex::Token<'_>]) -> bool {
    matches!(before, [.., first, name] if first.is_word() && name.is_word() && !first.is("return"))
}
