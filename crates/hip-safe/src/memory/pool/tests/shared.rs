//! A shared pool is free for others while its source is asked: a source that uses the pool itself would wait for ever otherwise.

use super::*;
use crate::memory::pool::SharedPool;
use std::cell::{Cell, RefCell};

type Act<'a> = Box<dyn FnMut(&SharedPool<Points>) + 'a>;

/// A source that does something with the pool within each call.
struct Busy<'a> {
    memory: Memory,
    pool: &'a SharedPool<Points>,
    on_allocate: Act<'a>,
    on_release: Act<'a>,
}

impl<'a> Busy<'a> {
    fn of(limit: usize, pool: &'a SharedPool<Points>) -> Self {
        let nothing = || Box::new(|_: &SharedPool<Points>| ());
        Self { memory: Memory::of(limit), pool, on_allocate: nothing(), on_release: nothing() }
    }
}

impl Source<Points> for Busy<'_> {
    type Error = Broken;

    fn allocate(&mut self, bytes: usize) -> Result<Option<usize>, Broken> {
        (self.on_allocate)(self.pool);
        self.memory.allocate(bytes)
    }

    fn release(&mut self, address: usize, bytes: usize, order: Points) -> Result<(), Broken> {
        (self.on_release)(self.pool);
        self.memory.release(address, bytes, order)
    }

    fn may_wait(&self) -> bool {
        false
    }
}

/// A source that is never asked.
struct Unasked;

impl Source<Points> for Unasked {
    type Error = Broken;

    fn allocate(&mut self, bytes: usize) -> Result<Option<usize>, Broken> {
        panic!("asked for {bytes} bytes")
    }

    fn release(&mut self, _: usize, bytes: usize, _: Points) -> Result<(), Broken> {
        panic!("given {bytes} bytes")
    }
}

#[test]
fn trim_leaves_the_pool_to_others() {
    let (pool, one) = (SharedPool::new(PoolConfig::default()), Stream::new(1));
    let (held, seen) = (Cell::new(None), RefCell::new(Vec::new()));
    let mut source = Busy::of(1 << 40, &pool);
    let [large, small] = [64 * MIB, MIB].map(|bytes| pool.allocate(&mut source, bytes, 1).unwrap());
    assert!(pool.free(large.id, 1, one.submit()).is_none());
    held.set(Some(small));
    source.on_release = Box::new(|pool: &SharedPool<Points>| {
        let Some(block): Option<Block<Points>> = held.take() else { return };
        seen.borrow_mut().push(pool.statistics());
        let other = pool.allocate(&mut Unasked, 512, 1).unwrap();
        assert!(pool.free(other.id, 1, Points::default()).is_none());
        assert!(pool.free(block.id, 1, Points::default()).is_none());
        pool.forget_stream(7);
    });
    // What was freed within the wait departs too.
    assert_eq!(pool.trim(&mut source, 0), Ok(66 * MIB));
    let [first] = seen.borrow()[..] else { panic!("{seen:?}") };
    assert_eq!((first.leaving, first.reserved, first.lost), (64 * MIB, 2 * MIB, 0));
    let after = pool.statistics();
    assert_eq!((after.leaving, after.reserved, after.lost, after.segments), (0, 0, 0, 0));
    pool.with(|pool| pool.check());
}

#[test]
fn the_ladder_leaves_the_pool_to_others() {
    let (pool, one) = (SharedPool::new(PoolConfig::default()), Stream::new(1));
    let held = Cell::new(None);
    let mut source = Busy::of(60 * MIB, &pool);
    let [a, b, c] = [20, 20, 20].map(|mib| pool.allocate(&mut source, mib * MIB, 1).unwrap());
    assert!(pool.free(a.id, 1, one.submit()).is_none());
    held.set(Some(b));
    let address = c.address;
    let free = |pool: &SharedPool<Points>| {
        let block: Option<Block<Points>> = held.take();
        if let Some(block) = block {
            assert!(pool.free(block.id, 1, Points::default()).is_none());
        }
    };
    source.on_release = Box::new(free);
    // The second segment is free only since the ladder waits.
    let block = pool.allocate(&mut source, 40 * MIB, 2).unwrap();
    assert_eq!((block.bytes, pool.statistics().retries), (40 * MIB, 1));
    // What is freed while the source is asked is found when it refuses.
    held.set(Some(c));
    source.on_allocate = Box::new(free);
    let reused = pool.allocate(&mut source, 20 * MIB, 2).unwrap();
    assert_eq!(reused.address, address);
    pool.with(|pool| pool.check());
    drop((block, reused));
}

/// Within its own call a thread cannot wait for that call to end: it is told that there is no memory.
#[test]
fn a_thread_does_not_wait_for_its_own_call() {
    let (pool, one) = (SharedPool::new(PoolConfig::default()), Stream::new(1));
    let mut source = Busy::of(20 * MIB, &pool);
    let block = pool.allocate(&mut source, 20 * MIB, 1).unwrap();
    assert!(pool.free(block.id, 1, one.submit()).is_none());
    source.on_release = Box::new(|pool: &SharedPool<Points>| {
        let mut empty = Busy::of(0, pool);
        assert!(matches!(pool.allocate(&mut empty, 512, 1), Err(PoolError::OutOfMemory { .. })));
        assert_eq!(pool.while_empty(&empty, || panic!("20 MiB are on their way")), Err(20 * MIB));
    });
    assert_eq!(pool.trim(&mut source, 0), Ok(20 * MIB));
    assert_eq!(pool.while_empty(&source, || ()), Ok(()));
}

#[test]
fn after_a_panic_of_the_source_no_call_is_counted() {
    let (pool, one) = (SharedPool::new(PoolConfig::default()), Stream::new(1));
    let mut source = Busy::of(1 << 40, &pool);
    let block = pool.allocate(&mut source, 20 * MIB, 1).unwrap();
    assert!(pool.free(block.id, 1, one.submit()).is_none());
    source.on_allocate = Box::new(|_: &SharedPool<Points>| panic!("asked"));
    source.on_release = Box::new(|_: &SharedPool<Points>| panic!("given"));
    let mut caught = |act: &mut dyn FnMut(&mut Busy<'_>)| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| act(&mut source))).unwrap_err()
    };
    caught(&mut |source| drop(pool.trim(source, 0)));
    caught(&mut |source| drop(pool.allocate(source, 512, 1)));
    let seen = pool.statistics();
    assert_eq!((seen.leaving, seen.lost, seen.reserved, seen.active), (0, 20 * MIB, 0, 0));
    pool.with(|pool| {
        assert!(!pool.is_busy());
        pool.check();
    });
}
