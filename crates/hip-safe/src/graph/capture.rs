//! A capture that goes on: what a stream is given becomes part of a graph, and the graph's owner of memory and modules.

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

/// What a stream captures.
pub(crate) struct Capture {
    memory: Arc<GraphMemory>,
    /// The thread that captures.
    thread: ThreadId,
    /// Locked while work or memory is added, and while the capture begins and ends: nothing is added in between.
    list: Mutex<List>,
}

/// What the graph will own, by the addresses of the owners.
#[derive(Default)]
pub(crate) struct List {
    state: State,
    owned: HashMap<usize, Owned>,
    /// All buffers of the graph's own memory: those that outlive the capture are used by whoever launches.
    pieces: Vec<Weak<Allocation>>,
    modules: HashMap<usize, Module>,
    /// Whatever else the work needs.
    kept: HashMap<usize, Arc<dyn Any + Send + Sync>>,
}

#[derive(Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    Over,
    /// The driver did not end it: the stream is lost to it.
    Stuck,
}

/// Ends the capture however the closure ends.
struct Ending<'a> {
    stream: &'a Stream,
    capture: &'a Capture,
    is_over: bool,
}

impl Stream {
    /// Records what the closure submits to this stream as a [`Graph`], instead of doing it. Nothing runs until the graph is
    /// launched; then it uses the same memory and the same arguments, which the graph keeps alive.
    ///
    /// Inside, the stream takes launches, fills and copies between buffers and with [`PinnedBuffer`](crate::PinnedBuffer)s, and
    /// allocates from memory of the graph's own: what one buffer leaves there the next one gets. A buffer that outlives the
    /// closure is zero until the graph is launched, and each launch writes it. What waits for the host or for other streams
    /// is an [`Error::Capturing`] before any call. So is work that other threads give the stream meanwhile; what they allocate is not
    /// the graph's, and other streams are not concerned. A thread that waits for a
    /// whole device waits for the capture first: the closure must not wait for such a thread. The capture begins when no other thread is in a
    /// call that has work for this stream or waits for it: a function that this stream calls must not wait for the capture.
    ///
    /// A launch writes the memory that it writes whoever shares it: [`DeviceBuffer::is_written_by_graphs`](crate::DeviceBuffer::is_written_by_graphs).
    ///
    /// An example is at [`Graph`].
    ///
    /// # Errors
    /// That of the closure; [`Error::Capturing`] while the stream captures already, and in a call by
    /// [`Device::call_alone`](crate::Device::call_alone); [`Error::GraphMemory`] if a call by the raw
    /// handle made the graph allocate by itself; or what the driver answers. After an error or a panic the stream does what
    /// it is given, as before; what else goes wrong then is told to [`on_drop_error`](crate::on_drop_error).
    #[doc(alias = "hipStreamBeginCapture")]
    #[doc(alias = "hipStreamEndCapture")]
    pub fn capture(&self, work: impl FnOnce(&Self) -> Result<()>) -> Result<Graph> {
        self.device().check_usable()?;
        let _turn = exclusion::capturing()?;
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
        // The list is locked, and a hook may want it.
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

    /// The list, to add work; none if the capture is over by now. The caller has asked [`not_in_host_function`].
    ///
    /// # Errors
    /// [`Error::Capturing`] for another thread than the one that captures, or if the driver did not end it.
    pub(crate) fn open(&self) -> Result<Option<MutexGuard<'_, List>>> {
        let list = self.list.lock();
        match list.state {
            State::Open if self.is_of_this_thread() => Ok(Some(list)),
            // It may not know that there is a capture, and would take for done what is only written down.
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

    /// Whether this thread captures, and the graph writes that memory.
    pub(crate) fn writes(&self, memory: &Arc<Allocation>) -> bool {
        let key = Memory::Device(memory).key();
        let writes = |list: &List| list.owned.get(&key).is_some_and(|owned| owned.access == Access::WRITE);
        self.is_of_this_thread() && writes(&self.list.lock())
    }

    /// Memory of the graph's own, which the graph knows from now on. What one buffer leaves there the next one gets. None for another
    /// thread, whose work is not the graph's, and if the capture is over by now.
    ///
    /// # Errors
    /// As [`Capture::open`], and those of the device's pool.
    pub(crate) fn allocate(&self, stream: &Stream, bytes: usize) -> Result<Option<Arc<Allocation>>> {
        not_in_host_function()?;
        if !self.is_of_this_thread() {
            return Ok(None);
        }
        // Made, and given back if nobody needs it any more, while nothing is locked.
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
                // The device's pool says so.
                Lack::Space => return Ok(None),
            }
        }
    }

    /// Ends it and gives the graph with what it owns.
    fn end(&self, stream: &Stream) -> Result<Graph> {
        // As in the beginning.
        let _later = drop_errors::later();
        let mut list = self.list.lock();
        let ended = end_in_driver(stream);
        let state = if matches!(ended, Ended::Not(_)) { State::Stuck } else { State::Over };
        let List { owned, pieces, modules, kept: needed, .. } =
            std::mem::replace(&mut *list, List { state, ..List::default() });
        let (ended, late) = match ended {
            Ended::Graph(raw) => (Ok(raw), None),
            Ended::Spoilt(error, late) => (Err(error), late),
            Ended::Not(error) => {
                let segments = self.memory.abandon();
                // What is released is released, and told of, after the lock.
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
            // From now on others may use it.
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
    /// The graph will use this memory.
    pub(crate) fn add(&mut self, capture: &Capture, memory: Memory<'_>, access: Access) {
        if let Memory::Device(buffer) = memory
            && buffer.graph_memory().is_some_and(|own| Arc::ptr_eq(own, &capture.memory))
        {
            return;
        }
        // Its launches have nothing borrowed.
        memory.tracked().forbid_home();
        let key = memory.key();
        match self.owned.get_mut(&key) {
            Some(known) if access == Access::WRITE => known.note_write(),
            Some(_) => {}
            None => self.owned.extend(Owned::new(memory, access).map(|owned| (key, owned))),
        }
    }

    /// A buffer of the graph's own memory.
    fn add_piece(&mut self, buffer: &Arc<Allocation>) {
        if self.pieces.len() == self.pieces.capacity() {
            self.pieces.retain(|piece| piece.strong_count() > 0);
        }
        self.pieces.push(Arc::downgrade(buffer));
    }

    /// The graph will launch kernels of this module.
    pub(crate) fn add_module(&mut self, module: &Module) {
        self.modules.entry(module.raw().addr()).or_insert_with(|| module.clone());
    }

    /// The graph's work needs this.
    pub(crate) fn keep(&mut self, needed: &Arc<dyn Any + Send + Sync>) {
        self.kept.entry(Arc::as_ptr(needed).addr()).or_insert_with(|| Arc::clone(needed));
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // The closure panics: there is nobody to give an error to.
            drop_errors::report_failure(self.capture.end(self.stream).map(drop));
        }
    }
}

/// How the driver ended a capture.
enum Ended {
    Graph(Handle<ihipGraph>),
    /// The capture is over, and there is no graph but one that came too late.
    Spoilt(Error, Option<Handle<ihipGraph>>),
    /// It goes on.
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
        return Ended::Spoilt(error, None);
    }
    match device.run(doing, end) {
        Ok(late) => Ended::Spoilt(error, Some(late)),
        Err(_) if goes_on() => Ended::Not(error),
        Err(_) => Ended::Spoilt(error, None),
    }
}

/// Nobody has launched the graph yet that writes the buffer: without this a reader would see what others left there.
fn zero(stream: &Stream, turn: &NoCapture<'_>, buffer: &Arc<Allocation>) -> Result<()> {
    let Some(piece) = buffer.graph_piece() else { return Ok(()) };
    let (address, bytes) = (piece.address(), piece.bytes());
    let mut submission = stream.submission();
    submission.add(Memory::Device(buffer), Access::WRITE, address.raw().cast_const(), bytes);
    let doing = || format!("setting {bytes} bytes on {stream}");
    // SAFETY: S1, S2, S3, S5: the buffer is that long, its device is current, and its other uses are ordered.
    submission.execute(turn, doing, |p, s, _| unsafe { raw::memset_async(p, address, 0, bytes, s) })
}
