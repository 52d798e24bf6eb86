//! Who gets which block while the source has memory.

use super::*;

fn pool() -> (Pool<Points>, Memory) {
    (Pool::new(PoolConfig::default()), Memory::of(1 << 40))
}

fn free(pool: &mut Pool<Points>, block: Block<Points>, stream: &Arc<Stream>, order: Points) {
    assert!(pool.free(block.id, stream.number, block.order.and(order)).is_none(), "the pool keeps it");
    pool.check();
}

#[test]
fn a_stream_has_its_own_block_again_at_once() {
    let ((mut pool, mut memory), one) = (pool(), Stream::new(1));
    let first = pool.allocate(&mut memory, 1000, 1).unwrap();
    assert_eq!((first.bytes, memory.calls()), (1024, vec![Call::Allocate(2 * MIB)]));
    let (address, point) = (first.address, one.submit());
    free(&mut pool, first, &one, point.clone());
    let again = pool.allocate(&mut memory, 700, 1).unwrap();
    assert_eq!((again.address, again.bytes), (address, 1024));
    assert!(again.order.covers(&point.0[0]), "the point goes along");
    assert!(memory.calls().is_empty());
    let seen = pool.statistics();
    assert_eq!((seen.hits, seen.misses, seen.steals, seen.splits, seen.merges), (1, 1, 0, 1, 0));
    assert_eq!((seen.allocated, seen.active, seen.reserved), (700, 1024, 2 * MIB));
    assert_eq!((seen.peak_allocated, seen.peak_active, seen.peak_reserved), (1000, 1024, 2 * MIB));
}

#[test]
fn segments_are_cut_by_the_size_of_the_request() {
    let (mut pool, mut memory) = pool();
    let of = |pool: &mut Pool<_>, memory: &mut Memory, bytes| {
        let block = pool.allocate(memory, bytes, 1).unwrap();
        (block.bytes, memory.calls())
    };
    assert_eq!(of(&mut pool, &mut memory, MIB), (MIB, vec![Call::Allocate(2 * MIB)]));
    assert_eq!(of(&mut pool, &mut memory, MIB + 1), (MIB + 512, vec![Call::Allocate(20 * MIB)]));
    assert_eq!(of(&mut pool, &mut memory, 10 * MIB - 512), (10 * MIB - 512, vec![]));
    // 9 MiB are left there; taking all but 1 MiB of it leaves a rest that no large request could use.
    assert_eq!(of(&mut pool, &mut memory, 8 * MIB), (9 * MIB, vec![]));
    assert_eq!(of(&mut pool, &mut memory, 10 * MIB), (10 * MIB, vec![Call::Allocate(10 * MIB)]));
    assert_eq!(of(&mut pool, &mut memory, 11 * MIB + 1), (12 * MIB, vec![Call::Allocate(12 * MIB)]));
    assert_eq!(of(&mut pool, &mut memory, 1), (512, vec![]), "the other half of the small segment");
    pool.check();
}

#[test]
fn own_blocks_are_reused_before_unowned_and_shared_ones() {
    let ((mut pool, mut memory), one, two) = (pool(), Stream::new(1), Stream::new(2));
    // Three blocks that have no neighbour in common.
    let [touched, nobodys, own] = [(); 3].map(|()| pool.allocate(&mut memory, 20 * MIB, 1).unwrap());
    let addresses = [own.address, nobodys.address, touched.address];
    memory.calls();
    free(&mut pool, touched, &one, one.submit().and(two.submit()));
    let complete = two.submit();
    two.finish();
    let foreign = two.submit();
    free(&mut pool, nobodys, &one, complete);
    free(&mut pool, own, &one, one.submit());
    // What two did is complete but for the last: let the touched block be used by that.
    let again = [(); 3].map(|()| pool.allocate(&mut memory, 20 * MIB, 1).unwrap());
    assert_eq!(again.each_ref().map(|block| block.address), addresses);
    assert!(again[2].order.only_on(1), "what is complete was forgotten");
    let [first, _, third] = again;
    free(&mut pool, third, &one, foreign.clone());
    let last = pool.allocate(&mut memory, 20 * MIB, 1).unwrap();
    assert_eq!(last.address, addresses[2]);
    assert!(last.order.covers(&foreign.0[0]) && !last.order.only_on(1), "it has to wait");
    free(&mut pool, first, &one, Points::default());
    assert!(memory.calls().is_empty());
    assert_eq!(pool.statistics().steals, 0, "it was its own");
}

#[test]
fn another_streams_block_is_taken_when_it_is_complete_or_old() {
    let ((mut pool, mut memory), one, two) = (pool(), Stream::new(1), Stream::new(2));
    let block = pool.allocate(&mut memory, 20 * MIB, 1).unwrap();
    let address = block.address;
    free(&mut pool, block, &one, one.submit());
    let fresh = pool.allocate(&mut memory, 20 * MIB, 2).unwrap();
    assert_ne!(fresh.address, address, "one may still use it");
    one.finish();
    let complete = pool.allocate(&mut memory, 20 * MIB, 2).unwrap();
    assert_eq!((complete.address, complete.order.0.len(), pool.statistics().steals), (address, 0, 0));
    // Now it is used, and stays so while others are freed.
    let point = one.submit();
    free(&mut pool, complete, &one, point.clone());
    for _ in 0..PoolConfig::default().patience {
        let small = pool.allocate(&mut memory, 512, 2).unwrap();
        free(&mut pool, small, &two, two.submit());
    }
    let old = pool.allocate(&mut memory, 20 * MIB, 2).unwrap();
    assert_eq!((old.address, pool.statistics().steals), (address, 1));
    assert!(old.order.covers(&point.0[0]));
}

#[test]
fn neighbours_of_different_streams_join_when_one_is_complete() {
    let ((mut pool, mut memory), one, two) = (pool(), Stream::new(1), Stream::new(2));
    let [a, b] = [1, 2].map(|stream| pool.allocate(&mut memory, MIB, stream).unwrap());
    let start = a.address;
    assert_eq!(b.address, start + MIB);
    free(&mut pool, a, &one, one.submit());
    free(&mut pool, b, &two, two.submit());
    assert_eq!(pool.statistics().merges, 0, "each is still its stream's");
    one.finish();
    pool.reap();
    pool.check();
    assert_eq!(pool.statistics().merges, 1);
    let whole = pool.allocate(&mut memory, 600 * KIB, 2).unwrap();
    assert_eq!(whole.address, start, "the joined block is the second stream's");
    assert!(!whole.order.0.is_empty());
}

#[test]
fn blocks_of_a_destroyed_stream_are_available_to_all() {
    let ((mut pool, mut memory), one, two) = (pool(), Stream::new(1), Stream::new(2));
    let [own, shared] = [(); 2].map(|()| pool.allocate(&mut memory, 20 * MIB, 1).unwrap());
    let addresses = [own.address, shared.address];
    free(&mut pool, own, &one, one.submit());
    let foreign = two.submit();
    free(&mut pool, shared, &one, one.submit().and(foreign.clone()));
    one.finish();
    pool.forget_stream(1);
    pool.check();
    memory.calls();
    let first = pool.allocate(&mut memory, 20 * MIB, 3).unwrap();
    assert_eq!((first.address, first.order.0.len()), (addresses[0], 0));
    let fresh = pool.allocate(&mut memory, 20 * MIB, 3).unwrap();
    assert!(!addresses.contains(&fresh.address), "two still uses the other one");
    two.finish();
    let second = pool.allocate(&mut memory, 20 * MIB, 3).unwrap();
    assert_eq!(second.address, addresses[1]);
    // The free list of the stream that is gone serves the next new one.
    pool.forget_stream(1);
    pool.forget_stream(99);
    free(&mut pool, second, &Stream::new(4), Points::default());
    assert_eq!(pool.allocate(&mut memory, 20 * MIB, 4).unwrap().address, addresses[1]);
    pool.check();
}

/// With one stream, what was freed last is kept apart for the next request of its size. Other streams end that while they are there.
#[test]
fn one_stream_is_as_fast_after_others_as_before() {
    let ((mut pool, mut memory), one) = (pool(), Stream::new(1));
    let is_held = |pool: &mut Pool<Points>, memory: &mut Memory, stream: &Arc<Stream>| {
        let block = pool.allocate(memory, KIB, stream.number).unwrap();
        free(pool, block, stream, stream.submit());
        pool.check();
        pool.let_all_go()
    };
    assert!(is_held(&mut pool, &mut memory, &one));
    for round in 2..5 {
        let others = [round * 10, round * 10 + 1].map(Stream::new);
        for other in &others {
            let block = pool.allocate(&mut memory, 3 * KIB, other.number).unwrap();
            free(&mut pool, block, other, other.submit().and(one.submit()));
        }
        assert!(!is_held(&mut pool, &mut memory, &one), "round {round}");
        for other in &others {
            other.finish();
            pool.forget_stream(other.number);
            pool.check();
        }
        // What they left behind may still be in use by the first stream, where nobody else would find it.
        assert!(!is_held(&mut pool, &mut memory, &one), "round {round}");
        one.finish();
        is_held(&mut pool, &mut memory, &one);
        assert!(is_held(&mut pool, &mut memory, &one), "round {round}");
    }
    // When the first one goes, the next one is alone.
    one.finish();
    pool.forget_stream(1);
    assert!(is_held(&mut pool, &mut memory, &Stream::new(99)));
}

#[test]
fn trim_returns_unused_segments() {
    let ((mut pool, mut memory), one, two) = (pool(), Stream::new(1), Stream::new(2));
    let [a, b, c] = [20, 30, 40].map(|mib| pool.allocate(&mut memory, mib * MIB, 1).unwrap());
    let small = pool.allocate(&mut memory, 512, 1).unwrap();
    let points = [one.submit(), two.submit()];
    free(&mut pool, a, &one, points[0].clone());
    free(&mut pool, b, &one, points[0].clone().and(points[1].clone()));
    free(&mut pool, c, &one, Points::default());
    memory.calls();
    assert_eq!(pool.trim(&mut memory, 92 * MIB), Ok(0), "less would stay");
    assert_eq!(pool.trim(&mut memory, 62 * MIB), Ok(20 * MIB), "the first that leaves enough");
    assert_eq!(two.completed.load(Relaxed), 0);
    assert_eq!(pool.trim(&mut memory, 0), Ok(70 * MIB));
    assert!(
        memory.released[1].2.0.len() == 2 && two.completed.load(Relaxed) == 1,
        "after both streams' work"
    );
    pool.check();
    assert_eq!(pool.statistics().reserved, 2 * MIB, "the small block is still in use");
    assert_eq!((memory.in_use(), pool.statistics().segments), (2 * MIB, 1));
    free(&mut pool, small, &one, Points::default());
    assert_eq!(pool.trim(&mut memory, 0), Ok(2 * MIB));
    assert_eq!(
        (memory.in_use(), pool.statistics().reserved, pool.statistics().peak_reserved),
        (0, 0, 92 * MIB)
    );
    pool.check();
}

#[test]
fn reserve_makes_one_free_block() {
    let ((mut pool, mut memory), one) = (pool(), Stream::new(1));
    pool.reserve(&mut memory, 100 * MIB).unwrap();
    pool.reserve(&mut memory, 60 * MIB).unwrap();
    assert_eq!(memory.calls(), [Call::Allocate(100 * MIB)], "60 are a part of them");
    let block = pool.allocate(&mut memory, 30 * MIB, 1).unwrap();
    pool.reserve(&mut memory, 70 * MIB).unwrap();
    assert_eq!(memory.calls(), [], "that is what is left");
    pool.reserve(&mut memory, 90 * MIB).unwrap();
    assert_eq!(memory.calls(), [Call::Allocate(90 * MIB)], "in one piece");
    assert_eq!(
        (pool.statistics().hits, pool.statistics().misses, pool.statistics().reserved),
        (1, 0, 190 * MIB)
    );
    free(&mut pool, block, &one, Points::default());
    pool.reserve(&mut memory, 100 * MIB).unwrap();
    pool.reserve(&mut memory, 512).unwrap();
    pool.reserve(&mut memory, 0).unwrap();
    assert_eq!(memory.calls(), [Call::Allocate(2 * MIB)], "small ones have segments of their own");
    pool.check();
}

/// What the reservation is for has to find it, on a stream that the pool has never seen.
#[test]
fn reserve_counts_neither_pieces_nor_blocks_of_streams() {
    let ((mut pool, mut memory), one) = (pool(), Stream::new(1));
    let [a, b, c] = [32, 32, 64].map(|mib| pool.allocate(&mut memory, mib * MIB, 1).unwrap());
    free(&mut pool, a, &one, Points::default());
    free(&mut pool, b, &one, Points::default());
    free(&mut pool, c, &one, one.submit());
    memory.calls();
    pool.reserve(&mut memory, 64 * MIB).unwrap();
    assert_eq!(memory.calls(), [Call::Allocate(64 * MIB)], "the large one may be in use");
    let block = pool.allocate(&mut memory, 64 * MIB, 2).unwrap();
    assert_eq!((memory.calls(), block.order.0.len()), (vec![], 0));
    free(&mut pool, block, &Stream::new(2), Points::default());
    one.finish();
    pool.reserve(&mut memory, 64 * MIB).unwrap();
    assert_eq!(memory.calls(), []);
    pool.check();
}

#[test]
fn reserve_climbs_the_ladder() {
    let ((mut pool, _), one) = (pool(), Stream::new(1));
    let mut memory = Memory::of(64 * MIB);
    let [a, b] = [32, 32].map(|mib| pool.allocate(&mut memory, mib * MIB, 1).unwrap());
    free(&mut pool, a, &one, Points::default());
    memory.calls();
    match pool.reserve(&mut memory, 64 * MIB) {
        Err(PoolError::OutOfMemory { requested, largest_free, statistics }) => {
            assert_eq!((requested, largest_free, statistics.reserved), (64 * MIB, 0, 32 * MIB));
        }
        other => panic!("{other:?}"),
    }
    let asked = Call::Allocate(64 * MIB);
    assert_eq!(memory.calls(), [asked, Call::Release(32 * MIB), asked]);
    free(&mut pool, b, &one, one.submit());
    pool.reserve(&mut memory, 64 * MIB).unwrap();
    assert_eq!(memory.calls(), [asked, Call::Release(32 * MIB), asked]);
    assert_eq!((one.completed.load(Relaxed), pool.statistics().retries), (1, 2));
    let too_much = pool.reserve(&mut memory, usize::MAX);
    assert!(matches!(too_much, Err(PoolError::OutOfMemory { largest_free, .. }) if largest_free == 64 * MIB));
    memory.broken = true;
    assert_eq!(pool.reserve(&mut memory, 65 * MIB), Err(PoolError::Source(Broken)));
    pool.check();
}

#[test]
fn a_direct_pool_keeps_nothing() {
    let (mut pool, mut memory) = (Pool::new(PoolConfig::direct()), Memory::of(4 * KIB));
    let one = Stream::new(1);
    let block = pool.allocate(&mut memory, 513, 1).unwrap();
    assert_eq!((block.bytes, memory.calls()), (1024, vec![Call::Allocate(1024)]));
    pool.check();
    assert_eq!(refusal(pool.allocate(&mut memory, 4 * KIB, 1)), (4 * KIB, 0));
    pool.reserve(&mut memory, MIB).unwrap();
    let (address, point) = (block.address, one.submit());
    let departed = pool.free(block.id, 1, point.clone()).expect("it does not stay");
    assert_eq!((departed.address, departed.bytes), (address, 1024));
    assert!(departed.order.covers(&point.0[0]) && !point.0[0].is_complete());
    pool.check();
    assert_eq!(memory.calls(), [Call::Allocate(4 * KIB)], "the caller releases it");
    assert_eq!((pool.statistics().leaving, pool.statistics().lost), (1024, 0));
    memory.broken = true;
    assert_eq!(give_back(&mut &mut pool, &mut memory, departed), Err(Broken));
    let seen = pool.statistics();
    assert_eq!((seen.reserved, seen.active, seen.segments, seen.lost), (0, 0, 0, 1024));
    assert_eq!((seen.leaving, seen.hits, seen.misses, seen.frees), (0, 0, 1, 1));
}

#[test]
#[should_panic(expected = "not in use was freed")]
fn a_block_that_is_free_cannot_be_freed() {
    let (mut pool, mut memory) = pool();
    let block = pool.allocate(&mut memory, 512, 1).unwrap();
    let twin = BlockId(block.id.0);
    assert!(pool.free(block.id, 1, Points::default()).is_none());
    drop(pool.free(twin, 1, Points::default()));
}
