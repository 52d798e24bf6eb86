//! Memory that is allocated while a graph is captured: a pool of the graph's own.
//!
//! A graph writes the same addresses at each launch, so memory that it allocated may not go back to the device's pool when its
//! buffer is dropped, but when the graph is. Within the capture there is one stream, so what one buffer leaves the next may
//! have.

use super::capture::Capture;
use crate::allocation::Allocation;
use crate::handle::Handle;
use crate::order::Points;
use crate::pool::{BlockId, Order, Pool, PoolConfig, PoolError, Source};
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
    pool: Mutex<Pool<Alone>>,
    segments: Mutex<Vec<Segment>>,
    /// Its capture goes on.
    open: AtomicBool,
}

/// Memory of the device's pool.
struct Segment {
    memory: Arc<Allocation>,
    bytes: usize,
}

/// A piece of a graph's memory that somebody uses.
pub(crate) struct GraphPiece {
    memory: Arc<GraphMemory>,
    address: Handle<c_void>,
    bytes: usize,
    block: Option<BlockId>,
}

/// The order of uses within one capture: the stream's own.
#[derive(Clone, Default)]
struct Alone;

/// The device's pool, as a source of segments. They stay until the graph goes.
struct Segments<'a> {
    stream: &'a Stream,
    list: &'a Mutex<Vec<Segment>>,
}

impl GraphMemory {
    pub(super) fn new(stream: &Stream) -> Arc<Self> {
        let own_pages = stream.device().platform().ext().own_pages;
        let config = if own_pages { PoolConfig::direct() } else { config() };
        Arc::new(Self {
            pool: Mutex::new(Pool::new(config)),
            segments: Mutex::default(),
            open: AtomicBool::new(true),
        })
    }

    /// A piece of `bytes` bytes and what its first use has to come after; none if the capture is over.
    pub(crate) fn allocate(
        self: &Arc<Self>,
        stream: &Stream,
        bytes: usize,
    ) -> Result<Option<(GraphPiece, Points)>> {
        let mut pool = self.pool.lock();
        if !self.is_open() {
            return Ok(None);
        }
        let mut source = Segments { stream, list: &self.segments };
        let block = match pool.allocate(&mut source, bytes, 0) {
            Ok(block) => block,
            Err(PoolError::Source(error)) => return Err(error),
            // More than any device has: its own pool says so.
            Err(PoolError::OutOfMemory { .. }) => {
                return Allocation::pooled(stream, bytes).map(|_| None);
            }
        };
        drop(pool);
        let address = Handle::new(std::ptr::with_exposed_provenance_mut(block.address));
        let former = self.segment_of(address).map(|segment| segment.tracked().lock().all());
        let memory = Arc::clone(self);
        let piece = GraphPiece { memory, address, bytes, block: Some(block.id) };
        Ok(Some((piece, former.unwrap_or_default())))
    }

    /// Whether its capture goes on. Until it is over, only the capture may use the memory.
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    pub(super) fn close(&self) {
        let _pool = self.pool.lock();
        self.open.store(false, Ordering::Release);
    }

    /// There will be no graph, nor an end of the capture: nobody may use the memory any more.
    pub(super) fn abandon(&self) {
        let segments = std::mem::take(&mut *self.segments.lock());
        drop(segments);
    }

    /// What each launch of the graph writes.
    pub(super) fn segments(&self) -> Vec<Arc<Allocation>> {
        self.segments.lock().iter().map(|segment| Arc::clone(&segment.memory)).collect()
    }

    fn segment_of(&self, address: Handle<c_void>) -> Option<Arc<Allocation>> {
        let segments = self.segments.lock();
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

    /// Gives it back to its graph, behind the work that may use it.
    pub(crate) fn release(self, former: Points) {
        if let Some(segment) = self.memory.segment_of(self.address) {
            segment.tracked().lock().add_all(former);
        }
        // If the pool is in use, perhaps by this thread's own allocation, the block just is not used again.
        if let (Some(block), Some(mut pool)) = (self.block, self.memory.pool.try_lock()) {
            // A pool that keeps nothing gives the segment up, but the graph holds on to it: it is written by each launch.
            let _departed = pool.free(block, 0, Alone);
        }
    }
}

impl Source<Alone> for Segments<'_> {
    type Error = Error;

    fn allocate(&mut self, bytes: usize) -> Result<Option<usize>> {
        let memory = Arc::new(Allocation::pooled(self.stream, bytes)?);
        memory.set_name("memory of a graph");
        let address = memory.address().raw().expose_provenance();
        self.list.lock().push(Segment { memory, bytes });
        Ok(Some(address))
    }

    /// A pool that is never trimmed and whose source never refuses asks for nothing back.
    fn release(&mut self, _address: usize, _bytes: usize, _order: Alone) -> Result<()> {
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
        ..PoolConfig::default()
    }
}
