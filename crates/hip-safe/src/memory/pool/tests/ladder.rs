//! What a pool does when the source refuses: each rung is the one that helps once.

use super::*;

/// A pool of 40 MiB in two segments of 20, both in use by the first stream.
struct Full {
    pool: Pool<Points>,
    memory: Memory,
    streams: [Arc<Stream>; 3],
    blocks: [Block<Points>; 2],
}

fn full() -> Full {
    // Age never counts here: each rung has to be reached.
    let config = PoolConfig { patience: u64::MAX, ..PoolConfig::default() };
    let (mut pool, mut memory) = (Pool::new(config), Memory::of(40 * MIB));
    let blocks = [(); 2].map(|()| pool.allocate(&mut memory, 20 * MIB, 1).unwrap());
    memory.calls();
    Full { pool, memory, streams: [1, 2, 3].map(Stream::new), blocks }
}

#[test]
fn reaping_finds_a_block() {
    let (mut pool, mut memory) =
        (Pool::new(PoolConfig { patience: u64::MAX, ..PoolConfig::default() }), Memory::of(22 * MIB));
    // So many blocks that a look at all of them is not worth it after two frees.
    let many = [(); 100].map(|()| pool.allocate(&mut memory, 512, 3).unwrap());
    let streams = [1, 2].map(Stream::new);
    let blocks = [1, 2].map(|stream| pool.allocate(&mut memory, 9 * MIB, stream).unwrap());
    // The second one has 11 MiB: 9 and a rest of 2, which is nobody's until it joins.
    let start = blocks[0].address;
    for (block, stream) in blocks.into_iter().zip(&streams) {
        assert!(pool.free(block.id, stream.number, stream.submit()).is_none());
    }
    streams.iter().for_each(|stream| stream.finish());
    memory.calls();
    // No piece is large enough.
    let whole = pool.allocate(&mut memory, 20 * MIB, 3).unwrap();
    assert_eq!((whole.address, whole.bytes, whole.order.0.len()), (start, 20 * MIB, 0));
    assert_eq!(memory.calls(), [Call::Allocate(20 * MIB)], "refused, and nothing else");
    let seen = pool.statistics();
    assert_eq!((seen.steals, seen.retries, seen.hits, seen.misses), (0, 0, 101, 2));
    pool.check();
    drop(many);
}

#[test]
fn a_block_of_another_stream_is_taken() {
    let Full { mut pool, mut memory, streams: [one, ..], blocks: [a, b] } = full();
    let (address, point) = (a.address, one.submit());
    assert!(pool.free(a.id, 1, point.clone()).is_none());
    let stolen = pool.allocate(&mut memory, 15 * MIB, 2).unwrap();
    assert_eq!((stolen.address, stolen.bytes), (address, 15 * MIB));
    assert!(stolen.order.covers(&point.0[0]), "its new stream waits, the host does not");
    assert!(!point.0[0].is_complete());
    assert_eq!(memory.calls(), [Call::Allocate(16 * MIB)]);
    let seen = pool.statistics();
    assert_eq!((seen.steals, seen.retries, seen.splits), (1, 0, 1));
    pool.check();
    // The rest is the first stream's still, with the same point.
    let rest = pool.allocate(&mut memory, 5 * MIB, 1).unwrap();
    assert_eq!(rest.address, address + 15 * MIB);
    assert!(rest.order.covers(&point.0[0]));
    drop(b);
}

#[test]
fn unused_segments_are_returned_and_the_source_is_asked_again() {
    let Full { mut pool, mut memory, streams: [one, two, three], blocks: [a, b] } = full();
    // Both segments are free, and neither is large enough.
    let order = one.submit().and(two.submit());
    assert!(pool.free(a.id, 1, order.clone()).is_none());
    assert!(pool.free(b.id, 2, three.submit()).is_none());
    let block = pool.allocate(&mut memory, 40 * MIB, 1).unwrap();
    assert_eq!(block.bytes, 40 * MIB);
    let calls = [
        Call::Allocate(40 * MIB),
        Call::Release(20 * MIB),
        Call::Release(20 * MIB),
        Call::Allocate(40 * MIB),
    ];
    assert_eq!(memory.calls(), calls);
    assert!(order.0.iter().all(|point| memory.released[0].2.0.iter().any(|p| p.at == point.at)));
    let waited = memory.released.iter().flat_map(|(_, _, order)| &order.0).count();
    assert_eq!(waited, 3, "released after each stream's work");
    let seen = pool.statistics();
    assert_eq!((seen.steals, seen.retries, seen.misses, seen.reserved), (0, 1, 3, 40 * MIB));
    pool.check();
}

#[test]
fn a_smaller_segment_is_requested_after_a_refusal() {
    let mut memory = Memory::of(3 * MIB);
    let mut pool = Pool::new(PoolConfig::default());
    let block = pool.allocate(&mut memory, 2 * MIB + 1, 1).unwrap();
    assert_eq!(block.bytes, 2 * MIB + 512);
    assert_eq!(memory.calls(), [Call::Allocate(20 * MIB), Call::Allocate(2 * MIB + 512)]);
    assert_eq!((pool.statistics().retries, pool.statistics().misses), (1, 1));
    assert!(pool.free(block.id, 1, Points::default()).is_none());
    pool.check();
}

#[test]
fn out_of_memory_after_all_steps() {
    let Full { mut pool, mut memory, streams: [one, ..], blocks: [a, b] } = full();
    let before = pool.statistics();
    assert_eq!(refusal(pool.allocate(&mut memory, 20 * MIB, 1)), (20 * MIB, 0));
    assert_eq!(memory.calls(), [Call::Allocate(20 * MIB)], "nothing changed: no use in asking again");
    assert_eq!(pool.statistics(), before);
    // A part of a segment is free, but it cannot be given back.
    let small = {
        assert!(pool.free(a.id, 1, one.submit()).is_none());
        pool.allocate(&mut memory, 2 * MIB, 1).unwrap()
    };
    assert_eq!(refusal(pool.allocate(&mut memory, 20 * MIB, 2)), (20 * MIB, 18 * MIB));
    assert_eq!(memory.calls(), [Call::Allocate(20 * MIB)]);
    assert_eq!(refusal(pool.allocate(&mut memory, usize::MAX, 2)), (usize::MAX, 18 * MIB));
    assert_eq!(refusal(pool.allocate(&mut memory, isize::MAX as usize, 2)).1, 18 * MIB);
    assert!(memory.calls().is_empty(), "no device has that much");
    pool.check();
    drop((small, b));
}

#[test]
fn an_error_of_the_source_is_the_answer() {
    let Full { mut pool, mut memory, blocks: [a, b], .. } = full();
    memory.broken = true;
    let before = pool.statistics();
    assert_eq!(pool.allocate(&mut memory, 512, 1).unwrap_err(), PoolError::Source(Broken));
    assert_eq!(pool.statistics(), before);
    pool.check();
    drop((a, b));
}

#[test]
fn memory_that_cannot_be_returned_is_lost() {
    let Full { mut pool, mut memory, streams: [one, ..], blocks: [a, b] } = full();
    assert!(pool.free(a.id, 1, one.submit()).is_none());
    assert!(pool.free(b.id, 1, Points::default()).is_none());
    memory.broken = true;
    assert_eq!(pool.trim(&mut memory, 0), Err(Broken));
    pool.check();
    let seen = pool.statistics();
    assert_eq!((seen.lost, seen.reserved, seen.segments), (20 * MIB, 20 * MIB, 1), "the other one stays");
    memory.broken = false;
    assert_eq!(pool.trim(&mut memory, 0), Ok(20 * MIB));
    assert_eq!((pool.statistics().lost, pool.statistics().reserved), (20 * MIB, 0));
    assert_eq!(memory.in_use(), 20 * MIB, "the source still has it in use");
    pool.check();
}
