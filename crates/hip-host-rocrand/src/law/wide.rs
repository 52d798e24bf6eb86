//! Distributions from words of 64 bits.

use super::formulas::{self, Word};
use super::{Law, Output, apply};
use crate::engine::Groups;

/// Fills the outputs.
pub(crate) fn fill_wide(groups: &mut impl Groups<u64>, output: Output<'_>) {
    match output {
        Output::Bits8(out) => apply(groups, out, |[word]: [u64; 1]| word.to_le_bytes()),
        Output::Bits16(out) => apply(groups, out, |[word]: [u64; 1]| quarters(word)),
        Output::Bits32(out) => apply(groups, out, |[word]: [u64; 1]| halves(word)),
        Output::Bits64(out) => apply(groups, out, |word: [u64; 1]| word),
        Output::Half(out) => apply(groups, out, |[word]: [u64; 1]| quarters(word).map(formulas::half_of)),
        Output::Single(out, Law::Uniform) => apply(groups, out, |[word]: [u64; 1]| [word.uniform32()]),
        Output::Single(out, Law::Normal(normal)) => {
            apply(groups, out, |[word]: [u64; 1]| formulas::box_muller32(halves(word)).map(|x| normal.of(x)))
        }
        Output::Double(out, Law::Uniform) => apply(groups, out, |[word]: [u64; 1]| [word.uniform64()]),
        Output::Double(out, Law::Normal(normal)) => apply(groups, out, |[first, second]: [u64; 2]| {
            let ([a, b], [c, d]) = (halves(first), halves(second));
            formulas::box_muller64([a, b, c, d]).map(|x| normal.of(x))
        }),
        Output::Poisson(out, law) => apply(groups, out, |[word]: [u64; 1]| [law.of(word)]),
    }
}

fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

fn quarters(word: u64) -> [u16; 4] {
    std::array::from_fn(|part| (word >> (16 * part)) as u16)
}
