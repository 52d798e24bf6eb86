//! Generators as sequences of words, without distributions.

mod counter;
mod mrg32k3a;
mod philox;
mod ring;
mod sobol;
mod threefry;
mod xorwow;

pub(crate) use counter::Counter;
pub(crate) use mrg32k3a::Mrg32k3a;
pub(crate) use philox::Philox;
pub(crate) use ring::Ring;
pub(crate) use sobol::{MOST_DIMENSIONS, Sobol};
pub(crate) use threefry::{Threefry2, Threefry4};
pub(crate) use xorwow::Xorwow;

/// A sequence of words that is used in groups: the words of one application of a distribution.
pub(crate) trait Groups<W> {
    /// The words of the next group.
    fn group<const N: usize>(&mut self) -> [W; N];
}
