//! Captures: work that is given to a capturing stream becomes part of a graph, which then owns its memory and modules.

use super::memory::{GraphMemory, Lack, Segment};
use super::{Graph, NoCapture, Owned, exclusion};
use crate::handle::Handle;
use crate::memory::Allocation;
use crate::order::{Memory, not_in_host_function};
use crate::raw;
use crate::{Error, Module, Result, Stream, drop_errors};
use hip_sys::hip::ihipGraph;
use hip_sys::{Access, Platform};
use parking_lot::{Mutex, MutexGuard};
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::thread::{self, ThreadId};

/// An active capture of a stream.
pub(crate) struct Capture {
    memory: Arc<GraphMemory>,
    /// The thread that captures.
    thread: ThreadId,
    /// Locked while work or memory is added, and while the capture begins and ends.
    list: Mutex<List>,
}

/// The values that the graph will own, by their addresses.
#[derive(Default)]
pub(crate) struct List {
    state: State,
    owned: HashMap<usize, Owned>,
    /// All buffers in the graph's own memory. Buffers that outlive the capture are written by each launch.
    pieces: Vec<Weak<Allocation>>,
    modules: HashMap<usize, Module>,
    /// Other values that the work needs.
    kept: HashMap<usize, Arc<dyn Any + Send + Sync>>,
}

#[derive(Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    Over,
    /// The driver failed to end it, so the stream cannot be used any more.
    Stuck,
}

/// Ends the capture even if the closure panics.
struct Ending<'a> {
    stream: &'a Stream,
    capture: &'a Capture,
    is_over: bool,
}

impl Stream {
    /// Records the work that the closure submits to this stream as a [`Graph`], instead of running it. Each launch of the graph uses the same
    /// memory and the same arguments, which the graph keeps alive.
    ///
    /// In the closure the stream accepts launches, fills, and copies between buffers and with [`PinnedBuffer`](crate::PinnedBuffer)s. It
    /// allocates from the graph's own memory, where a dropped buffer's memory is reused by the next one. A buffer that outlives the closure is
    /// zero until the first launch, and each launch writes it. An operation that waits for the host or for another stream is an
    /// [`Error::Capturing`] before any call. So is work that other threads submit to this stream during the capture. Memory that other threads
    /// allocate does not belong to the graph, and other streams are not affected.
    ///
    /// A device-wide wait on another thread waits for the capture to end, so the closure must not wait for such a thread. The capture begins
    /// when no other thread is in a call that submits work to this stream or waits for it, so a host function of this stream must not wait for
    /// the capture.
    ///
    /// Each launch writes its memory for all owners that share it, see
    /// [`DeviceBuffer::is_written_by_graphs`](crate::DeviceBuffer::is_written_by_graphs).
    ///
    /// An example is at [`Graph`].
    ///
    /// # Errors
    /// The error of the closure; [`Error::Capturing`] if the stream captures already, and in a call by
    /// [`Device::call_alone`](crate::Device::call_alone); [`Error::GraphMemory`] if a call with the raw handle put an allocation into the
    /// graph; or the driver's error. After an error or a panic the stream executes its work as before. Further errors go to
    /// [`on_drop_error`](crate::on_drop_error).
    #[doc(alias = "hipStreamBeginCapture")]
    #[doc(alias = "hipStreamEndCapture")]
    pub fn capture(&self, work: impl FnOnce(&Self) -> Result<()>) -> Result<Graph> {
        self.device().check_usable()?;
        let _turn = exclusion::begin_capture()?;
        let capture = Capture::begin(self)?;
        let mut ending = Ending { stream: self, capture: &capture, is_over: false };
        let worked = work(self);
        ending.is_over = true;
        let graph = capture.end(self);
        if let Err(error) = worked {
            drop_errors::report_failure(graph.map(drop));
            return Err(error);
        }
        graph?.checked()
    }
}

impl Capture {
    fn begin(stream: &Stream) -> Result<Arc<Self>> {
        stream.device().check_usable()?;
        stream.check_capture_by_others()?;
        // A hook must not run while the list is locked.
        let _later = drop_errors::later();
        let (memory, thread) = (GraphMemory::new(stream), thread::current().id());
        let capture = Arc::new(Self { memory, thread, list: Mutex::default() });
        let mut list = capture.list.lock();
        if !stream.turn().take(&capture) {
            return Err(Error::capturing("another capture", "end the first one before"));
        }
        let begun = stream.timeline().begin_capture(stream);
        if let Err(error) = begun {
            list.state = State::Over;
            capture.memory.close();
            stream.turn().give_back();
            return Err(error);
        }
        drop(list);
        Ok(capture)
    }

    pub(super) fn memory(&self) -> &Arc<GraphMemory> {
        &self.memory
    }

    /// Locks the list, to add work. `None` if the capture is over. The caller has checked [`not_in_host_function`].
    ///
    /// # Errors
    /// [`Error::Capturing`] on another thread than the one that captures, or if the driver failed to end the capture.
    pub(crate) fn open(&self) -> Result<Option<MutexGuard<'_, List>>> {
        let list = self.list.lock();
        match list.state {
            State::Open if self.is_of_this_thread() => Ok(Some(list)),
            // That thread may not know of the capture, and would expect the work to run.
            State::Open => Err(Error::capturing(
                "work of another thread than the one that captures",
                "submit it when the capture is over, or to another stream",
            )),
            State::Over => Ok(None),
            State::Stuck => Err(Error::capturing(
                "work after a capture that could not be ended",
                "drop the stream and make another one",
            )),
        }
    }

    /// Whether this is the thread that captures.
    fn is_of_this_thread(&self) -> bool {
        thread::current().id() == self.thread
    }

    /// Whether this is the capturing thread, and the graph writes that memory so far.
    pub(crate) fn writes(&self, memory: &Arc<Allocation>) -> bool {
        let key = Memory::Device(memory).key();
        let writes = |list: &List| list.owned.get(&key).is_some_and(|owned| owned.access == Access::WRITE);
        self.is_of_this_thread() && writes(&self.list.lock())
    }

    /// Allocates from the graph's own memory and adds the piece to the list. `None` on another thread than the capturing one, or if the capture
    /// is over.
    ///
    /// # Errors
    /// As [`Capture::open`], and those of the device's pool.
    pub(crate) fn allocate(&self, stream: &Stream, bytes: usize) -> Result<Option<Arc<Allocation>>> {
        not_in_host_function()?;
        if !self.is_of_this_thread() {
            return Ok(None);
        }
        // A segment is allocated, and released if it is not needed after all, while nothing is locked.
        let mut fresh = None;
        loop {
            let lack = {
                let Some(mut list) = self.open()? else { return Ok(None) };
                match self.memory.allocate(bytes, &mut fresh) {
                    Ok((piece, former)) => {
                        let buffer = Arc::new(Allocation::of_graph(stream, piece, former));
                        list.add_piece(&buffer);
                        return Ok(Some(buffer));
                    }
                    Err(lack) => lack,
                }
            };
            match lack {
                Lack::Segment(bytes) => fresh = Some(Segment::new(stream, bytes)?),
                // The device's pool returns the error.
                Lack::Space => return Ok(None),
            }
        }
    }

    /// Ends it and returns the graph with the values that it owns.
    fn end(&self, stream: &Stream) -> Result<Graph> {
        // A hook must not run while the list is locked.
        let _later = drop_errors::later();
        let mut list = self.list.lock();
        let ended = end_in_driver(stream);
        let state = if matches!(ended, Ended::Not(_)) { State::Stuck } else { State::Over };
        let List { owned, pieces, modules, kept: needed, .. } =
            std::mem::replace(&mut *list, List { state, ..List::default() });
        let (ended, late) = match ended {
            Ended::Graph(raw) => (Ok(raw), None),
            Ended::Invalidated(error, late) => (Err(error), late),
            Ended::Not(error) => {
                let segments = self.memory.abandon();
                // Memory is released, and errors are reported, after the list is unlocked.
                drop(list);
                drop(segments);
                return Err(error);
            }
        };
        let kept: Vec<_> = pieces.iter().filter_map(Weak::upgrade).collect();
        let turn = NoCapture::at_the_end(&list);
        let zeroed = kept.iter().try_for_each(|buffer| zero(stream, &turn, buffer));
        drop(turn);
        if zeroed.is_ok() {
            // From now on other threads and streams may use the remaining buffers.
            self.memory.close();
        }
        stream.turn().give_back();
        drop(list);
        let late = late.map(|raw| Graph::new(stream, raw, Vec::new(), Vec::new(), Vec::new()));
        drop(late);
        let own = self.memory.segments().into_iter().chain(kept);
        let own = own.filter_map(|buffer| Owned::new(Memory::Device(&buffer), Access::WRITE));
        let owned = owned.into_values().chain(own).collect();
        match ended {
            Ok(raw) => {
                let (modules, needed) = (modules.into_values().collect(), needed.into_values().collect());
                let graph = Graph::new(stream, raw, owned, modules, needed);
                zeroed.map(|()| graph)
            }
            Err(error) => {
                drop_errors::report_failure(zeroed);
                Err(error)
            }
        }
    }
}

impl List {
    /// Makes the graph an owner of memory that its work uses.
    pub(crate) fn add(&mut self, capture: &Capture, memory: Memory<'_>, access: Access) {
        if let Memory::Device(buffer) = memory
            && buffer.graph_memory().is_some_and(|own| Arc::ptr_eq(own, &capture.memory))
        {
            return;
        }
        // Launches use the memory without a borrow.
        memory.tracked().require_lock();
        let key = memory.key();
        match self.owned.get_mut(&key) {
            Some(known) if access == Access::WRITE => known.note_write(),
            Some(_) => {}
            None => self.owned.extend(Owned::new(memory, access).map(|owned| (key, owned))),
        }
    }

    /// Adds a buffer in the graph's own memory.
    fn add_piece(&mut self, buffer: &Arc<Allocation>) {
        if self.pieces.len() == self.pieces.capacity() {
            self.pieces.retain(|piece| piece.strong_count() > 0);
        }
        self.pieces.push(Arc::downgrade(buffer));
    }

    /// Makes the graph an owner of a module whose kernels it launches.
    pub(crate) fn add_module(&mut self, module: &Module) {
        self.modules.entry(module.raw().addr()).or_insert_with(|| module.clone());
    }

    /// Makes the graph an owner of a value that its work needs.
    pub(crate) fn keep(&mut self, needed: &Arc<dyn Any + Send + Sync>) {
        self.kept.entry(Arc::as_ptr(needed).addr()).or_insert_with(|| Arc::clone(needed));
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // The closure panicked, so there is no caller to return an error to.
            drop_errors::report_failure(self.capture.end(self.stream).map(drop));
        }
    }
}

/// How the driver ended a capture.
enum Ended {
    Graph(Handle<ihipGraph>),
    /// The capture is over. Only the second attempt may have returned a graph, which is destroyed.
    Invalidated(Error, Option<Handle<ihipGraph>>),
    /// The driver still captures.
    Not(Error),
}

fn end_in_driver(stream: &Stream) -> Ended {
    let device = stream.device();
    let doing = || format!("ending the capture of {stream}");
    // SAFETY: S1, S3: the stream is live and its device current.
    let end = |p: &Platform| unsafe { raw::graphs::stream_end_capture(p, stream.raw()) };
    // SAFETY: S1, S3: as above.
    let ask = |p: &Platform| unsafe { raw::graphs::stream_is_capturing(p, stream.raw()) };
    let goes_on = || device.run(doing, ask).unwrap_or_else(|_| device.is_usable());
    let error = match device.run(doing, end) {
        Ok(graph) => return Ended::Graph(graph),
        Err(error) => error,
    };
    if !goes_on() {
        return Ended::Invalidated(error, None);
    }
    match device.run(doing, end) {
        Ok(late) => Ended::Invalidated(error, Some(late)),
        Err(_) if goes_on() => Ended::Not(error),
        Err(_) => Ended::Invalidated(error, None),
    }
}

/// Zeroes a buffer that the graph has not written yet, so that nobody reads what former owners left there.
fn zero(stream: &Stream, turn: &NoCapture<'_>, buffer: &Arc<Allocation>) -> Result<()> {
    let Some(piece) = buffer.graph_piece() else { return Ok(()) };
    let (address, bytes) = (piece.address(), piece.bytes());
    let mut submission = stream.submission();
    submission.add(Memory::Device(buffer), Access::WRITE, address.raw().cast_const(), bytes);
    let doing = || format!("setting {bytes} bytes on {stream}");
    // SAFETY: S1, S2, S3, S5: the buffer is that long, its device is current, and its other uses are ordered.
    submission.execute(turn, doing, |p, s, _| unsafe { raw::memset_async(p, address, 0, bytes, s) })
}
