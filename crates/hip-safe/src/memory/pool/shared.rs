//! A pool behind a lock. The lock is held for the pool's own work only, never during a call of the source.
//!
//! A call of the source may take long: a return waits on the host for the work that used the memory, and that work may be a host function that
//! drops a buffer of the same pool. So an allocation unlocks the pool, calls the source, and locks the pool again. Other threads can allocate
//! cached blocks, free, and read the figures meanwhile.
//!
//! Calls in progress are counted. Before a thread reports that there is no memory, it waits for the calls of other threads and looks again.

use super::{Block, BlockId, Departed, Order, Pool, PoolConfig, PoolError, PoolStatistics, Source, ladder};
use crate::sync::{Condvar, Mutex, MutexGuard};
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// How the ladder accesses its pool: exclusively, or shared with other threads.
pub(super) trait Reach<O: Order>: DerefMut<Target = Pool<O>> {
    /// Runs a closure while other threads can use the pool.
    fn apart<R>(&mut self, act: impl FnOnce() -> R) -> R;
    /// Lets other threads use the pool until one of them calls [`Reach::wake`]. False if the pool is not shared.
    fn wait(&mut self) -> bool;
    /// Wakes other threads after a call of the source.
    fn wake(&self);
}

impl<O: Order> Reach<O> for &mut Pool<O> {
    fn apart<R>(&mut self, act: impl FnOnce() -> R) -> R {
        act()
    }

    fn wait(&mut self) -> bool {
        false
    }

    fn wake(&self) {}
}

/// A pool behind a lock. See the [module](self).
pub(crate) struct SharedPool<O> {
    pool: Mutex<Pool<O>>,
    /// Notified after a call of the source.
    over: Condvar,
}

/// The pool, locked by this thread. The guard is `None` only inside [`Reach::apart`] and [`Reach::wait`].
struct Locked<'a, O> {
    shared: &'a SharedPool<O>,
    guard: Option<MutexGuard<'a, Pool<O>>>,
}

impl<O: Order> SharedPool<O> {
    pub(crate) fn new(config: PoolConfig) -> Self {
        Self { pool: Mutex::new(Pool::new(config)), over: Condvar::default() }
    }

    /// As [`Pool::allocate`].
    pub(crate) fn allocate<S: Source<O>>(
        &self,
        source: &mut S,
        bytes: usize,
        stream: u64,
    ) -> Result<Block<O>, PoolError<S::Error>> {
        // A cached block needs only the lock.
        let mut guard = self.pool.lock();
        match guard.look(bytes, stream) {
            Ok(index) => Ok(guard.hand_out(index)),
            Err(missing) => ladder::allocate_anew(&mut self.locked(guard), source, missing),
        }
    }

    /// As [`Pool::allocate`], for a cached block. `None` if the source is needed.
    #[inline]
    pub(crate) fn allocate_cached(&self, bytes: usize, stream: u64) -> Option<Block<O>> {
        let mut guard = self.pool.lock();
        let index = guard.look(bytes, stream).ok()?;
        Some(guard.hand_out(index))
    }

    /// As [`Pool::free`]. The caller gives a departed segment to [`SharedPool::give_back`].
    #[inline]
    pub(crate) fn free(&self, id: BlockId, stream: u64, order: O) -> Option<Departed<O>> {
        self.pool.lock().free(id, stream, order)
    }

    /// Returns a departed segment to the source.
    pub(crate) fn give_back<S: Source<O>>(&self, source: &mut S, gone: Departed<O>) -> Result<(), S::Error> {
        ladder::give_back(&mut self.lock(), source, gone).map(drop)
    }

    /// Returns unused segments to the source while at least `keep_bytes` bytes stay reserved. Returns their bytes.
    ///
    /// # Errors
    /// The first error of the source. That segment counts as lost, and the others stay.
    pub(crate) fn trim<S: Source<O>>(&self, source: &mut S, keep_bytes: usize) -> Result<usize, S::Error> {
        ladder::release(&mut self.lock(), source, keep_bytes)
    }

    /// Makes sure that there is a free block of at least `bytes` bytes without an owner, so that the next allocation of that size needs no wait
    /// and no source, on any stream. A direct pool keeps no blocks, so this does nothing.
    ///
    /// # Errors
    /// Those of the source, and [`PoolError::OutOfMemory`].
    pub(crate) fn reserve<S: Source<O>>(
        &self,
        source: &mut S,
        bytes: usize,
    ) -> Result<(), PoolError<S::Error>> {
        ladder::reserve(&mut self.lock(), source, bytes)
    }

    /// Runs a closure while the pool has no segments, and no call of the source is in progress.
    ///
    /// # Errors
    /// The bytes that the pool has.
    pub(crate) fn while_empty<S: Source<O>>(&self, source: &S, act: impl FnOnce()) -> Result<(), usize> {
        let mut pool = self.lock();
        while pool.is_busy() && source.may_wait() && pool.wait() {}
        if pool.is_busy() || pool.statistics.reserved > 0 {
            return Err(pool.statistics.reserved + pool.statistics.leaving);
        }
        act();
        Ok(())
    }

    pub(crate) fn statistics(&self) -> PoolStatistics {
        self.pool.lock().statistics()
    }

    /// As [`SharedPool::statistics`]; `None` if another thread held the lock for longer than that.
    pub(crate) fn statistics_within(&self, patience: Duration) -> Option<PoolStatistics> {
        Some(self.pool.try_lock_for(patience)?.statistics())
    }

    /// As [`Pool::forget_stream`].
    pub(crate) fn forget_stream(&self, stream: u64) {
        self.pool.lock().forget_stream(stream);
    }

    fn lock(&self) -> Locked<'_, O> {
        self.locked(self.pool.lock())
    }

    fn locked<'a>(&'a self, guard: MutexGuard<'a, Pool<O>>) -> Locked<'a, O> {
        Locked { shared: self, guard: Some(guard) }
    }

    #[cfg(test)]
    pub(super) fn with<R>(&self, act: impl FnOnce(&mut Pool<O>) -> R) -> R {
        act(&mut self.pool.lock())
    }
}

impl<O: Order> Reach<O> for Locked<'_, O> {
    fn apart<R>(&mut self, act: impl FnOnce() -> R) -> R {
        self.guard = None;
        let answer = act();
        self.guard = Some(self.shared.pool.lock());
        answer
    }

    fn wait(&mut self) -> bool {
        self.guard = self.guard.take().map(|guard| self.shared.over.wait(guard));
        true
    }

    fn wake(&self) {
        self.shared.over.notify_all();
    }
}

impl<O> Deref for Locked<'_, O> {
    type Target = Pool<O>;

    fn deref(&self) -> &Pool<O> {
        self.guard.as_ref().expect("this thread has locked the pool")
    }
}

impl<O> DerefMut for Locked<'_, O> {
    fn deref_mut(&mut self) -> &mut Pool<O> {
        self.guard.as_mut().expect("this thread has locked the pool")
    }
}
