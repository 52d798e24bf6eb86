//! A range of device memory. Buffers put a type and a length on top.

use crate::graph::{GraphMemory, GraphPiece};
use crate::handle::Handle;
use crate::memory::Piece;
use crate::order::{Points, Tracked, Uses};
use crate::{Device, Error, Result, Stream, drop_errors};
use parking_lot::Mutex;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Device memory, and the work that uses it. The last owner gives it back to the device's pool, which hands it on behind
/// that work.
pub(crate) struct Allocation {
    origin: Origin,
    stream: Stream,
    /// The stream that its owner works on since, if it is another one: what comes next is cheapest there.
    home: Mutex<Option<Stream>>,
    tracked: Tracked,
    ordered: AtomicBool,
}

/// Whose the memory is.
#[derive(Default)]
enum Origin {
    /// There is none, or none any more.
    #[default]
    Nobody,
    /// The device's pool's.
    Device(Piece),
    /// A graph's.
    Graph(GraphPiece),
}

impl Allocation {
    /// Allocates `bytes` bytes of undefined content; none at all, and without a call, for 0. While the stream captures they
    /// are the graph's.
    pub(crate) fn new(stream: &Stream, bytes: usize) -> Result<Self> {
        if bytes == 0 {
            return Ok(Self::of(Origin::Nobody, stream, Points::default()));
        }
        if let Err(capture) = stream.turn().get()
            && let Some((piece, former)) = capture.memory().allocate(stream, bytes)?
        {
            return Ok(Self::of(Origin::Graph(piece), stream, former));
        }
        Self::on_device(stream, bytes)
    }

    /// As [`Allocation::new`], from the device's pool, whether the stream captures or not.
    pub(crate) fn on_device(stream: &Stream, bytes: usize) -> Result<Self> {
        let (piece, former) = stream.device().memory().allocate(stream, bytes)?;
        Ok(Self::of(Origin::Device(piece), stream, former))
    }

    fn of(origin: Origin, stream: &Stream, former: Points) -> Self {
        let (stream, tracked) = (stream.clone(), Tracked::new(Uses::after(former)));
        Self { origin, stream, home: Mutex::default(), tracked, ordered: AtomicBool::new(true) }
    }

    pub(crate) fn address(&self) -> Handle<c_void> {
        match &self.origin {
            Origin::Nobody => Handle::null(),
            Origin::Device(piece) => piece.address(),
            Origin::Graph(piece) => piece.address(),
        }
    }

    /// Its length; that of the pool's block, if it is of one.
    pub(crate) fn bytes(&self) -> usize {
        match &self.origin {
            Origin::Nobody => 0,
            Origin::Device(piece) => piece.bytes(),
            Origin::Graph(piece) => piece.bytes(),
        }
    }

    /// The graph that it is of, if it is of one.
    pub(crate) fn graph_piece(&self) -> Option<&GraphPiece> {
        if let Origin::Graph(piece) = &self.origin { Some(piece) } else { None }
    }

    /// The memory that it is a piece of, if it is a graph's.
    pub(crate) fn graph_memory(&self) -> Option<&Arc<GraphMemory>> {
        self.graph_piece().map(GraphPiece::memory)
    }

    /// The stream that it was allocated on.
    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    pub(crate) fn device(&self) -> &Device {
        self.stream.device()
    }

    pub(crate) fn tracked(&self) -> &Tracked {
        &self.tracked
    }

    /// Whether we order its uses, not the caller.
    pub(crate) fn is_ordered(&self) -> bool {
        self.ordered.load(Ordering::Relaxed)
    }

    /// From now on the caller orders its uses.
    pub(crate) fn leave_order(&self) {
        self.ordered.store(false, Ordering::Relaxed);
    }

    pub(crate) fn set_home(&self, stream: &Stream) {
        *self.home.lock() = Some(stream.clone());
    }

    /// Gives it back, behind the work that may use it.
    pub(crate) fn release(&mut self) -> Result<()> {
        let home = self.home.get_mut().as_ref().unwrap_or(&self.stream);
        let uses = self.tracked.get_mut();
        if !*self.ordered.get_mut() {
            uses.assume_written(home);
        }
        match std::mem::take(&mut self.origin) {
            Origin::Nobody => Ok(()),
            Origin::Device(piece) => home.device().memory().release(home, piece, uses.take()),
            Origin::Graph(piece) => {
                piece.release(uses.take());
                Ok(())
            }
        }
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
}
