//! Launch bounds whose arguments mean something else.

use super::{Found, Look, Rule};
use crate::lex::Token;

pub(super) const RULE: Rule = Rule {
    name: "launch-bounds",
    about: "`__launch_bounds__` with a second argument, a third one, or more than 1024 threads",
    check,
};

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for name in scene.words().filter(|at| scene.text(*at) == "__launch_bounds__" && scene.is(at + 1, "("))
        {
            let Some(close) = scene.close(name + 1) else { continue };
            let arguments = scene.arguments(name + 2..close);
            let value = |index: usize| match arguments.get(index).map(|range| &scene.tokens[range.clone()]) {
                Some([one]) => one.integer().or_else(|| look.macros.integer(one.text)),
                _ => None,
            };
            let at = scene.tokens[name].at;
            if arguments.len() > 2 {
                let reason = "HIP's `__launch_bounds__` has two arguments, and a third one, the blocks of a cluster, does not compile.";
                found.breaks(
                    at,
                    reason,
                    "Leave the third argument out for AMD's GPUs, which have no clusters.",
                );
            } else if value(0) > Some(1024) {
                found.check(
                    at,
                    "A block has at most 1024 threads on AMD's GPUs.",
                    "Launch 1024 threads or fewer, and state that number.",
                );
            } else if arguments.len() == 2 && value(1) != Some(1) && value(1) != Some(0) {
                let text: Vec<&str> =
                    scene.tokens[arguments[1].clone()].iter().map(|token: &Token<'_>| token.text).collect();
                let reason = format!(
                    "HIP reads `{}` as the least number of waves on each SIMD, where CUDA reads it as the least number of blocks on a multiprocessor.",
                    text.concat()
                );
                let remedy = "Convert it: blocks × threads ÷ wave size ÷ SIMDs of a compute unit (4 on CDNA), or leave it out.";
                found.check(at, reason, remedy);
            }
        }
    }
}
