//! Distributions from the words of MRG32k3a, which are numbers from 1 to 2^32 - 209.

use super::formulas;
use super::narrow::halves;
use super::{Law, Output, apply};
use crate::engine::Groups;

/// The largest word.
const LARGEST: f64 = 4_294_967_087.0;
/// rocRAND's factor from words to numbers of 32 bits.
const STRETCH: f64 = 1.000_000_048_661_607;
/// rocRAND's 2 pi.
const TURN: f32 = std::f32::consts::TAU;

/// Fills the outputs. Numbers of 64 bits are refused before.
pub(crate) fn fill_mrg(groups: &mut impl Groups<u32>, output: Output<'_>) {
    match output {
        Output::Bits8(out) => apply(groups, out, |[word]: [u32; 1]| stretched(word).to_le_bytes()),
        Output::Bits16(out) => apply(groups, out, |[word]: [u32; 1]| halves(stretched(word))),
        Output::Bits32(out) => apply(groups, out, |[word]: [u32; 1]| [stretched(word)]),
        Output::Bits64(_) => {}
        Output::Half(out) => {
            apply(groups, out, |[word]: [u32; 1]| halves(stretched(word)).map(formulas::half_of));
        }
        Output::Single(out, Law::Uniform) => apply(groups, out, |[word]: [u32; 1]| [single(word)]),
        Output::Single(out, Law::Normal(normal)) => apply(groups, out, |[radius, angle]: [u32; 2]| {
            formulas::polar32(single(radius), single(angle) * TURN).map(|x| normal.of(x))
        }),
        Output::Double(out, Law::Uniform) => apply(groups, out, |[word]: [u32; 1]| [double(word)]),
        // rocRAND rounds these to f32 first.
        Output::Double(out, Law::Normal(normal)) => apply(groups, out, |[radius, angle]: [u32; 2]| {
            let [radius, angle] = [radius, angle].map(|word| f64::from(single(word)));
            formulas::polar64(radius, 2.0 * angle).map(|x| normal.of(x))
        }),
        Output::Poisson(out, law) => apply(groups, out, |[word]: [u32; 1]| [law.of(stretched(word))]),
    }
}

/// A number of 32 bits.
fn stretched(word: u32) -> u32 {
    (f64::from(word.wrapping_sub(1)) * STRETCH) as u32
}

/// In (0, 1].
fn double(word: u32) -> f64 {
    f64::from(word) * NORM
}

/// In (0, 1].
fn single(word: u32) -> f32 {
    double(word) as f32
}

/// rocRAND's reciprocal of [`LARGEST`].
const NORM: f64 = 2.328_306_549_837_829e-10;
const _: () = assert!(NORM * LARGEST > 0.999_999_999_999_999 && NORM * LARGEST < 1.000_000_000_000_001);
