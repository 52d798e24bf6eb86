//! Choices by seed: numbers that depend only on the seed, the topic of the choice and a count.

use super::Adversary;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a choice is about. The same count gives unrelated numbers for different topics.
#[derive(Debug, Clone, Copy)]
pub(super) enum Topic {
    /// Which operation starts first.
    Order,
    /// Whether a stream is always late.
    Late,
    /// How many operations a submission starts.
    Eager,
    /// Whether a wait starves the operations that it does not need.
    Starve,
    /// Whether polling a stream's state starts an operation.
    Poll,
    /// The order of a launch's blocks.
    Blocks,
    /// The order of a block's threads.
    Threads,
    /// Whether pageable memory is read early, at the call.
    Stage,
    /// Whether freed memory is handed out at once.
    Reuse,
}

/// Counts the program's launches, copies and allocations, for choices that are made once for each of them.
#[derive(Debug, Default)]
pub(super) struct Counts {
    launches: AtomicU64,
    copies: AtomicU64,
    allocations: AtomicU64,
}

/// One step of splitmix64, by Sebastiano Vigna.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Adversary {
    /// A number for a topic and two counts.
    pub(super) fn roll(&self, topic: Topic, a: u64, b: u64) -> u64 {
        mix(mix(mix(mix(self.seed) ^ topic as u64) ^ a) ^ b)
    }

    /// True for one roll in `n`.
    pub(super) fn one_in(&self, n: u64, topic: Topic, a: u64, b: u64) -> bool {
        self.roll(topic, a, b).is_multiple_of(n)
    }

    /// The byte that memory without contents is filled with. Never zero: a program too often mistakes zeros
    /// for valid data.
    pub(crate) fn pattern(&self) -> u8 {
        [0xa5, 0xff, 0x5a, 0xcd][(self.seed % 4) as usize]
    }

    /// The order of the next launch's blocks, and of the threads in each block.
    pub(crate) fn launch_orders(&self, blocks: u64, threads: u64) -> (Order, Order) {
        let launch = self.counts.launches.fetch_add(1, Ordering::Relaxed);
        let order = |topic, count| Order::new(count, |n| self.roll(topic, launch, n));
        let orders = (order(Topic::Blocks, blocks), order(Topic::Threads, threads));
        self.note(format!("launch {launch}: blocks {}, threads {}", orders.0, orders.1));
        orders
    }

    /// Whether the next copy from pageable memory reads it before the stream's earlier operations have run.
    /// HIP also allows reading it afterwards.
    pub(crate) fn stages_early(&self) -> bool {
        let copy = self.counts.copies.fetch_add(1, Ordering::Relaxed);
        let early = self.one_in(2, Topic::Stage, copy, 0);
        self.note(format!(
            "copy {copy} from pageable memory: {}",
            if early { "read early" } else { "read late" }
        ));
        early
    }

    /// Whether the next allocation from a pool gets memory that its stream has freed.
    pub(super) fn reuses(&self) -> bool {
        let allocation = self.counts.allocations.fetch_add(1, Ordering::Relaxed);
        let reuse = !self.one_in(4, Topic::Reuse, allocation, 0);
        self.note(format!(
            "allocation {allocation} from a pool: {}",
            if reuse { "freed memory" } else { "new" }
        ));
        reuse
    }
}

/// A permutation of the numbers below a count (of blocks or threads): it starts at `first` and advances by
/// `step`, which is coprime to the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Order {
    count: u64,
    first: u64,
    step: u64,
}

impl Order {
    fn new(count: u64, roll: impl Fn(u64) -> u64) -> Self {
        let coprime = |step: &u64| gcd(*step, count) == 1;
        // One launch in four runs backwards. A step of 1 always fits.
        let step = match roll(0) % 4 {
            0 => count.saturating_sub(1).max(1),
            _ => (2..16).map(|n| roll(n) % count.max(1)).find(coprime).unwrap_or(1),
        };
        Self { count, first: roll(1) % count.max(1), step }
    }

    /// From the last number to the first.
    #[cfg(test)]
    pub(crate) fn backwards(count: u64) -> Self {
        Self { count, first: count - 1, step: count - 1 }
    }

    /// The number at this position of the order.
    pub(crate) fn number_at(&self, position: u64) -> u64 {
        let far = u128::from(position) * u128::from(self.step) + u128::from(self.first);
        (far % u128::from(self.count)) as u64
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "from {} in steps of {}", self.first, self.step)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_handed_out_once() {
        for count in (1..40).chain([97, 128, 1000]) {
            for seed in 0..50 {
                let order = Order::new(count, |n| mix(mix(seed) ^ n));
                let mut seen: Vec<u64> = (0..count).map(|position| order.number_at(position)).collect();
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..count), "{order:?}");
            }
        }
        // The largest grid does not overflow.
        let huge = Order { count: 1 << 62, first: 5, step: (1 << 62) - 1 };
        assert_eq!((huge.number_at(0), huge.number_at(1), huge.number_at(6)), (5, 4, (1 << 62) - 1));
    }

    #[test]
    fn choices_differ_by_seed_and_topic() {
        assert_ne!(mix(1), mix(2));
        // The published first outputs of splitmix64 for state 0.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }
}
