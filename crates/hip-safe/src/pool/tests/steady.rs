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

/// Rounds with blocks of mixed sizes and lifetimes. Even blocks are made on the first stream and handed over to the second, which frees
/// them; odd ones stay where they are. The streams are `lag` pieces of work behind the host. The share of hits after the warm-up, and calls.
fn run(lag: u64, rounds: usize, warm_up: usize) -> (f64, usize, crate::pool::PoolStatistics) {
    let (mut pool, mut memory) = (Pool::new(PoolConfig::default()), Memory::of(1 << 40));
    let streams = [1, 2].map(Stream::new);
    let (sizes, mut random) = (sizes(), Random(0x5eed));
    let mut live: Vec<(usize, Block<Points>, usize)> = Vec::new();
    let mut before = pool.statistics();
    for round in 0..rounds {
        if round == warm_up {
            before = pool.statistics();
            memory.calls();
        }
        let maker = &streams[usize::from(round % 4 == 3)];
        let block = pool.allocate(&mut memory, sizes[random.below(64)], maker.number).unwrap();
        let user = usize::from(round % 2 == 0 || round % 4 == 3);
        let mut block = block;
        block.order.merge(maker.submit());
        block.order.merge(streams[user].submit());
        live.push((round + 1 + random.below(64), block, user));
        while let Some(due) = live.iter().position(|(until, ..)| *until <= round) {
            let (_, block, user) = live.swap_remove(due);
            assert!(pool.free(block.id, streams[user].number, block.order).is_none());
        }
        for stream in &streams {
            stream.complete(stream.submitted.load(Relaxed).saturating_sub(lag));
        }
        if round % 1000 == 0 {
            pool.check();
        }
        if round % 10000 == 0 {
            let s = pool.statistics();
            eprintln!(
                "lag {lag} {round} seg {} res {} steals {} peak {}",
                s.segments,
                s.reserved >> 20,
                s.steals,
                s.peak_active >> 20
            );
        }
    }
    pool.check();
    let after = pool.statistics();
    let hits = (after.hits - before.hits) as f64 / (after.allocations - before.allocations) as f64;
    (hits, memory.calls().len(), after)
}

#[test]
fn mixed_sizes_on_two_streams() {
    for lag in [0, 4, 100] {
        let (hits, calls, seen) = run(lag, 100_000, 10_000);
        eprintln!("{lag} {hits} {calls}");
        assert!(seen.reserved < 2 * seen.peak_active, "{lag} behind: {seen:?}");
    }
}

#[test]
fn mixed_sizes_while_the_device_never_catches_up() {
    let (hits, calls, seen) = run(u64::MAX, 100_000, 10_000);
    assert_eq!((hits, calls), (1.0, 0), "{seen:?}");
    assert!(seen.steals > 0 && seen.reserved < 3 * seen.peak_active, "{seen:?}");
}

#[test]
fn what_one_stream_makes_and_the_other_frees() {
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
        }
    }
    pool.check();
    let seen = pool.statistics();
    assert!(seen.hits > 14_000, "{seen:?}");
    for stream in &streams {
        stream.finish();
        pool.forget_stream(stream.number);
    }
    pool.check();
    assert_eq!(pool.trim(&mut memory, 0), Ok(seen.reserved));
}
