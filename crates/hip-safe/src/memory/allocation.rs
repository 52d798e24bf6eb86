//! Allocations: ranges of device memory with the record of their uses. Buffers add a type and a length.

use super::check::{BufferKind, Registration};
use super::device_memory::Piece;
use super::unpooled::Unpooled;
use crate::graph::{GraphMemory, GraphPiece};
use crate::handle::Handle;
use crate::order::{Points, Tracked, Uses, UsesGuard, not_in_host_function};
use crate::{Device, Error, Result, Stream, drop_errors};
use hip_sys::Access;
use parking_lot::Mutex;
use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{self, AtomicBool, AtomicUsize, Ordering};

/// Device memory with the record of its uses. The last owner returns it to the device's pool together with its uses, and the next owner comes
/// after them.
pub(crate) struct Allocation {
    held: Option<Held>,
    /// Null if it has no bytes.
    address: Handle<c_void>,
    stream: Stream,
    /// The stream that the buffer was bound to since, if any. The pool gets the memory back on this stream.
    release_stream: Mutex<Option<Stream>>,
    tracked: Tracked,
    /// How many graphs read it, and how many write it. An active capture counts as a graph.
    graphs: [AtomicUsize; 2],
    ordered: AtomicBool,
    /// Its entry in the list of live buffers, if that is kept.
    listed: Option<Registration>,
}

/// The memory that an allocation owns.
enum Held {
    /// A piece of its device's pool.
    Pooled(Piece),
    Unpooled(Unpooled),
    /// A piece of a graph's memory.
    Graph(GraphPiece),
}

impl Allocation {
    /// Allocates `bytes` bytes of undefined content, without a call for 0 bytes. During a capture the memory belongs to the graph.
    pub(crate) fn new(stream: &Stream, bytes: usize) -> Result<Arc<Self>> {
        if bytes == 0 {
            return Ok(Arc::new(Self::empty(stream)));
        }
        if let Some(capture) = stream.turn().capture()
            && let Some(allocation) = capture.allocate(stream, bytes)?
        {
            return Ok(allocation);
        }
        Self::pooled(stream, bytes)
    }

    /// An allocation of no bytes.
    pub(crate) fn empty(stream: &Stream) -> Self {
        Self::holding(stream, None, Uses::default(), None)
    }

    /// A piece of a graph's memory, with the uses of its former owners. The list of live buffers has an entry for the segment, not for the piece.
    pub(crate) fn of_graph(stream: &Stream, piece: GraphPiece, former: Points) -> Self {
        Self::holding(stream, Some(Held::Graph(piece)), Uses::after(former), None)
    }

    /// As [`Allocation::new`], from the device's pool, whether the stream captures or not.
    #[inline]
    pub(crate) fn pooled(stream: &Stream, bytes: usize) -> Result<Arc<Self>> {
        let (piece, former) = stream.device().memory().allocate(stream, bytes)?;
        let listed = Registration::new(BufferKind::Device, stream.device(), bytes);
        // It is written in place, because the value is large.
        let memory = Arc::<Self>::new_uninit();
        let to = Arc::as_ptr(&memory).cast_mut().cast::<Self>();
        // SAFETY: S4: the memory was just allocated, and there is no other reference to it.
        unsafe { to.write(Self::holding(stream, Some(Held::Pooled(piece)), Uses::after(former), listed)) };
        // SAFETY: S12: it was just written.
        Ok(unsafe { memory.assume_init() })
    }

    /// `bytes` bytes on the stream's device without former uses, which do not come from its pool.
    pub(crate) fn of_unpooled(stream: &Stream, memory: Unpooled, kind: BufferKind, bytes: usize) -> Self {
        let listed = Registration::new(kind, stream.device(), bytes);
        Self::holding(stream, Some(Held::Unpooled(memory)), Uses::default(), listed)
    }

    #[inline]
    fn holding(stream: &Stream, held: Option<Held>, uses: Uses, listed: Option<Registration>) -> Self {
        let address = match &held {
            None => Handle::null(),
            Some(Held::Pooled(piece)) => piece.address(),
            Some(Held::Graph(piece)) => piece.address(),
            Some(Held::Unpooled(memory)) => memory.address(),
        };
        let tracked = match &held {
            // SAFETY: S4: the result holds a reference to the same stream.
            Some(Held::Pooled(_)) => unsafe { Tracked::with_own_stream(stream, uses) },
            _ => Tracked::new(uses),
        };
        let (stream, release_stream, graphs) = (stream.clone(), Mutex::default(), Default::default());
        Self {
            held,
            address,
            stream,
            release_stream,
            tracked,
            graphs,
            ordered: AtomicBool::new(true),
            listed,
        }
    }

    pub(crate) fn address(&self) -> Handle<c_void> {
        self.address
    }

    /// The piece of a graph's memory, if it is one.
    pub(crate) fn graph_piece(&self) -> Option<&GraphPiece> {
        if let Some(Held::Graph(piece)) = &self.held { Some(piece) } else { None }
    }

    /// The graph's memory that it is a piece of, if it is one.
    pub(crate) fn graph_memory(&self) -> Option<&Arc<GraphMemory>> {
        self.graph_piece().map(GraphPiece::memory)
    }

    /// Whether it is a piece of its device's pool or of a graph's memory. Host code never has a slice of those.
    pub(crate) fn is_pooled(&self) -> bool {
        !matches!(&self.held, Some(Held::Unpooled(_)))
    }

    /// The stream that it was allocated on.
    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    pub(crate) fn device(&self) -> &Device {
        self.stream.device()
    }

    /// Sets its name in the list of live buffers, if that is kept.
    pub(crate) fn set_name(&self, name: impl fmt::Display) {
        if let Some(listed) = &self.listed {
            listed.set_name(name);
        }
    }

    pub(crate) fn tracked(&self) -> &Tracked {
        &self.tracked
    }

    /// Counts one more graph that uses it.
    pub(crate) fn enter_graph(&self, access: Access) {
        self.graphs_that(access).fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn leave_graph(&self, access: Access) {
        self.graphs_that(access).fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a graph uses it.
    pub(crate) fn is_used_by_graphs(&self) -> bool {
        self.graphs.iter().any(|graphs| graphs.load(Ordering::Relaxed) > 0)
    }

    /// Whether a graph writes it, not counting the one that this thread captures from `stream`.
    #[inline]
    pub(crate) fn is_written_by_graphs(self: &Arc<Self>, stream: &Stream) -> bool {
        match self.graphs_that(Access::WRITE).load(Ordering::Relaxed) {
            0 => false,
            graphs => self.is_written_by_others(graphs, stream),
        }
    }

    #[cold]
    fn is_written_by_others(self: &Arc<Self>, graphs: usize, stream: &Stream) -> bool {
        // A host function captures nothing, and must not wait for a thread that begins a capture.
        let may_capture = not_in_host_function().is_ok();
        let own = may_capture && stream.turn().capture().is_some_and(|capture| capture.writes(self));
        graphs > usize::from(own)
    }

    fn graphs_that(&self, access: Access) -> &AtomicUsize {
        &self.graphs[usize::from(access == Access::WRITE)]
    }

    /// Whether this is the only counted reference. If so, everything that former owners did happens before what follows.
    #[inline]
    pub(crate) fn has_one_owner(self: &Arc<Self>) -> bool {
        let one = Arc::strong_count(self) == 1;
        atomic::fence(Ordering::Acquire);
        one
    }

    /// Its uses without the lock, if this is the only counted reference.
    ///
    /// # Safety
    /// While the result lives, no other thread clones this reference or reaches the uses through it.
    #[inline]
    pub(crate) unsafe fn exclusive_uses(self: &Arc<Self>) -> Option<UsesGuard<'_>> {
        // A capture holds weak references to its pieces, and upgrades them.
        if self.graph_piece().is_some() || !self.has_one_owner() {
            return None;
        }
        // SAFETY: S8: this is the only reference, and the caller promises that no other thread uses it.
        Some(unsafe { self.tracked.exclusive_guard() })
    }

    /// Whether it comes from the pool of the stream's device, and this crate orders its uses.
    #[inline]
    pub(crate) fn is_eligible(&self, stream: &Stream) -> bool {
        let same_device = || self.stream == *stream || self.device() == stream.device();
        matches!(&self.held, Some(Held::Pooled(_))) && self.is_ordered() && same_device()
    }

    /// Whether this crate orders its uses, and not the caller.
    pub(crate) fn is_ordered(&self) -> bool {
        self.ordered.load(Ordering::Relaxed)
    }

    /// Leaves the order of its uses to the caller. The buffer is borrowed exclusively.
    pub(crate) fn leave_order(&self) {
        self.tracked.require_lock_exclusive();
        self.ordered.store(false, Ordering::Relaxed);
    }

    pub(crate) fn set_release_stream(&self, stream: &Stream) {
        // This may be the last reference to the former stream, so it is dropped after the lock.
        let former = self.release_stream.lock().replace(stream.clone());
        drop(former);
    }

    /// Returns the memory with its uses. Memory that does not come from a pool waits for them.
    #[inline]
    pub(crate) fn release(&mut self) -> Result<()> {
        let Some(held) = self.held.take() else { return Ok(()) };
        // Memory that could not be returned stays listed.
        let listed = ManuallyDrop::new(self.listed.take());
        let stream = self.release_stream.get_mut().as_ref().unwrap_or(&self.stream);
        let uses = self.tracked.get_mut();
        if !*self.ordered.get_mut() {
            uses.assume_written(stream);
        }
        match held {
            Held::Graph(piece) => piece.release(uses.take()),
            Held::Pooled(piece) => stream.device().memory().release(stream, piece, uses.take()),
            Held::Unpooled(memory) => memory.release(stream.device(), &self.tracked),
        }?;
        drop(ManuallyDrop::into_inner(listed));
        Ok(())
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // This runs on a lost device too, because a return to the pool makes no call.
        let released = self.release();
        if self.device().is_usable() {
            drop_errors::report_failure(released);
        }
    }
}

/// Drops one reference. The last one releases the memory and returns the error of that.
pub(crate) fn close(allocation: Arc<Allocation>) -> Result<()> {
    Arc::into_inner(allocation).map_or(Ok(()), |mut last| last.release())
}

/// The bytes of `count` elements of `T`.
pub(crate) fn byte_length<T>(count: usize) -> Result<usize> {
    let element_bytes = size_of::<T>();
    match count.checked_mul(element_bytes) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(bytes),
        _ => Err(Error::SizeOverflow { count, element_bytes }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_in_bytes_are_checked() {
        assert_eq!(byte_length::<u64>(3).ok(), Some(24));
        assert_eq!(byte_length::<()>(usize::MAX).ok(), Some(0));
        assert_eq!(byte_length::<u8>(isize::MAX as usize).ok(), Some(isize::MAX as usize));
        for count in [(1 << 61) + 1, 1 << 61, 1 << 60, usize::MAX] {
            match byte_length::<u64>(count) {
                Err(Error::SizeOverflow { count: named, element_bytes: 8 }) => assert_eq!(named, count),
                other => panic!("{count} elements: {other:?}"),
            }
        }
    }

    #[cfg(not(loom))]
    #[test]
    fn uses_need_the_lock_while_there_is_another_reference() {
        let stream = Device::new(&hip_host::platform(), 0).unwrap().new_stream().unwrap();
        let allocation = Allocation::pooled(&stream, 64).unwrap();
        // SAFETY: S8: no other thread has a reference.
        let exclusive = |allocation: &Arc<Allocation>| unsafe { allocation.exclusive_uses().is_some() };
        assert!(exclusive(&allocation));
        let other = Arc::clone(&allocation);
        assert!(!exclusive(&allocation));
        drop(other);
        assert!(exclusive(&allocation));

        let mut piece = None;
        let captured = stream.capture(|stream| {
            piece = Some(Allocation::new(stream, 64)?);
            Ok(())
        });
        let piece = piece.unwrap();
        assert!(piece.graph_piece().is_some() && !exclusive(&piece));
        drop(captured);
        assert!(Arc::strong_count(&piece) == 1 && !exclusive(&piece));
    }
}
