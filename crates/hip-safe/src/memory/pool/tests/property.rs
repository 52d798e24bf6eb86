//! Random programs against a model that knows of each 512 bytes which work uses them.

use super::super::block::State;
use super::super::config::GRANULE;
use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

/// Streams at a time.
const STREAMS: usize = 3;

#[derive(Debug, Clone)]
enum Step {
    /// Bytes, and the number of a stream.
    Allocate(usize, usize),
    /// Which live block, the stream it is bound to then, and a bit for each stream that uses it.
    Free(usize, usize, u8),
    /// A stream does so much more of its work.
    Complete(usize, u64),
    Trim(usize),
    Reserve(usize),
    /// A stream ends, and a new one takes its place.
    Forget(usize),
    /// The source has so many bytes.
    Limit(usize),
    /// The source answers each call with an error, or does not any more.
    Break(bool),
    Reap,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let bytes = || prop_oneof![4 => 1..9 * GRANULE, 2 => 1..40 * GRANULE, 1 => Just(GRANULE)];
    let step = prop_oneof![
        12 => (bytes(), 0..STREAMS).prop_map(|(bytes, stream)| Step::Allocate(bytes, stream)),
        12 => (any::<usize>(), 0..STREAMS, 0..1_u8 << STREAMS).prop_map(|(b, s, u)| Step::Free(b, s, u)),
        4 => (0..STREAMS, 1..8_u64).prop_map(|(stream, by)| Step::Complete(stream, by)),
        1 => (0..100 * GRANULE).prop_map(Step::Trim),
        1 => (1..60 * GRANULE).prop_map(Step::Reserve),
        1 => (0..STREAMS).prop_map(Step::Forget),
        1 => (0..300 * GRANULE).prop_map(Step::Limit),
        1 => prop_oneof![1 => Just(true), 3 => Just(false)].prop_map(Step::Break),
        1 => Just(Step::Reap),
    ];
    proptest::collection::vec(step, 1..200)
}

/// Segments so small that all kinds of requests meet in a few of them.
fn config(direct: bool) -> PoolConfig {
    PoolConfig {
        small_limit: 8 * GRANULE,
        small_segment: 16 * GRANULE,
        large_limit: 20 * GRANULE,
        large_segment: 40 * GRANULE,
        segment_granule: 8 * GRANULE,
        patience: 16,
        idle: 60 * GRANULE,
        direct,
    }
}

struct Live {
    block: Block<Points>,
    requested: usize,
}

struct Model {
    pool: Pool<Points>,
    memory: Memory,
    streams: [Arc<Stream>; STREAMS],
    next_stream: u64,
    live: Vec<Live>,
    /// All work that ever used each granule. The pool has no part in this.
    uses: HashMap<usize, Points>,
    /// Bytes that the source could not take back.
    lost: usize,
    failed: u64,
}

impl Model {
    fn new(direct: bool) -> Self {
        Self {
            pool: Pool::new(config(direct)),
            memory: Memory::of(300 * GRANULE),
            streams: std::array::from_fn(|i| Stream::new(i as u64)),
            next_stream: STREAMS as u64,
            live: Vec::new(),
            uses: HashMap::new(),
            lost: 0,
            failed: 0,
        }
    }

    fn granules(address: usize, bytes: usize) -> impl Iterator<Item = usize> {
        (address..address + bytes).step_by(GRANULE)
    }

    /// Every piece of work on the range is complete or in the order.
    fn check_covers(&self, address: usize, bytes: usize, order: &Points) {
        for granule in Self::granules(address, bytes) {
            for point in self.uses.get(&granule).iter().flat_map(|points| &points.0) {
                assert!(
                    order.covers(point),
                    "{granule:#x} is used by {point:?}, and {order:?} has to say so"
                );
            }
        }
    }

    fn step(&mut self, step: Step) {
        let before = self.pool.statistics();
        match step {
            Step::Allocate(bytes, stream) => self.allocate(bytes, stream),
            Step::Free(which, stream, users) if !self.live.is_empty() => self.free(which, stream, users),
            Step::Free(..) => {}
            Step::Complete(stream, by) => {
                let stream = &self.streams[stream];
                stream.complete(stream.completed.load(Relaxed) + by);
            }
            Step::Trim(keep) => match self.pool.trim(&mut self.memory, keep) {
                Ok(bytes) => {
                    let after = self.pool.statistics();
                    assert_eq!(before.reserved - bytes, after.reserved);
                    assert!(bytes == 0 || after.reserved >= keep);
                }
                Err(Broken) => assert!(self.memory.broken),
            },
            Step::Reserve(bytes) => match self.pool.reserve(&mut self.memory, bytes) {
                Ok(()) if self.pool.config.direct => {}
                Ok(()) => {
                    // A new stream has it at once.
                    let calls = self.memory.calls.len();
                    let block = self.pool.allocate(&mut self.memory, bytes, u64::MAX).unwrap();
                    assert_eq!((calls, block.order.0.len()), (self.memory.calls.len(), 0));
                    assert!(self.pool.free(block.id, u64::MAX, Points::default()).is_none());
                    self.pool.forget_stream(u64::MAX);
                }
                Err(PoolError::Source(Broken)) => assert!(self.memory.broken),
                Err(PoolError::OutOfMemory { .. }) => assert!(self.memory.limit < 600 * GRANULE),
            },
            Step::Forget(stream) => {
                self.streams[stream].finish();
                let new = Stream::new(self.next_stream);
                self.next_stream += 1;
                let old = std::mem::replace(&mut self.streams[stream], new);
                self.pool.forget_stream(old.number);
            }
            Step::Limit(bytes) => self.memory.limit = bytes,
            Step::Break(broken) => self.memory.broken = broken,
            Step::Reap => self.pool.reap(),
        }
        self.check();
    }

    fn allocate(&mut self, bytes: usize, stream: usize) {
        let before = self.pool.statistics();
        let uses: Vec<_> = self.free_ranges();
        let stream = self.streams[stream].number;
        let block = match self.pool.allocate(&mut self.memory, bytes, stream) {
            Ok(block) => block,
            Err(PoolError::Source(Broken)) => return assert!(self.memory.broken),
            Err(PoolError::OutOfMemory { requested, statistics, largest_free }) => {
                self.failed += 1;
                assert_eq!((requested, *statistics), (bytes, self.pool.statistics()));
                assert_eq!(largest_free, self.free_ranges().into_iter().max().unwrap_or(0));
                return;
            }
        };
        assert!(block.bytes >= bytes && block.address.is_multiple_of(GRANULE));
        let after = self.pool.statistics();
        if after.misses == before.misses && after.steals == before.steals {
            // A hit is no block that was not free.
            assert!(!uses.is_empty() && !self.pool.config.direct);
        }
        let end = block.address + block.bytes;
        let (start, segment) = self.memory.ranges.range(..=block.address).next_back().expect("in a segment");
        assert!(end <= start + segment, "in one segment");
        for other in self.live.iter().map(|live| &live.block) {
            assert!(end <= other.address || other.address + other.bytes <= block.address, "they overlap");
        }
        self.check_covers(block.address, block.bytes, &block.order);
        self.live.push(Live { block, requested: bytes });
    }

    fn free_ranges(&self) -> Vec<usize> {
        let all = (0..self.pool.blocks.slots()).map(|index| &self.pool.blocks[index]);
        all.filter(|node| node.is_free() || node.state == State::Held).map(|node| node.bytes).collect()
    }

    fn free(&mut self, which: usize, stream: usize, users: u8) {
        let Live { block, requested } = self.live.swap_remove(which % self.live.len());
        let mut order = block.order;
        for (number, user) in self.streams.iter().enumerate() {
            if users & 1 << number != 0 {
                order.merge(user.submit());
            }
        }
        for granule in Self::granules(block.address, block.bytes) {
            self.uses.entry(granule).or_default().merge(order.clone());
        }
        let before = self.pool.statistics();
        let departed = self.pool.free(block.id, self.streams[stream].number, order);
        let after = self.pool.statistics();
        assert_eq!(before.allocated - after.allocated, requested);
        assert_eq!(before.active - after.active, block.bytes);
        assert_eq!(departed.is_some(), self.pool.config.direct);
        if let Some(departed) = departed {
            assert_eq!((departed.address, departed.bytes), (block.address, block.bytes));
            assert_eq!(after.leaving, block.bytes);
            let released = give_back(&mut &mut self.pool, &mut self.memory, departed);
            assert!(released.is_ok() || self.memory.broken);
        }
    }

    fn check(&mut self) {
        self.pool.check();
        for (address, bytes, order) in std::mem::take(&mut self.memory.released) {
            // What it waited for is complete by now, if it did not fail: look at what it was told.
            let was_reported = |point: &Point| {
                order.0.iter().any(|own| own.stream.number == point.stream.number && own.at >= point.at)
            };
            let kept = self.memory.ranges.contains_key(&address);
            for granule in Self::granules(address, bytes) {
                for point in self.uses.get(&granule).iter().flat_map(|points| &points.0) {
                    assert!(
                        point.is_complete() || was_reported(point),
                        "released while {point:?} uses {granule:#x}"
                    );
                }
            }
            if kept {
                self.lost += bytes;
            }
        }
        let seen = self.pool.statistics();
        assert_eq!((seen.lost, seen.leaving), (self.lost, 0));
        assert_eq!(self.memory.in_use(), seen.reserved + seen.lost);
        assert_eq!(seen.allocations - seen.frees, self.live.len() as u64);
        assert_eq!(seen.allocated, self.live.iter().map(|live| live.requested).sum::<usize>());
        assert_eq!(seen.active, self.live.iter().map(|live| live.block.bytes).sum::<usize>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_program_keeps_the_model(steps in steps(), direct in prop::bool::weighted(0.1)) {
        let mut model = Model::new(direct);
        for step in steps {
            model.step(step);
        }
        // At the end everything can be given back.
        model.memory.broken = false;
        while !model.live.is_empty() {
            model.free(0, 0, 0);
        }
        model.pool.trim(&mut model.memory, 0).unwrap();
        model.check();
        let seen = model.pool.statistics();
        prop_assert_eq!((seen.reserved, seen.allocated, seen.segments), (0, 0, 0));
        prop_assert_eq!(model.memory.in_use(), seen.lost);
    }
}
