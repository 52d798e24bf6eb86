//! A stream-ordered caching pool of device memory, as a pure state machine.
//!
//! A pool gets segments from a [`Source`] and cuts them into blocks. A freed block records the work that may still use it, as an [`Order`]. It
//! can be allocated again at once: on its own stream without a wait, or on another stream together with the order, for which the new owner waits
//! on the device. An allocation looks in this order at:
//! 1. free blocks of its stream that only that stream uses,
//! 2. free blocks that no work uses, which belong to no stream,
//! 3. free blocks of its stream that other streams use too,
//! 4. blocks of other streams whose work is known to be complete, or that were freed long ago,
//! 5. the source, for a new segment. If the pool would then hold far more than the program uses, it first takes a block of any stream, or
//!    returns unused segments, least recently used first.
//!
//! If the source is out of memory, the pool settles and joins all free blocks; takes a block of any stream; returns all unused segments, which
//! waits for their work; waits for calls of other threads; and asks the source once more. Then it returns an error with its figures. Other
//! threads can use a [`SharedPool`] during all of these waits.
//!
//! The blocks that were freed last are held for a request of the same size. All other free neighbours are joined if they have the same owner,
//! or one of them has none. The pool calls no driver, takes no lock and reads no memory: addresses are numbers to it.

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

/// The work that may still use a block: points on streams.
///
/// A pool never drops a pending point. A block carries its points to its new owner, also those on the owner's own stream. The owner has to
/// return the points that are still pending when it frees the block, or another stream could get the block too early.
pub(crate) trait Order: Clone + Default {
    /// Adds the other's points. Of two points on one stream the later one stays.
    fn merge(&mut self, other: Self);
    /// Removes the points that are known to be complete, without a driver call. True if none is left.
    fn settle(&mut self) -> bool;
    /// Whether all points are on this stream.
    fn only_on(&self, stream: u64) -> bool;
}

/// The source of a pool's memory. A [`SharedPool`] is not locked during calls of its source.
pub(crate) trait Source<O: Order> {
    type Error;
    /// The address of new memory, a multiple of 512; `None` if there is not enough. It must not run code of the program.
    fn allocate(&mut self, bytes: usize) -> Result<Option<usize>, Self::Error>;
    /// Waits for `order`, then frees the memory. After an error the memory counts as lost.
    fn release(&mut self, address: usize, bytes: usize, order: O) -> Result<(), Self::Error>;
    /// Whether this thread may wait for calls of other threads. It may not inside a call of its own.
    fn may_wait(&self) -> bool {
        true
    }
    /// Whether unused segments may be freed now without a request to do so.
    fn may_release(&self) -> bool {
        self.may_wait()
    }
}

/// Why an allocation failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PoolError<E> {
    /// The error of the source.
    Source(E),
    /// The source is out of memory, and no step of the ladder helped.
    OutOfMemory {
        /// The requested bytes.
        requested: usize,
        /// The pool's figures after all steps.
        statistics: Box<PoolStatistics>,
        /// The largest free block in bytes. It is too small, or of another class than the request.
        largest_free: usize,
    },
}

/// The unique name of a block in use. [`Pool::free`] consumes it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BlockId(u32);

/// A block that was allocated.
#[derive(Debug)]
pub(crate) struct Block<O> {
    pub(crate) id: BlockId,
    pub(crate) address: usize,
    /// At least the requested bytes.
    pub(crate) bytes: usize,
    /// The points that its first use has to come after. They may include points on the stream that it was allocated for.
    pub(crate) order: O,
}

/// A segment that left the pool and counts as `leaving`. The owner of this waits for `order` and returns the memory to the source.
#[derive(Debug)]
#[must_use]
pub(crate) struct Departed<O> {
    pub(crate) address: usize,
    pub(crate) bytes: usize,
    pub(crate) order: O,
}

/// A request that the pool has no block for.
enum Missing {
    Request(Request),
    /// More bytes than any pool can have.
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
    /// The count of frees at the last [`Pool::reap`].
    reaped_at: u64,
    /// The number of threads that are in a call of [`Source::allocate`].
    asking: u32,
    /// The most bytes that were announced to be in use, by reservations.
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

    /// Allocates a block of at least `bytes` bytes, which are not 0, for first use on a stream. The stream is alive during the call.
    ///
    /// # Errors
    /// Those of the source, and [`PoolError::OutOfMemory`]. The blocks in use are unchanged then.
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

    /// Takes a free block of the pool without the source.
    #[inline]
    fn look(&mut self, bytes: usize, stream: u64) -> Result<u32, Missing> {
        debug_assert!(bytes > 0, "an allocation of no bytes");
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

    /// A request without an owner; `None` for more bytes than any pool can have.
    #[inline]
    fn request(&self, bytes: usize) -> Option<Request> {
        let size = config::block_size(bytes)?;
        Some(Request { bytes, size, class: self.config.class(size), owner: OwnerId::NOBODY })
    }

    /// Frees a block that is bound to `stream` and used by `order`. A direct pool does not keep it: the caller returns it to the source.
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
        // With several streams, held blocks would be memory that the other streams cannot use.
        let may_hold = !self.free.has_several() && !self.config.direct;
        if may_hold && state == State::Untouched && owner != OwnerId::NOBODY {
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

    /// Called when a stream is gone and its work is complete. Its free blocks belong to no stream once other streams' work on them is complete.
    pub(crate) fn forget_stream(&mut self, stream: u64) {
        self.let_all_go();
        if let Some(owner) = self.free.forget(stream) {
            self.orphan(owner);
            self.free.count_streams(&mut self.blocks);
        }
    }
}
