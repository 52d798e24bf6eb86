//! Programs that do the same again and again have no need of the driver after a while.

use super::*;

/// Numbers that look random, from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// Sizes from 512 B to 8 MiB, close together where they are small.
fn sizes() -> [usize; 64] {
    std::array::from_fn(|i| (512.0 * 2_f64.powf(14.0 * i as f64 / 63.0)) as usize)
}

/// What a run after its warm-up was like.
struct Run {
    hits: f64,
    calls: Vec<Call>,
    seen: crate::memory::pool::PoolStatistics,
}

/// A program of 100 steps of 1000 blocks, all steps alike, with blocks of mixed sizes and lifetimes that outlive their step. Half of the
/// blocks are made on the first stream and handed over to the second, which frees them; the others stay with their stream. The streams are
/// `lag` pieces of work behind the host. With one stream, both are that one.
fn run(streams: usize, lag: u64) -> Run {
    let (mut pool, mut memory) = (Pool::new(PoolConfig::default()), Memory::of(1 << 40));
    let streams: Vec<_> = (0..streams).map(|number| Stream::new(number as u64)).collect();
    let sizes = sizes();
    let mut live: Vec<(usize, Block<Points>, &Arc<Stream>)> = Vec::new();
    let mut warm = pool.statistics();
    for step in 0..100 {
        if step == 20 {
            warm = pool.statistics();
            memory.calls();
        }
        let mut random = Random(0x5eed);
        for round in step * 1000..(step + 1) * 1000 {
            let (one, two) = (&streams[0], &streams[streams.len() - 1]);
            let (maker, user) = [(one, two), (one, one), (one, two), (two, two)][round % 4];
            let mut block = pool.allocate(&mut memory, sizes[random.below(64)], maker.number).unwrap();
            block.order.merge(maker.submit());
            block.order.merge(user.submit());
            live.push((round + 1 + random.below(64), block, user));
            while let Some(due) = live.iter().position(|(until, ..)| *until <= round) {
                let (_, block, user) = live.swap_remove(due);
                assert!(pool.free(block.id, user.number, block.order).is_none());
            }
            for stream in &streams {
                stream.complete(stream.submitted.load(Relaxed).saturating_sub(lag));
            }
        }
        pool.check();
    }
    let seen = pool.statistics();
    let hits = (seen.hits - warm.hits) as f64 / (seen.allocations - warm.allocations) as f64;
    Run { hits, calls: memory.calls(), seen }
}

#[test]
fn mixed_sizes_never_ask_the_driver() {
    for (streams, lag) in [(1, 0), (1, 100), (1, u64::MAX), (2, 0), (2, 4)] {
        let Run { hits, calls, seen } = run(streams, lag);
        assert_eq!((hits, calls), (1.0, vec![]), "{streams}, {lag} behind: {seen:?}");
        assert_eq!(seen.steals, 0, "{streams}, {lag} behind: {seen:?}");
        assert!(seen.reserved < 2 * seen.peak_active, "{streams}, {lag} behind: {seen:?}");
    }
}

/// What two streams use is known to be complete late or never. Then the pool lives on waits on the device, and grows a
/// little for a long time.
#[test]
fn mixed_sizes_while_the_device_is_far_behind() {
    for lag in [100, u64::MAX] {
        let Run { hits, calls, seen } = run(2, lag);
        assert!(hits > 0.999 && calls.len() < 20, "{lag} behind, {hits}, {calls:?}: {seen:?}");
        assert!(seen.steals > 0 && seen.reserved < 3 * seen.peak_active, "{lag} behind: {seen:?}");
    }
}

#[test]
fn memory_that_one_stream_allocates_and_another_frees() {
    for lag in [0, 10, u64::MAX] {
        let (mut pool, mut memory) = (Pool::new(PoolConfig::default()), Memory::of(1 << 40));
        let (maker, user) = (Stream::new(1), Stream::new(2));
        for round in 0..10_000 {
            if round == 500 {
                memory.calls();
            }
            for bytes in [3 * KIB, 700 * KIB, 30 * MIB] {
                let block = pool.allocate(&mut memory, bytes, 1).unwrap();
                let order = block.order.and(maker.submit()).and(user.submit());
                assert!(pool.free(block.id, 2, order).is_none());
            }
            for stream in [&maker, &user] {
                stream.complete(stream.submitted.load(Relaxed).saturating_sub(lag));
            }
        }
        pool.check();
        let seen = pool.statistics();
        assert_eq!(memory.calls(), [], "{lag} behind: {seen:?}");
        assert!(seen.misses < 100 && seen.hits > 29_900, "{lag} behind: {seen:?}");
        assert_eq!(seen.steals > 0, lag == u64::MAX, "{lag} behind: {seen:?}");
    }
}

#[test]
fn many_streams_cost_no_more() {
    let (mut pool, mut memory) = (Pool::new(PoolConfig::default()), Memory::of(1 << 40));
    let streams: Vec<_> = (0..5000).map(Stream::new).collect();
    for _ in 0..3 {
        for stream in &streams {
            let block = pool.allocate(&mut memory, 8 * KIB, stream.number).unwrap();
            let order = block.order.and(stream.submit());
            assert!(pool.free(block.id, stream.number, order).is_none());
            // The last ten streams are still at work.
            let done = stream.number.checked_sub(10).and_then(|number| streams.get(number as usize));
            done.inspect(|stream| stream.finish());
        }
    }
    pool.check();
    let seen = pool.statistics();
    assert!(seen.misses < 100 && seen.reserved < 200 * MIB, "{seen:?}");
    for stream in &streams {
        stream.finish();
        pool.forget_stream(stream.number);
    }
    pool.check();
    assert_eq!(pool.trim(&mut memory, 0), Ok(seen.reserved));
}

/// Each buffer is larger than the one before, which is freed once the new one is there, as where results are appended. What was freed never
/// serves again, and no two segments are neighbours.
#[test]
fn a_growing_size_wastes_little_memory() {
    for lag in [0, 10, u64::MAX] {
        let (mut pool, mut memory) = (Pool::new(PoolConfig::default()), Memory::of(4290 * MIB));
        let stream = Stream::new(1);
        let mut former: Option<Block<Points>> = None;
        for step in 1..=118 {
            let mut block = pool.allocate(&mut memory, step * MIB + 5, 1).unwrap();
            block.order.merge(stream.submit());
            if let Some(former) = former.replace(block) {
                assert!(pool.free(former.id, 1, former.order).is_none());
            }
            stream.complete(stream.submitted.load(Relaxed).saturating_sub(lag));
            let seen = pool.statistics();
            assert!(seen.reserved <= 2 * seen.peak_active + 128 * MIB, "{lag} behind, step {step}: {seen:?}");
            assert_eq!(seen.reserved, memory.in_use());
        }
        pool.check();
        let seen = pool.statistics();
        assert!((235 * MIB..240 * MIB).contains(&seen.peak_active), "{seen:?}");
        let calls = memory.calls();
        assert!(calls.len() <= 2 * 118, "at most one free for each allocation: {}", calls.len());
    }
}

/// Memory that was reserved is not taken for memory that nobody uses.
#[test]
fn reserved_memory_stays() {
    let (mut pool, mut memory) = (Pool::new(PoolConfig::default()), Memory::of(1 << 40));
    pool.reserve(&mut memory, 1024 * MIB).unwrap();
    memory.calls();
    let blocks = [30 * KIB, 3 * MIB].map(|bytes| pool.allocate(&mut memory, bytes, 1).unwrap());
    assert_eq!(memory.calls(), [Call::Allocate(2 * MIB)], "the large one is of what was reserved");
    for block in blocks {
        assert!(pool.free(block.id, 1, block.order).is_none());
    }
    pool.check();
    let large = pool.allocate(&mut memory, 1024 * MIB, 1).unwrap();
    assert_eq!((memory.calls(), large.bytes), (vec![], 1024 * MIB));
}
