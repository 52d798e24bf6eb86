//! Waves of 32 lanes taken for granted.

use super::{Found, Look, Rule};
use crate::lex::Token;
use crate::scene::{Function, Scene};
use std::collections::HashSet;
use std::ops::Range;

pub(super) const RULE: Rule = Rule {
    name: "warp-size",
    about: "warps of 32 lanes taken for granted: constants, thread indices, reductions",
    check,
};

const REMEDY: &str = "Take the wave size from `warpSize` at run time or from the build for each GPU, or keep groups of 32 and give every shuffle the width 32.";

fn check(look: &Look<'_>, found: &mut Found) {
    for define in look.file.shared_defines() {
        if define.parameters.is_none() && is_warp_size(define.name) && is_32(&define.body) {
            constant(define.at, found);
        }
    }
    for scene in &look.scenes {
        for at in scene.words() {
            let value = at + 2..(at + 3).min(scene.tokens.len());
            let ends = [";", ",", ">", ")", "}"].contains(&scene.text(at + 3));
            if is_warp_size(scene.text(at)) && scene.is(at + 1, "=") && ends && is_32(&scene.tokens[value]) {
                constant(scene.tokens[at].at, found);
            }
        }
        for function in scene.functions.iter().filter(|function| function.on_device) {
            indices(scene, function, found);
            reductions(scene, function, found);
        }
    }
}

fn constant(at: usize, found: &mut Found) {
    found.check(
        at,
        "Warps get 32 lanes here, but waves have 64 lanes on CDNA GPUs (gfx9) and 32 on RDNA GPUs.",
        REMEDY,
    );
}

/// Whether a name is that of a warp's size, as `WARP_SIZE`, `kWarpSize` or `THREADS_PER_WARP`.
fn is_warp_size(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "");
    let ends = [
        "warpsize",
        "warpsz",
        "warpwidth",
        "threadsperwarp",
        "warpthreads",
        "lanesperwarp",
        "wavesize",
        "numlanes",
    ];
    name == "warp" || ends.iter().any(|end| name.ends_with(end))
}

fn is_32(tokens: &[Token<'_>]) -> bool {
    match tokens {
        [open, middle @ .., close] if open.is("(") && close.is(")") => is_32(middle),
        [number] => number.integer() == Some(32),
        _ => false,
    }
}

/// `threadIdx.x % 32` and the like, in functions that use warps.
fn indices(scene: &Scene<'_>, function: &Function, found: &mut Found) {
    let uses_warps = scene.tokens[function.body.clone()].iter().any(is_about_warps);
    let threads = thread_names(scene, function);
    for at in function.body.clone() {
        let number = scene.tokens.get(at + 1).and_then(Token::integer);
        let by_32 = match scene.text(at) {
            "%" | "/" => number == Some(32),
            ">>" => number == Some(5),
            "&" => number == Some(31),
            _ => false,
        };
        // Blocks of 32 numbers are common, so that a variable alone says too little; `threadIdx.x % 32` says enough.
        let direct = by_32 && scene.text(at - 2) == "." && scene.text(at - 3) == "threadIdx";
        if by_32
            && is_thread(scene, function, at, &threads)
            && (direct || uses_warps || names_a_lane(scene, at))
        {
            let text = format!(
                "`{} {}` splits threads into warps of 32, but a wave has 64 lanes on CDNA GPUs.",
                scene.text(at),
                scene.text(at + 1)
            );
            found.check(scene.tokens[at].at, text, REMEDY);
        }
    }
}

/// Whether a token is an operation of a warp, or somebody's name for one.
fn is_about_warps(token: &Token<'_>) -> bool {
    let starts = [
        "__shfl",
        "__ballot",
        "__any_sync",
        "__all_sync",
        "__syncwarp",
        "__activemask",
        "__match_",
        "__reduce_",
    ];
    token.is_word()
        && (starts.iter().any(|start| token.text.starts_with(start))
            || token.text.to_ascii_lowercase().contains("warp"))
}

/// Whether the variable that the statement declares is called after lanes or warps.
fn names_a_lane(scene: &Scene<'_>, at: usize) -> bool {
    let start = (0..at)
        .rev()
        .find(|start| [";", "{", "}", ","].contains(&scene.text(*start)))
        .map_or(0, |start| start + 1);
    let name =
        (start..at).find(|at| scene.is(at + 1, "=")).map_or("", |at| scene.text(at)).to_ascii_lowercase();
    name.contains("lane") || name.contains("warp") || ["wid", "wave"].contains(&name.as_str())
}

/// Whether what stands left of an operator is the index or the number of a block's threads.
fn is_thread(scene: &Scene<'_>, function: &Function, operator: usize, threads: &HashSet<&str>) -> bool {
    let before = operator - 1;
    match scene.text(before) {
        "x" | "y" | "z" if scene.is(before - 1, ".") => {
            ["threadIdx", "blockDim"].contains(&scene.text(before - 2))
        }
        ")" => {
            let open = (function.body.start..before)
                .rev()
                .find(|at| scene.close(*at) == Some(before) && scene.is(*at, "("));
            open.is_some_and(|open| is_of_threads(scene, open + 1..before, threads))
        }
        name => threads.contains(name) && !scene.is(before - 1, ".") && !scene.is(before - 1, "->"),
    }
}

/// Whether an expression is made of a block's thread indices and sizes alone.
fn is_of_threads(scene: &Scene<'_>, range: Range<usize>, threads: &HashSet<&str>) -> bool {
    let words: Vec<&str> =
        scene.tokens[range].iter().filter(|token| token.is_word()).map(|token| token.text).collect();
    let known =
        |word: &&str| ["threadIdx", "blockDim", "x", "y", "z"].contains(word) || threads.contains(*word);
    let about = |word: &&str| ["threadIdx", "blockDim"].contains(word) || threads.contains(*word);
    words.iter().any(about) && words.iter().all(known)
}

/// The variables that are set to a thread's index in its block, or to the number of threads.
fn thread_names<'a>(scene: &Scene<'a>, function: &Function) -> HashSet<&'a str> {
    let mut names = HashSet::new();
    for at in function.body.clone().filter(|at| scene.is(*at, "=") && scene.is_word(at - 1) && *at >= 2) {
        let declared = scene.is_word(at - 2);
        let end = (at..function.body.end)
            .find(|end| [";", ","].contains(&scene.text(*end)))
            .unwrap_or(function.body.end);
        let split = (at..end).any(|at| ["%", "/", ">>", "&", "?", "["].contains(&scene.text(at)));
        if declared && !split && is_of_threads(scene, at + 1..end, &names) {
            names.insert(scene.text(at - 1));
        }
    }
    names
}

/// Loops over the steps 16, 8, 4, 2, 1 around a shuffle.
fn reductions(scene: &Scene<'_>, function: &Function, found: &mut Found) {
    for at in function.body.clone().filter(|at| scene.is(*at, "for") && scene.is(at + 1, "(")) {
        let Some(close) = scene.close(at + 1) else { continue };
        let head = &scene.tokens[at + 2..close];
        let end = if scene.is(close + 1, "{") {
            scene.close(close + 1)
        } else {
            (close..function.body.end).find(|at| scene.is(*at, ";"))
        };
        // With a width the groups have that many lanes on all GPUs.
        let shuffles = (close..end.unwrap_or(function.body.end)).any(|at| {
            let name = scene.text(at);
            let without_width = if name.ends_with("_sync") { 3 } else { 2 };
            name.starts_with("__shfl")
                && scene.call(at).is_some_and(|call| call.arguments.len() <= without_width)
        });
        let integer = |sign: &str, value| {
            head.windows(2).any(|pair| pair[0].is(sign) && pair[1].integer() == Some(value))
        };
        let half = head.windows(4).any(|four| {
            four[0].is("=") && four[1].integer() == Some(32) && ["/", ">>"].contains(&four[2].text)
        });
        let down = (integer("=", 16) || half)
            && (integer(">>=", 1) || integer("/=", 2) || head.iter().any(|token| token.is(">>")));
        let up = integer("<", 32) && (integer("<<=", 1) || integer("*=", 2));
        if shuffles && (down || up) {
            let reason = "The loop combines 32 lanes, which are half of a wave on CDNA GPUs.";
            found.check(scene.tokens[at].at, reason, "Start from `warpSize / 2`, or combine the halves afterwards if the code counts on whole waves.");
        }
    }
}
