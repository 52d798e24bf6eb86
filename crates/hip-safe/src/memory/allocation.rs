//! A range of device memory. Buffers put a type and a length on top.

use super::check::{BufferKind, Registration};
use super::device_memory::Piece;
use super::unpooled::Unpooled;
use crate::graph::{GraphMemory, GraphPiece};
use crate::handle::Handle;
use crate::order::{Points, Taken, Tracked, Uses, not_in_host_function};
use crate::{Device, Error, Result, Stream, drop_errors};
use hip_sys::Access;
use parking_lot::Mutex;
use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{self, AtomicBool, AtomicUsize, Ordering};

/// Device memory, and the work that uses it. The last owner gives it back to the device's pool, which hands it on behind
/// that work.
pub(crate) struct Allocation {
    held: Option<Held>,
    /// Null for no memory.
    address: Handle<c_void>,
    stream: Stream,
    /// The stream that its owner works on since, if it is another one: what comes next is cheapest there.
    home: Mutex<Option<Stream>>,
    tracked: Tracked,
    /// How many graphs read it, and how many write it, whenever they are launched; one that is being captured counts.
    graphs: [AtomicUsize; 2],
    ordered: AtomicBool,
    /// Its place among those that live, if that is remembered.
    listed: Option<Registration>,
}

/// What an allocation owns.
enum Held {
    /// A piece of its device's pool.
    Pooled(Piece),
    Unpooled(Unpooled),
    /// A piece of a graph's memory.
    Graph(GraphPiece),
}

impl Allocation {
    /// Allocates `bytes` bytes of undefined content; none at all, and without a call, for 0. While the stream captures they
    /// are the graph's.
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

    /// No memory.
    pub(crate) fn empty(stream: &Stream) -> Self {
        Self::holding(stream, None, Uses::default(), None)
    }

    /// A piece of a graph's memory, which others may have used before. Lists of live buffers have the segment that it is of.
    pub(crate) fn of_graph(stream: &Stream, piece: GraphPiece, former: Points) -> Self {
        Self::holding(stream, Some(Held::Graph(piece)), Uses::after(former), None)
    }

    /// As [`Allocation::new`], from the device's pool, whether the stream captures or not.
    #[inline]
    pub(crate) fn pooled(stream: &Stream, bytes: usize) -> Result<Arc<Self>> {
        let (piece, former) = stream.device().memory().allocate(stream, bytes)?;
        let listed = Registration::new(BufferKind::Device, stream.device(), bytes);
        // It is large: it is made where it stays.
        let place = Arc::<Self>::new_uninit();
        let to = Arc::as_ptr(&place).cast_mut().cast::<Self>();
        // SAFETY: S4: the place was just made, and there is no other reference to it.
        unsafe { to.write(Self::holding(stream, Some(Held::Pooled(piece)), Uses::after(former), listed)) };
        // SAFETY: S12: it was just written.
        Ok(unsafe { place.assume_init() })
    }

    /// `bytes` bytes of the stream's device that nobody has used yet, and that do not come from its pool.
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
            // SAFETY: S4: the stream that is kept beside it is the same.
            Some(Held::Pooled(_)) => unsafe { Tracked::at_home(stream, uses) },
            _ => Tracked::new(uses),
        };
        let (stream, home, graphs) = (stream.clone(), Mutex::default(), Default::default());
        Self { held, address, stream, home, tracked, graphs, ordered: AtomicBool::new(true), listed }
    }

    pub(crate) fn address(&self) -> Handle<c_void> {
        self.address
    }

    /// The piece of a graph's memory that it is, if it is one.
    pub(crate) fn graph_piece(&self) -> Option<&GraphPiece> {
        if let Some(Held::Graph(piece)) = &self.held { Some(piece) } else { None }
    }

    /// The memory that it is a piece of, if that is a graph's.
    pub(crate) fn graph_memory(&self) -> Option<&Arc<GraphMemory>> {
        self.graph_piece().map(GraphPiece::memory)
    }

    /// Whether it is a piece of its device's pool or of a graph's memory, which no host code has a slice of.
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

    /// How lists of live buffers name it, if they are kept.
    pub(crate) fn set_name(&self, name: impl fmt::Display) {
        if let Some(listed) = &self.listed {
            listed.set_name(name);
        }
    }

    pub(crate) fn tracked(&self) -> &Tracked {
        &self.tracked
    }

    /// A graph uses it from now on.
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

    /// Whether a graph writes it, beside the one that this thread captures from `stream`.
    #[inline]
    pub(crate) fn is_written_by_graphs(self: &Arc<Self>, stream: &Stream) -> bool {
        match self.graphs_that(Access::WRITE).load(Ordering::Relaxed) {
            0 => false,
            graphs => self.is_written_by_others(graphs, stream),
        }
    }

    #[cold]
    fn is_written_by_others(self: &Arc<Self>, graphs: usize, stream: &Stream) -> bool {
        // A host function captures nothing, and must not wait for who begins a capture.
        let may_capture = not_in_host_function().is_ok();
        let own = may_capture && stream.turn().capture().is_some_and(|capture| capture.writes(self));
        graphs > usize::from(own)
    }

    fn graphs_that(&self, access: Access) -> &AtomicUsize {
        &self.graphs[usize::from(access == Access::WRITE)]
    }

    /// Whether there is no other counted reference to it. What the former owners of others did comes before what follows.
    #[inline]
    pub(crate) fn has_one_owner(self: &Arc<Self>) -> bool {
        let one = Arc::strong_count(self) == 1;
        atomic::fence(Ordering::Acquire);
        one
    }

    /// Its uses without a lock, if there is no other counted reference to it.
    ///
    /// # Safety
    /// While the result lives nobody else makes another reference of this one, or reaches the uses by it.
    #[inline]
    pub(crate) unsafe fn uses_alone(self: &Arc<Self>) -> Option<Taken<'_>> {
        // A capture knows its pieces by weak references, and makes strong ones of them.
        if self.graph_piece().is_some() || !self.has_one_owner() {
            return None;
        }
        // SAFETY: S8: nobody reaches them by this reference, as the caller says, and there is no other.
        Some(unsafe { self.tracked.take_alone() })
    }

    /// Whether it is of the pool of the stream's device, and we order its uses.
    #[inline]
    pub(crate) fn is_usual(&self, stream: &Stream) -> bool {
        let same_device = || self.stream == *stream || self.device() == stream.device();
        matches!(&self.held, Some(Held::Pooled(_))) && self.is_ordered() && same_device()
    }

    /// Whether we order its uses, not the caller.
    pub(crate) fn is_ordered(&self) -> bool {
        self.ordered.load(Ordering::Relaxed)
    }

    /// From now on the caller orders its uses. The buffer is borrowed exclusively.
    pub(crate) fn leave_order(&self) {
        self.tracked.forbid_home_alone();
        self.ordered.store(false, Ordering::Relaxed);
    }

    pub(crate) fn set_home(&self, stream: &Stream) {
        // The former one may end with this reference: it goes after the lock.
        let former = self.home.lock().replace(stream.clone());
        drop(former);
    }

    /// Gives it back, behind the work that may use it. Memory that is not the pool's waits for that work.
    #[inline]
    pub(crate) fn release(&mut self) -> Result<()> {
        let Some(held) = self.held.take() else { return Ok(()) };
        // What cannot be given back stays listed.
        let listed = ManuallyDrop::new(self.listed.take());
        let home = self.home.get_mut().as_ref().unwrap_or(&self.stream);
        let uses = self.tracked.get_mut();
        if !*self.ordered.get_mut() {
            uses.assume_written(home);
        }
        match held {
            Held::Graph(piece) => piece.release(uses.take()),
            Held::Pooled(piece) => home.device().memory().release(home, piece, uses.take()),
            Held::Unpooled(memory) => memory.release(home.device(), &self.tracked),
        }?;
        drop(ManuallyDrop::into_inner(listed));
        Ok(())
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // Without a call it goes back even if calls cannot be made any more.
        let released = self.release();
        if self.device().is_usable() {
            drop_errors::report_failure(released);
        }
    }
}

/// Gives up one reference; the last one releases the memory and says how that went.
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
    fn uses_are_locked_while_somebody_else_may_have_them() {
        let stream = Device::new(&hip_host::platform(), 0).unwrap().new_stream().unwrap();
        let allocation = Allocation::pooled(&stream, 64).unwrap();
        // SAFETY: S8: no other thread has a reference.
        let alone = |allocation: &Arc<Allocation>| unsafe { allocation.uses_alone().is_some() };
        assert!(alone(&allocation));
        let other = Arc::clone(&allocation);
        assert!(!alone(&allocation));
        drop(other);
        assert!(alone(&allocation));

        let mut piece = None;
        let captured = stream.capture(|stream| {
            piece = Some(Allocation::new(stream, 64)?);
            Ok(())
        });
        let piece = piece.unwrap();
        assert!(piece.graph_piece().is_some() && !alone(&piece));
        drop(captured);
        assert!(Arc::strong_count(&piece) == 1 && !alone(&piece));
    }
}
