//! Distributions: how the words of a generator become outputs.

mod formulas;
mod mrg;
mod narrow;
mod poisson;
mod quasi;
mod wide;

pub(crate) use mrg::fill_mrg;
pub(crate) use narrow::{fill_narrow, fill_single};
pub(crate) use poisson::Poisson;
pub(crate) use quasi::fill_quasi;
pub(crate) use wide::fill_wide;

use crate::engine::Groups;
use std::sync::Arc;

/// The outputs of a call, and the distribution that they have.
pub(crate) enum Output<'a> {
    Bits8(&'a mut [u8]),
    Bits16(&'a mut [u16]),
    Bits32(&'a mut [u32]),
    Bits64(&'a mut [u64]),
    /// The bits of f16.
    Half(&'a mut [u16]),
    Single(&'a mut [f32], Law<f32>),
    Double(&'a mut [f64], Law<f64>),
    Poisson(&'a mut [u32], Arc<Poisson>),
}

/// A distribution of floating-point numbers.
#[derive(Clone, Copy)]
pub(crate) enum Law<T> {
    Uniform,
    Normal(Normal<T>),
}

/// A normal distribution, or that of its exponential.
#[derive(Clone, Copy)]
pub(crate) struct Normal<T> {
    pub(crate) mean: T,
    pub(crate) deviation: T,
    pub(crate) exponential: bool,
}

impl Normal<f32> {
    fn of(self, standard: f32) -> f32 {
        let value = self.mean + standard * self.deviation;
        if self.exponential { value.exp() } else { value }
    }
}

impl Normal<f64> {
    fn of(self, standard: f64) -> f64 {
        let value = self.mean + standard * self.deviation;
        if self.exponential { value.exp() } else { value }
    }
}

/// Fills the outputs, `O` from each group of `I` words. Surplus outputs of the last group are dropped.
fn apply<W, T: Copy, const I: usize, const O: usize>(
    groups: &mut impl Groups<W>,
    outputs: &mut [T],
    law: impl Fn([W; I]) -> [T; O],
) {
    for part in outputs.chunks_mut(O) {
        part.copy_from_slice(&law(groups.group())[..part.len()]);
    }
}
