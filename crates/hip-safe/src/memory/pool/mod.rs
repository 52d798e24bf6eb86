//! A caching pool of device memory, ordered by streams: a pure state machine.
//!
//! A pool has segments from a [`Source`] and cuts them into blocks. A block that is freed keeps in mind what work may still use
//! it, as an [`Order`], and can be handed out at once: to its own stream without any wait, to another one together with
//! the order, which the new owner waits for on the device. An allocation looks, in this order, at
//! 1. free blocks of its stream that only that stream uses,
//! 2. blocks that nothing uses, which are nobody's,
//! 3. free blocks of its stream that other streams use too,
//! 4. blocks of other streams whose work is known to be complete, or that were freed long ago,
//! 5. the source: a new segment. If the pool would have far more than its program uses then, a block of any stream is taken first; if there
//!    is none, segments without a block in use are given back, those that were used last longest ago before others.
//!
//! If the source refuses: all free blocks are looked at and joined; a block of any stream is taken; all segments without a
//! block in use are given back, which waits for their work; what other threads give back or get is waited for; the source is asked
//! once more; and then there is an error with the figures. A [`SharedPool`] is free for other threads during all of these waits.
//!
//! The blocks freed last are kept apart for a moment, for a request of the same size. All other free neighbours are one block as soon as they have one home or one of them is nobody's. The pool calls no driver, has no locks and reads
//! no memory: addresses are numbers to it.

mod bins;
mod block;
mod config;
mod free_lists;
mod held;
mod ladder;
mod segments;
mod shared;
mod space;
mod statistics;
#[cfg(test)]
mod tests;

pub(crate) use config::PoolConfig;
pub(crate) use shared::SharedPool;
pub use statistics::PoolStatistics;

use block::{Blocks, State};
use free_lists::{FreeLists, OwnerId};
use held::Held;
use segments::Segments;
use space::Request;

/// What work may still use a block: points on streams.
///
/// A pool never drops a point that is not complete. A block carries its points to its new owner, also those on the owner's own stream, and
/// the owner has to give those that are not complete by then back with it: else another stream could have the block too early.
pub(crate) trait Order: Clone + Default {
    /// Takes over the other's points as well; for each stream the later one.
    fn merge(&mut self, other: Self);
    /// Forgets the points that are known to be complete, without a call of the driver; true if none is left.
    fn settle(&mut self) -> bool;
    /// Whether every point left is on this stream, or none is left.
    fn only_on(&self, stream: u64) -> bool;
}

/// Where a pool has its memory from. A pool that is [shared](SharedPool) is not locked while its source is asked.
pub(crate) trait Source<O: Order> {
    type Error;
    /// The address of new memory, a multiple of 512; none if there is not that much. It runs no code of the program's.
    fn allocate(&mut self, bytes: usize) -> Result<Option<usize>, Self::Error>;
    /// Waits for `order`, then gives the memory back. After an error it counts as lost.
    fn release(&mut self, address: usize, bytes: usize, order: O) -> Result<(), Self::Error>;
    /// Whether this thread may wait for other threads' calls: not within one of its own.
    fn may_wait(&self) -> bool {
        true
    }
    /// Whether memory may be given back that nobody has asked for: not if that would be in somebody's way.
    fn may_release(&self) -> bool {
        self.may_wait()
    }
}

/// Why there is no block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PoolError<E> {
    /// What the source says.
    Source(E),
    /// The source refused, and no rung helped.
    OutOfMemory {
        /// What was asked for, in bytes.
        requested: usize,
        /// The pool's figures after all rungs.
        statistics: Box<PoolStatistics>,
        /// The largest free block in bytes: not large enough, or of the class that the request is not of.
        largest_free: usize,
    },
}

/// Names a block in use. There is one of it, and [`Pool::free`] takes it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BlockId(u32);

/// A block handed out.
#[derive(Debug)]
pub(crate) struct Block<O> {
    pub(crate) id: BlockId,
    pub(crate) address: usize,
    /// At least what was asked for.
    pub(crate) bytes: usize,
    /// What has to be waited for before its first use. Points on the stream that it was allocated for are left in it.
    pub(crate) order: O,
}

/// Memory that left the pool, and counts as leaving: once `order` is complete, its owner gives it back to the source.
#[derive(Debug)]
#[must_use]
pub(crate) struct Departed<O> {
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    pub(crate) order: O,
}

/// What a pool has not.
enum Missing {
    Request(Request),
    /// So many bytes are more than any pool has.
    TooLarge(usize),
}

/// A pool of memory of one device. See the [module](self).
pub(crate) struct Pool<O> {
    config: PoolConfig,
    blocks: Blocks<O>,
    segments: Segments,
    free: FreeLists,
    held: Held,
    statistics: PoolStatistics,
    /// The count of frees when all blocks were looked at last.
    reaped_at: u64,
    /// How many threads ask the source for memory.
    asking: u32,
    /// What was to be in use when a block was reserved, at most.
    expected: usize,
}

impl<O: Order> Pool<O> {
    pub(crate) fn new(config: PoolConfig) -> Self {
        Self {
            config,
            blocks: Blocks::new(),
            segments: Segments::default(),
            free: FreeLists::new(),
            held: Held::new(),
            statistics: PoolStatistics::default(),
            reaped_at: 0,
            asking: 0,
            expected: 0,
        }
    }

    /// A block of at least `bytes` bytes, which are not 0, that is first used on a stream. The stream lives on meanwhile.
    ///
    /// # Errors
    /// Those of the source, and [`PoolError::OutOfMemory`]. Nothing is in use then that was not before.
    pub(crate) fn allocate<S: Source<O>>(
        &mut self,
        source: &mut S,
        bytes: usize,
        stream: u64,
    ) -> Result<Block<O>, PoolError<S::Error>> {
        match self.look(bytes, stream) {
            Ok(index) => Ok(self.hand_out(index)),
            Err(missing) => ladder::allocate_anew(&mut &mut *self, source, missing),
        }
    }

    /// Takes a block that the pool has.
    #[inline]
    fn look(&mut self, bytes: usize, stream: u64) -> Result<u32, Missing> {
        debug_assert!(bytes > 0, "no bytes are not the pool's business");
        let Some(request) = self.request(bytes) else { return Err(Missing::TooLarge(bytes)) };
        let request = Request { owner: self.free.of(&mut self.blocks, stream), ..request };
        if let Some(index) = self.take_held(request) {
            self.statistics.hits += 1;
            return Ok(index);
        }
        let found = (!self.config.direct).then(|| self.cached(request)).flatten();
        let Some(index) = found else { return Err(Missing::Request(request)) };
        self.statistics.hits += 1;
        self.take(index, request);
        Ok(index)
    }

    /// What a request of nobody's is for; none if no pool has so much.
    #[inline]
    fn request(&self, bytes: usize) -> Option<Request> {
        let size = config::block_size(bytes)?;
        Some(Request { bytes, size, class: self.config.class(size), owner: OwnerId::NOBODY })
    }

    /// Takes a block back that is bound to `stream` and used by `order`. A direct pool does not keep it: the caller gives it
    /// back to the source.
    #[inline]
    pub(crate) fn free(&mut self, id: BlockId, stream: u64, mut order: O) -> Option<Departed<O>> {
        let BlockId(index) = id;
        let mut owner = self.free.of(&mut self.blocks, stream);
        let mut state = State::Untouched;
        if !order.only_on(stream) {
            if order.settle() {
                owner = OwnerId::NOBODY;
            } else if !order.only_on(stream) {
                state = State::Touched;
            }
        }
        let node = &mut self.blocks[index];
        assert!(node.state == State::Live, "a block that is not in use was freed");
        self.statistics.taken_back(node.requested, node.bytes);
        node.freed_at = self.statistics.frees;
        (node.owner, node.state, node.order) = (owner, state, order);
        let segment = node.segment;
        self.segments.get_mut(segment).live -= 1;
        // With several streams, what is kept apart costs room that the others lack.
        let alone = !self.free.has_several() && !self.config.direct;
        if alone && state == State::Untouched && owner != OwnerId::NOBODY {
            self.hold(index);
            return None;
        }
        self.put(index);
        if self.free.is_nearly_alone() && self.may_look_at_all() {
            self.reap();
        }
        self.config.direct.then(|| self.remove_segment(segment))
    }

    pub(crate) fn statistics(&self) -> PoolStatistics {
        self.statistics
    }

    /// A stream is gone and its work is complete: its free blocks become anyone's, once other streams' work on them is complete.
    pub(crate) fn forget_stream(&mut self, stream: u64) {
        self.let_all_go();
        if let Some(owner) = self.free.forget(stream) {
            self.orphan(owner);
            self.free.count_streams(&mut self.blocks);
        }
    }
}
