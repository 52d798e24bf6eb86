//! Steps of a warp without a barrier between them.

use super::{Found, Look, Rule};
use crate::scene::{Function, Scene};

pub(super) const RULE: Rule = Rule {
    name: "warp-synchronous",
    about: "the last steps of a reduction in shared memory without a barrier between them",
    check,
};

fn check(look: &Look<'_>, found: &mut Found) {
    for scene in &look.scenes {
        for function in scene.functions.iter().filter(|function| function.on_device) {
            let steps: Vec<Step> = function.body.clone().filter_map(|at| step(scene, at)).collect();
            let pair = steps.windows(2).find(|pair| {
                pair[1].distance <= 32
                    && pair[1].distance.checked_mul(2) == Some(pair[0].distance)
                    && !barrier(scene, pair)
            });
            if let Some([first, _]) = pair {
                report(scene, first.at, found);
            } else if let Some(at) = volatile_loop(scene, function) {
                report(scene, at, found);
            }
        }
    }
}

fn report(scene: &Scene<'_>, at: usize, found: &mut Found) {
    let reason = "These steps count on 32 lanes that run in step and see each other's writes, which neither CUDA since Volta nor HIP promises.";
    found.check(
        scene.tokens[at].at,
        reason,
        "Put `__syncwarp()` (HIP 7) or `__syncthreads()` between the steps, or use shuffles.",
    );
}

/// `x[i] += x[i + 8]`, or `x[i] = f(x[i], x[i + 8])`.
struct Step {
    at: usize,
    end: usize,
    distance: i64,
}

fn step(scene: &Scene<'_>, at: usize) -> Option<Step> {
    let starts = scene.is_word(at)
        && scene.is(at + 1, "[")
        && at > 0
        && [";", "{", "}", ")"].contains(&scene.text(at - 1));
    let close = starts.then(|| scene.close(at + 1)).flatten()?;
    let assigns = ["+=", "=", "*=", "|=", "&="].contains(&scene.text(close + 1));
    let end = assigns.then(|| (close..scene.tokens.len()).find(|end| scene.is(*end, ";"))).flatten()?;
    // The same array with the same index and a number added.
    let index = &scene.tokens[at + 2..close];
    let distance = (close + 2..end).find_map(|read| {
        let inner = read + 2;
        let same = scene.is(read, scene.text(at)) && scene.is(read + 1, "[");
        let plus =
            same && index.iter().enumerate().all(|(offset, token)| scene.is(inner + offset, token.text));
        let sum = inner + index.len();
        (plus && scene.is(sum, "+") && scene.is(sum + 2, "]"))
            .then(|| scene.tokens[sum + 1].integer())
            .flatten()
    })?;
    Some(Step { at, end, distance })
}

fn barrier(scene: &Scene<'_>, pair: &[Step]) -> bool {
    // A step within a lambda of the first one begins before that ends.
    let between = scene.tokens.get(pair[0].end..pair[1].at).unwrap_or_default();
    between.iter().any(|token| token.is_word() && token.text.contains("sync"))
}

/// `for (… s > 0; s >>= 1) x[i] += x[i + s];` on a volatile array, without a barrier in the loop.
fn volatile_loop(scene: &Scene<'_>, function: &Function) -> Option<usize> {
    let whole = function.parameters.start..function.body.end;
    function.body.clone().filter(|at| scene.is(*at, "for")).find(|at| {
        let Some(close) = scene.close(at + 1) else { return false };
        let start = if scene.is(close + 1, "{") { close + 2 } else { close + 1 };
        let end = if scene.is(close + 1, "{") {
            scene.close(close + 1)
        } else {
            (close..function.body.end).find(|at| scene.is(*at, ";"))
        };
        let body = start..end.unwrap_or(function.body.end);
        let synchronises = body.clone().any(|at| scene.is_word(at) && scene.text(at).contains("sync"));
        let head = &scene.tokens[at + 1..close];
        let halves = head.iter().any(|token| token.is(">>=") || token.is("/="));
        let name = scene.text(body.start);
        let accumulates = scene.is(body.start + 1, "[")
            && scene.close(body.start + 1).is_some_and(|close| ["+=", "="].contains(&scene.text(close + 1)))
            && body.clone().skip(1).any(|at| scene.is(at, name));
        let volatile =
            whole.clone().any(|at| scene.is(at, "volatile") && (at..at + 5).any(|at| scene.is(at, name)));
        halves && accumulates && volatile && !synchronises
    })
}
