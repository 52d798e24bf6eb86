//! Memory that is allocated while a graph is captured: a pool of the graph's own.
//!
//! A graph writes the same addresses at each launch, so memory that it allocated may not go back to the device's pool when its
//! buffer is dropped, but when the graph is. Within the capture there is one stream, so what one buffer leaves the next may
//! have.

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

/// Small pieces share segments of this size, in bytes; others get as much as they need, in multiples of the second.
const SEGMENT: usize = 256 << 10;
const GRANULE: usize = 4 << 10;

/// The memory of one graph. Its segments are the device's pool's again when the graph and everything allocated in it are gone.
pub(crate) struct GraphMemory {
    space: Mutex<Space>,
    /// Its capture goes on, or left memory that nobody may use.
    open: AtomicBool,
}

/// Nothing is allocated, released or told of while it is locked.
struct Space {
    /// What pieces are cut from.
    pool: Pool<Alone>,
    /// All there is. They stay until the graph goes.
    segments: Vec<Segment>,
}

/// Memory of the device's pool.
pub(super) struct Segment {
    memory: Arc<Allocation>,
    bytes: usize,
}

/// Why there is no piece yet.
#[derive(Debug)]
pub(super) enum Lack {
    /// A segment of that many bytes is needed.
    Segment(usize),
    /// It is more than any device has.
    Space,
}

/// A piece of a graph's memory that somebody uses.
pub(crate) struct GraphPiece {
    memory: Arc<GraphMemory>,
    address: Handle<c_void>,
    bytes: usize,
    block: BlockId,
}

/// The order of uses within one capture: the stream's own.
#[derive(Clone, Default)]
struct Alone;

/// A source that has one segment at most. Who needs another makes one while nothing is locked and comes again.
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

    /// A piece of `bytes` bytes and what its first use has to come after. The capture goes on, and its list is locked.
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

    /// The capture is over: whoever has a piece may use it.
    pub(super) fn close(&self) {
        self.open.store(false, Ordering::Release);
    }

    /// There will be no graph, nor an end of the capture: nobody may use the memory any more. Gives what is to be dropped.
    pub(super) fn abandon(&self) -> Vec<Segment> {
        std::mem::take(&mut self.space.lock().segments)
    }

    /// What each launch of the graph writes.
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

    /// Whether a capture may use it now: its own, or any once that is over.
    pub(crate) fn may_be_used_by(&self, capture: Option<&Capture>) -> bool {
        !self.memory.is_open() || capture.is_some_and(|capture| Arc::ptr_eq(capture.memory(), &self.memory))
    }

    /// Gives it back to its graph, behind the work that may use it. In a function that a stream calls another thread does: who launches
    /// the graph has its memory locked while the driver is called.
    ///
    /// # Errors
    /// [`Error::InHostFunction`] if no thread can be had. Then it stays with the graph.
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
        // A pool that keeps nothing gives the segment up, but the graph holds on to it: it is written by each launch.
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

    /// The address of a segment that nobody has used yet.
    fn allocate(&mut self, bytes: usize) -> Result<Option<usize>, Lack> {
        let segment = self.fresh.take_if(|fresh| fresh.bytes == bytes).ok_or(Lack::Segment(bytes))?;
        let address = segment.memory.address().raw().expose_provenance();
        self.segments.push(segment);
        Ok(Some(address))
    }

    /// A pool that is never trimmed, may have any amount, and whose source never refuses, gives nothing back.
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
        // The graph keeps what it has.
        idle: usize::MAX,
        ..PoolConfig::default()
    }
}
