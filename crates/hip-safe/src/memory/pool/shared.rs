//! A pool that threads share: behind a lock that is held for the pool's own work only, never while its source is asked.
//!
//! A call of the source may take long: giving memory back waits on the host for the work that used it, and that work may be a function
//! that drops a buffer of this very pool. So an allocation that needs the source lets the pool go, asks, and takes it again; meanwhile
//! others allocate what the pool has, free, and read the figures.
//!
//! What is on its way is counted. Nobody answers that there is no memory while another thread may bring some: it waits for that
//! thread first, and looks again.

use super::{Block, BlockId, Departed, Order, Pool, PoolConfig, PoolError, PoolStatistics, Source, ladder};
use crate::sync::{Condvar, Mutex, MutexGuard};
use std::ops::{Deref, DerefMut};
use std::time::Duration;

/// How the ladder has its pool: alone, or in turns with others.
pub(super) trait Reach<O: Order>: DerefMut<Target = Pool<O>> {
    /// Lets others use the pool meanwhile.
    fn apart<R>(&mut self, act: impl FnOnce() -> R) -> R;
    /// Lets others use the pool until one of them calls [`Reach::wake`]; false if there are none.
    fn wait(&mut self) -> bool;
    /// Tells the others that a call of the source is over.
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
    /// A call of the source is over.
    over: Condvar,
}

/// The pool while this thread has it. Outside of [`Reach::apart`] and [`Reach::wait`] the guard is there.
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
        // What the pool has takes no more than the lock.
        let mut guard = self.pool.lock();
        match guard.look(bytes, stream) {
            Ok(index) => Ok(guard.hand_out(index)),
            Err(missing) => ladder::allocate_anew(&mut self.locked(guard), source, missing),
        }
    }

    /// As [`Pool::allocate`], of what the pool has; none if its source is to be asked.
    #[inline]
    pub(crate) fn allocate_cached(&self, bytes: usize, stream: u64) -> Option<Block<O>> {
        let mut guard = self.pool.lock();
        let index = guard.look(bytes, stream).ok()?;
        Some(guard.hand_out(index))
    }

    /// As [`Pool::free`]; what departs goes to [`SharedPool::give_back`].
    #[inline]
    pub(crate) fn free(&self, id: BlockId, stream: u64, order: O) -> Option<Departed<O>> {
        self.pool.lock().free(id, stream, order)
    }

    /// Gives to the source what departed.
    pub(crate) fn give_back<S: Source<O>>(&self, source: &mut S, gone: Departed<O>) -> Result<(), S::Error> {
        ladder::give_back(&mut self.lock(), source, gone).map(drop)
    }

    /// Gives segments without a block in use back to the source, while at least `keep_bytes` stay reserved. The bytes given back.
    ///
    /// # Errors
    /// The first one of the source: that segment counts as lost, and the others stay.
    pub(crate) fn trim<S: Source<O>>(&self, source: &mut S, keep_bytes: usize) -> Result<usize, S::Error> {
        ladder::release(&mut self.lock(), source, keep_bytes)
    }

    /// Makes sure that a free block of at least `bytes` bytes is nobody's, so that the next allocation of that size has it at once,
    /// on any stream. A direct pool keeps nothing, so it does nothing.
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

    /// Does something while the pool has nothing of its source, nor anything on its way.
    ///
    /// # Errors
    /// The bytes that it has.
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

    /// As [`SharedPool::statistics`]; `None` if another thread had the pool for longer than that.
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
        self.guard.as_ref().expect("this thread has the pool")
    }
}

impl<O> DerefMut for Locked<'_, O> {
    fn deref_mut(&mut self) -> &mut Pool<O> {
        self.guard.as_mut().expect("this thread has the pool")
    }
}
