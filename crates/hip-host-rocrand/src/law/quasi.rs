//! Distributions from coordinates of points: one output of each, so that outputs are as evenly spread as the points.

use super::formulas::{self, From32, From64, Word};
use super::{Law, Output};

/// A coordinate. Outputs of 64 bits take all of its bits.
pub(crate) trait Whole: Word {
    fn whole(self) -> u64;
}

impl Whole for u32 {
    fn whole(self) -> u64 {
        self.into()
    }
}

impl Whole for u64 {
    fn whole(self) -> u64 {
        self
    }
}

/// Fills the outputs of one dimension. Numbers of 64 bits from coordinates of 32 are refused before.
pub(crate) fn fill_quasi<W: Whole>(points: impl Iterator<Item = W>, output: Output<'_>) {
    match output {
        Output::Bits8(out) => fill(points, out, top),
        Output::Bits16(out) => fill(points, out, top),
        Output::Bits32(out) => fill(points, out, top),
        Output::Bits64(out) => fill(points, out, Whole::whole),
        Output::Half(out) => fill(points, out, Word::uniform16),
        Output::Single(out, Law::Uniform) => fill(points, out, Word::uniform32),
        Output::Single(out, Law::Normal(normal)) => fill(points, out, |x| normal.of(formulas::inverse32(x))),
        Output::Double(out, Law::Uniform) => fill(points, out, Word::uniform64),
        Output::Double(out, Law::Normal(normal)) => fill(points, out, |x| normal.of(formulas::inverse64(x))),
        Output::Poisson(out, law) => fill(points, out, |x| law.of_point(x)),
    }
}

fn top<W: Word, T: From32 + From64>(word: W) -> T {
    word.top()
}

fn fill<W, T>(points: impl Iterator<Item = W>, outputs: &mut [T], law: impl Fn(W) -> T) {
    for (output, point) in outputs.iter_mut().zip(points) {
        *output = law(point);
    }
}
