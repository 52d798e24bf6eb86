//! The ladder: the steps by which an allocation finds a block, the cheapest first.
//!
//! The pool is unlocked during calls of the source, so later steps look again at a pool that other threads may have changed. The index of a block
//! is valid only until such a call.

use super::block::NONE;
use super::free_lists::OwnerId;
use super::shared::Reach;
use super::space::Request;
use super::{Block, Departed, Missing, Order, Pool, PoolError, Source};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

/// How many blocks of one size class are compared before the next step.
const FEW: usize = 8;

/// How many blocks of other streams are checked before the pool grows.
const SOME: usize = 64;

/// How many blocks a reap may visit for each free since the last one.
const LOOKS_PER_FREE: u64 = 16;

/// A free block that the ladder found.
enum Found {
    Cached(u32),
    /// The one block of a new segment.
    New(u32),
}

/// The slow path of [`Pool::allocate`].
#[cold]
pub(super) fn allocate_anew<O: Order, S: Source<O>>(
    pool: &mut impl Reach<O>,
    source: &mut S,
    missing: Missing,
) -> Result<Block<O>, PoolError<S::Error>> {
    let request = match missing {
        Missing::Request(request) => request,
        Missing::TooLarge(bytes) => return Err(pool.out_of_memory(bytes)),
    };
    let index = match climb(pool, source, request)? {
        Found::Cached(index) => {
            pool.statistics.hits += 1;
            index
        }
        Found::New(index) => {
            pool.statistics.misses += 1;
            index
        }
    };
    pool.take(index, request);
    Ok(pool.hand_out(index))
}

/// See [`SharedPool::reserve`](super::SharedPool::reserve).
pub(super) fn reserve<O: Order, S: Source<O>>(
    pool: &mut impl Reach<O>,
    source: &mut S,
    bytes: usize,
) -> Result<(), PoolError<S::Error>> {
    if bytes == 0 || pool.config.direct {
        return Ok(());
    }
    let Some(request) = pool.request(bytes) else { return Err(pool.out_of_memory(bytes)) };
    pool.expected = pool.expected.max(pool.statistics.active + request.size);
    pool.reap();
    if pool.fit(request, usize::MAX).is_none() {
        climb(pool, source, request)?;
    }
    Ok(())
}

/// The steps from the source on.
fn climb<O: Order, S: Source<O>>(
    pool: &mut impl Reach<O>,
    source: &mut S,
    request: Request,
) -> Result<Found, PoolError<S::Error>> {
    // One thread asks the source at a time, because its segment often serves the other threads too.
    while pool.is_asking() && source.may_wait() && pool.wait() {
        if let Some(found) = pool.cached(request) {
            return Ok(Found::Cached(found));
        }
    }
    let segment = pool.config.segment(request.size);
    if let Some(found) = reuse_or_shrink(pool, source, request, segment).map_err(PoolError::Source)? {
        return Ok(Found::Cached(found));
    }
    if let Some(found) = grow(pool, source, request, segment)? {
        return Ok(Found::New(found));
    }
    if let Some(found) = pool.any(request) {
        return Ok(Found::Cached(found));
    }
    // Return segments whose free blocks have other sizes or another class, or are used by several streams.
    let mut changed = release(pool, source, 0).map_err(PoolError::Source)? > 0;
    // Segments that other threads are returning or getting may help too.
    while pool.is_busy() && source.may_wait() && pool.wait() {
        changed = true;
    }
    if changed && let Some(found) = pool.any(request) {
        return Ok(Found::Cached(found));
    }
    // Ask again, for the smallest sufficient segment.
    if changed || request.size < segment {
        pool.statistics.retries += 1;
        if let Some(found) = grow(pool, source, request, request.size)? {
            return Ok(Found::New(found));
        }
        // Other threads may have freed blocks meanwhile.
        if let Some(found) = pool.any(request) {
            return Ok(Found::Cached(found));
        }
    }
    Err(pool.out_of_memory(request.bytes))
}

/// Keeps the pool from holding too much unused memory before it grows by `segment` bytes: finds a block of any stream, or returns unused
/// segments.
fn reuse_or_shrink<O: Order, S: Source<O>>(
    pool: &mut impl Reach<O>,
    source: &mut S,
    request: Request,
    segment: usize,
) -> Result<Option<u32>, S::Error> {
    while source.may_release() && pool.would_be_idle(request.size, segment) {
        if let Some(found) = pool.any(request) {
            return Ok(Some(found));
        }
        let Some(departed) = pool.depart_oldest() else { break };
        give_back(pool, source, departed)?;
    }
    Ok(None)
}

/// Adds a segment for the request, if the source has enough memory.
fn grow<O: Order, S: Source<O>>(
    pool: &mut impl Reach<O>,
    source: &mut S,
    request: Request,
    bytes: usize,
) -> Result<Option<u32>, PoolError<S::Error>> {
    pool.asking += 1;
    let answer = pool.apart(|| caught(|| source.allocate(bytes)));
    pool.asking -= 1;
    pool.wake();
    let address = passed_on(answer).map_err(PoolError::Source)?;
    Ok(address.map(|address| pool.add_segment(address, bytes, request.class)))
}

/// Returns unused segments one by one while at least `keep` bytes stay reserved. Returns their bytes.
pub(super) fn release<O: Order, S: Source<O>>(
    pool: &mut impl Reach<O>,
    source: &mut S,
    keep: usize,
) -> Result<usize, S::Error> {
    let (mut next, mut given) = (0, 0);
    while let Some(departed) = pool.depart(&mut next, keep) {
        given += give_back(pool, source, departed)?;
    }
    Ok(given)
}

/// Returns a segment that has left the pool to the source. Returns its bytes.
pub(super) fn give_back<O: Order, S: Source<O>>(
    pool: &mut impl Reach<O>,
    source: &mut S,
    Departed { address, bytes, order }: Departed<O>,
) -> Result<usize, S::Error> {
    let released = pool.apart(|| caught(|| source.release(address, bytes, order)));
    pool.statistics.left(bytes, matches!(released, Ok(Ok(()))));
    pool.wake();
    passed_on(released).map(|()| bytes)
}

/// Catches a panic of the source, so that the end of the call is counted first. Other threads may be waiting for it.
fn caught<R>(call: impl FnOnce() -> R) -> thread::Result<R> {
    catch_unwind(AssertUnwindSafe(call))
}

fn passed_on<R>(answer: thread::Result<R>) -> R {
    answer.unwrap_or_else(|panic| resume_unwind(panic))
}

impl<O: Order> Pool<O> {
    /// A free block for the request, without the source.
    pub(super) fn cached(&mut self, request: Request) -> Option<u32> {
        self.fit(request, FEW).or_else(|| self.cached_elsewhere(request))
    }

    /// The steps between the usual ones and the source. They are cheap compared with new memory.
    #[cold]
    fn cached_elsewhere(&mut self, request: Request) -> Option<u32> {
        if self.let_all_go()
            && let Some(found) = self.fit(request, FEW)
        {
            return Some(found);
        }
        if let Some(found) = self.fit(request, usize::MAX).or_else(|| self.complete_or_old(request)) {
            return Some(found);
        }
        if !self.may_look_at_all() {
            return None;
        }
        self.reap();
        self.fit(request, usize::MAX)
    }

    /// Whether the number of frees since the last reap justifies another one.
    pub(super) fn may_look_at_all(&self) -> bool {
        (self.statistics.frees - self.reaped_at) * LOOKS_PER_FREE >= u64::from(self.blocks.slots())
    }

    /// A block of the request's owner, or one without an owner.
    fn fit(&self, Request { owner, class, size, .. }: Request, most: usize) -> Option<u32> {
        self.free.fit(&self.blocks, owner, class, size, most)
    }

    /// A block of another stream whose work is known to be complete, else one that was freed long ago.
    fn complete_or_old(&mut self, request: Request) -> Option<u32> {
        if request.owner == OwnerId::NOBODY {
            return None;
        }
        let mut candidates = [NONE; SOME];
        let fitting = self.free.fitting(&self.blocks, request.class, request.size, FEW);
        candidates.iter_mut().zip(fitting).for_each(|(slot, index)| *slot = index);
        let mut old = None;
        for index in candidates.into_iter().take_while(|index| *index != NONE) {
            let node = &mut self.blocks[index];
            if node.order.settle() {
                return Some(index);
            }
            if old.is_none() && self.statistics.frees - node.freed_at >= self.config.patience {
                old = Some(index);
            }
        }
        old
    }

    /// Reaps. Then a block that fits, else a block of any stream, whose work the new owner waits for on the device.
    #[cold]
    fn any(&mut self, request: Request) -> Option<u32> {
        self.reap();
        self.fit(request, usize::MAX).or_else(|| {
            let mut fitting = self.free.fitting(&self.blocks, request.class, request.size, usize::MAX);
            fitting.next().filter(|_| request.owner != OwnerId::NOBODY)
        })
    }

    /// Whether a thread is asking the source for memory.
    pub(super) fn is_asking(&self) -> bool {
        self.asking > 0
    }

    /// Whether a thread is getting memory from the source or returning it.
    pub(super) fn is_busy(&self) -> bool {
        self.is_asking() || self.statistics.leaving > 0
    }

    #[cold]
    pub(super) fn out_of_memory<E>(&mut self, requested: usize) -> PoolError<E> {
        self.let_all_go();
        let all = (0..self.blocks.slots()).map(|index| &self.blocks[index]);
        let largest_free = all.filter(|node| node.is_free()).map(|node| node.bytes).max().unwrap_or(0);
        PoolError::OutOfMemory { requested, statistics: Box::new(self.statistics), largest_free }
    }

    /// Moves the free blocks of a stream that is gone to no owner, or to [`OwnerId::ORPHANS`] while other streams use them.
    pub(super) fn orphan(&mut self, owner: OwnerId) {
        while let Some(index) = self.free.any(&self.blocks, owner) {
            self.free.remove(&mut self.blocks, index);
            self.blocks[index].owner = OwnerId::ORPHANS;
            self.update_owner(index);
            self.put(index);
        }
    }
}
