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

/// Asserts that a sequence skips words as if it had counted them.
#[cfg(test)]
fn assert_skips<E>(seeded: impl Fn() -> E, skip: impl Fn(&mut E, u64), next: impl Fn(&mut E) -> u32) {
    for words in [0, 1, 5, 1000] {
        let (mut skipped, mut counted) = (seeded(), seeded());
        skip(&mut skipped, words);
        for _ in 0..words {
            next(&mut counted);
        }
        assert_eq!(next(&mut skipped), next(&mut counted), "{words}");
    }
}
