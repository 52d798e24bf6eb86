//! Memory that is allocated during a capture: a pool that belongs to the graph.
//!
//! A graph writes the same addresses at each launch. So its memory returns to the device's pool when the graph is dropped, not when a buffer
//! is. Within the capture there is one stream, so a dropped buffer's memory can be reused at once.

use super::capture::Capture;
use crate::handle::Handle;
use crate::memory::Allocation;
use crate::memory::pool::{BlockId, Order, Pool, PoolConfig, PoolError, Source};
use crate::order::Points;
use crate::stream::host_function;
use crate::{Error, Result, Stream};
use parking_lot::Mutex;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Small pieces share segments of `SEGMENT` bytes. A larger piece has a segment of its own, a multiple of `GRANULE` bytes.
const SEGMENT: usize = 256 << 10;
const GRANULE: usize = 4 << 10;

/// The memory of one graph. Its segments return to the device's pool when the graph and all its pieces are gone.
pub(crate) struct GraphMemory {
    space: Mutex<Space>,
    /// Whether only the capture may use the memory. Stays set if the buffers could not be zeroed at the end.
    open: AtomicBool,
}

/// While this is locked, no driver call is made and no code of the program runs.
struct Space {
    /// Cuts the segments into pieces.
    pool: Pool<Alone>,
    /// All segments. They stay until the graph is dropped.
    segments: Vec<Segment>,
}

/// Memory of the device's pool.
pub(super) struct Segment {
    memory: Arc<Allocation>,
    bytes: usize,
}

/// Why no piece was allocated.
#[derive(Debug)]
pub(super) enum Lack {
    /// A segment of that many bytes is needed.
    Segment(usize),
    /// It is more than any device has.
    Space,
}

/// A piece of a graph's memory that is in use.
pub(crate) struct GraphPiece {
    memory: Arc<GraphMemory>,
    address: Handle<c_void>,
    bytes: usize,
    block: BlockId,
}

/// The order of uses within one capture. All of them are on one stream, so there is nothing to record.
#[derive(Clone, Default)]
struct Alone;

/// A source of at most one segment. If another is needed, the caller allocates it while nothing is locked and tries again.
struct Fresh<'a> {
    fresh: &'a mut Option<Segment>,
    segments: &'a mut Vec<Segment>,
}

impl GraphMemory {
    pub(super) fn new(stream: &Stream) -> Arc<Self> {
        let own_pages = stream.device().platform().ext().own_pages;
        let config = if own_pages { PoolConfig::direct() } else { config() };
        let space = Space { pool: Pool::new(config), segments: Vec::new() };
        Arc::new(Self { space: Mutex::new(space), open: AtomicBool::new(true) })
    }

    /// Allocates a piece of `bytes` bytes, with the uses that its first use has to come after. The capture is active and its list is locked.
    pub(super) fn allocate(
        self: &Arc<Self>,
        bytes: usize,
        fresh: &mut Option<Segment>,
    ) -> Result<(GraphPiece, Points), Lack> {
        let mut space = self.space.lock();
        let Space { pool, segments } = &mut *space;
        let mut source = Fresh { fresh, segments };
        let block = pool.allocate(&mut source, bytes, 0).map_err(|error| match error {
            PoolError::Source(lack) => lack,
            PoolError::OutOfMemory { .. } => Lack::Space,
        })?;
        drop(space);
        let address = Handle::new(std::ptr::with_exposed_provenance_mut(block.address));
        let former = self.segment_of(address).map(|segment| segment.tracked().lock().all());
        let piece = GraphPiece { memory: Arc::clone(self), address, bytes, block: block.id };
        Ok((piece, former.unwrap_or_default()))
    }

    /// Whether only its capture may use it.
    fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Ends the capture: every owner of a piece may use it now.
    pub(super) fn close(&self) {
        self.open.store(false, Ordering::Release);
    }

    /// Gives the memory up: the capture cannot be ended, so there is no graph and nobody may use a piece. Returns the segments to drop.
    pub(super) fn abandon(&self) -> Vec<Segment> {
        std::mem::take(&mut self.space.lock().segments)
    }

    /// The segments, which each launch of the graph may write.
    pub(super) fn segments(&self) -> Vec<Arc<Allocation>> {
        self.space.lock().segments.iter().map(|segment| Arc::clone(&segment.memory)).collect()
    }

    fn segment_of(&self, address: Handle<c_void>) -> Option<Arc<Allocation>> {
        let segments = &self.space.lock().segments;
        let holds = |segment: &&Segment| {
            let offset = address.raw().addr().checked_sub(segment.memory.address().raw().addr());
            offset.is_some_and(|offset| offset < segment.bytes)
        };
        segments.iter().find(holds).map(|segment| Arc::clone(&segment.memory))
    }
}

impl GraphPiece {
    pub(crate) fn address(&self) -> Handle<c_void> {
        self.address
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn memory(&self) -> &Arc<GraphMemory> {
        &self.memory
    }

    /// Whether a capture, or work outside of captures, may use it now: only its own capture until that is over.
    pub(crate) fn may_be_used_by(&self, capture: Option<&Capture>) -> bool {
        !self.memory.is_open() || capture.is_some_and(|capture| Arc::ptr_eq(capture.memory(), &self.memory))
    }

    /// Returns it to its graph, after the work that may use it. A host function leaves that to another thread, because a launch of the graph
    /// holds the lock of its memory during a driver call.
    ///
    /// # Errors
    /// [`Error::InHostFunction`] if no thread can be started. Then the piece is not reused.
    pub(crate) fn release(self, former: Points) -> Result<()> {
        if !host_function::is_running() {
            self.release_here(former);
        } else if !host_function::elsewhere(move || self.release_here(former)) {
            return Err(Error::InHostFunction);
        }
        Ok(())
    }

    fn release_here(self, former: Points) {
        if let Some(segment) = self.memory.segment_of(self.address) {
            segment.tracked().lock().add_all(former);
        }
        // A direct pool returns the segment here, but the graph keeps it, because each launch writes it.
        let _departed = self.memory.space.lock().pool.free(self.block, 0, Alone);
    }
}

impl Segment {
    pub(super) fn new(stream: &Stream, bytes: usize) -> Result<Self> {
        let memory = Allocation::pooled(stream, bytes)?;
        memory.set_name("memory of a graph");
        Ok(Self { memory, bytes })
    }
}

impl Source<Alone> for Fresh<'_> {
    type Error = Lack;

    /// The address of the new segment.
    fn allocate(&mut self, bytes: usize) -> Result<Option<usize>, Lack> {
        let segment = self.fresh.take_if(|fresh| fresh.bytes == bytes).ok_or(Lack::Segment(bytes))?;
        let address = segment.memory.address().raw().expose_provenance();
        self.segments.push(segment);
        Ok(Some(address))
    }

    /// Never needed: the pool is never trimmed, has no limit, and its source never runs out of memory.
    fn release(&mut self, _address: usize, _bytes: usize, _order: Alone) -> Result<(), Lack> {
        Ok(())
    }
}

impl Order for Alone {
    fn merge(&mut self, _other: Self) {}

    fn settle(&mut self) -> bool {
        true
    }

    fn only_on(&self, _stream: u64) -> bool {
        true
    }
}

fn config() -> PoolConfig {
    PoolConfig {
        small_limit: SEGMENT / 4,
        small_segment: SEGMENT,
        large_limit: 0,
        large_segment: 0,
        segment_granule: GRANULE,
        // The graph keeps all its segments.
        idle: usize::MAX,
        ..PoolConfig::default()
    }
}
