//! Distributions from words of 32 bits, each of which is any number.

use super::formulas::{self, Word};
use super::{Law, Output, apply};
use crate::engine::Groups;

/// Fills the outputs. Numbers of 64 bits are refused before.
pub(crate) fn fill_narrow(groups: &mut impl Groups<u32>, output: Output<'_>) {
    match output {
        Output::Bits8(out) => apply(groups, out, |[word]: [u32; 1]| word.to_le_bytes()),
        Output::Bits16(out) => apply(groups, out, |[word]: [u32; 1]| halves(word)),
        Output::Bits32(out) => apply(groups, out, |word: [u32; 1]| word),
        Output::Bits64(_) => {}
        Output::Half(out) => apply(groups, out, |[word]: [u32; 1]| halves(word).map(formulas::half_of)),
        Output::Single(out, Law::Uniform) => apply(groups, out, |[word]: [u32; 1]| [word.uniform32()]),
        Output::Single(out, Law::Normal(normal)) => {
            apply(groups, out, |words| formulas::box_muller32(words).map(|x| normal.of(x)));
        }
        Output::Double(out, Law::Uniform) => apply(groups, out, |words| [formulas::uniform64_of(words)]),
        Output::Double(out, Law::Normal(normal)) => {
            apply(groups, out, |words| formulas::box_muller64(words).map(|x| normal.of(x)));
        }
        Output::Poisson(out, law) => apply(groups, out, |[word]: [u32; 1]| [law.of(word)]),
    }
}

/// As [`fill_narrow`], for blocks of two words: normal numbers of f64 take one word, since four are too many.
pub(crate) fn fill_single(groups: &mut impl Groups<u32>, output: Output<'_>) {
    match output {
        Output::Double(out, Law::Normal(normal)) => {
            apply(groups, out, |[word]: [u32; 1]| [normal.of(formulas::inverse64(word))]);
        }
        other => fill_narrow(groups, other),
    }
}

/// The low and the high half of a word.
pub(super) fn halves(word: u32) -> [u16; 2] {
    [word as u16, (word >> 16) as u16]
}
