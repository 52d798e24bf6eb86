//! A capture that goes on: what a stream is given becomes part of a graph, and the graph's owner of memory and modules.

use super::memory::GraphMemory;
use super::{Graph, Owned, beside};
use crate::allocation::Allocation;
use crate::handle::Handle;
use crate::order::{Memory, Tracked};
use crate::raw;
use crate::{Error, Module, Result, Stream};
use hip_sys::hip::ihipGraph;
use hip_sys::{Access, Platform};
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// What a stream captures.
pub(crate) struct Capture {
    memory: Arc<GraphMemory>,
    /// Locked while work is added, and while the capture begins and ends: nothing is added in between.
    list: Mutex<List>,
}

/// What the graph will own, by the addresses of the owners.
#[derive(Default)]
pub(crate) struct List {
    state: State,
    owned: HashMap<usize, Owned>,
    /// Buffers of the graph's own memory: only those that outlive the capture are used by whoever launches.
    temporaries: HashMap<usize, Weak<Allocation>>,
    modules: HashMap<usize, Module>,
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
    /// is an [`Error::Capturing`] before any call. Work that other threads give the stream meanwhile becomes part of the graph too;
    /// other streams are not concerned. A thread that waits for a whole device waits for the capture first: the closure must
    /// not wait for such a thread.
    ///
    /// An example is at [`Graph`].
    ///
    /// # Errors
    /// That of the closure; [`Error::Capturing`] while the stream captures already; [`Error::GraphMemory`] if a call by the raw
    /// handle made the graph allocate by itself; or what the driver answers. After an error or a panic the stream does what
    /// it is given, as before.
    #[doc(alias = "hipStreamBeginCapture")]
    #[doc(alias = "hipStreamEndCapture")]
    pub fn capture(&self, work: impl FnOnce(&Self) -> Result<()>) -> Result<Graph> {
        self.device().check_usable()?;
        let _turn = beside::capturing();
        let capture = Capture::begin(self)?;
        let mut ending = Ending { stream: self, capture: &capture, is_over: false };
        let worked = work(self);
        ending.is_over = true;
        let graph = capture.end(self);
        worked?;
        graph?.checked()
    }
}

impl Capture {
    fn begin(stream: &Stream) -> Result<Arc<Self>> {
        stream.device().check_usable()?;
        let capture = Arc::new(Self { memory: GraphMemory::new(stream), list: Mutex::default() });
        let mut list = capture.list.lock();
        if !stream.turn().take(&capture) {
            return Err(Error::capturing("another capture", "end the first one before"));
        }
        let begun = stream.timeline().begin_capture(stream);
        if let Err(error) = begun {
            list.state = State::Over;
            stream.turn().give_back();
            capture.memory.close();
            return Err(error);
        }
        drop(list);
        Ok(capture)
    }

    pub(crate) fn memory(&self) -> &Arc<GraphMemory> {
        &self.memory
    }

    /// The list, to add work; none if the capture is over by now.
    ///
    /// # Errors
    /// [`Error::Capturing`] if the driver did not end it.
    pub(crate) fn open(&self) -> Result<Option<MutexGuard<'_, List>>> {
        let list = self.list.lock();
        match list.state {
            State::Open => Ok(Some(list)),
            State::Over => Ok(None),
            State::Stuck => Err(Error::capturing(
                "work after a capture that could not be ended",
                "drop the stream and make another one",
            )),
        }
    }

    /// Ends it and gives the graph with what it owns.
    fn end(&self, stream: &Stream) -> Result<Graph> {
        let mut list = self.list.lock();
        let ended = end_in_driver(stream);
        let state = if matches!(ended, Ended::Not(_)) { State::Stuck } else { State::Over };
        let List { owned, temporaries, modules, .. } =
            std::mem::replace(&mut *list, List { state, ..List::default() });
        let ended = match ended {
            Ended::Graph(raw) => Ok(raw),
            Ended::Spoilt(error) => Err(error),
            Ended::Not(error) => {
                self.memory.abandon();
                return Err(error);
            }
        };
        stream.turn().give_back();
        drop(list);
        let kept: Vec<_> = temporaries.into_values().filter_map(|buffer| buffer.upgrade()).collect();
        let zeroed = kept.iter().try_for_each(|buffer| zero(stream, buffer));
        if zeroed.is_ok() {
            // From now on others may use it.
            self.memory.close();
        }
        let own = self.memory.segments().into_iter().chain(kept);
        let own = own.filter_map(|buffer| Owned::new(Memory::Device(&buffer), Access::WRITE));
        let owned = owned.into_values().chain(own).collect();
        let graph = Graph::new(stream, ended?, owned, modules.into_values().collect());
        zeroed.map(|()| graph)
    }
}

impl List {
    /// The graph will use this memory.
    pub(crate) fn add(&mut self, capture: &Capture, memory: Memory<'_>, access: Access) {
        let address = std::ptr::from_ref::<Tracked>(memory.tracked()).addr();
        if let Memory::Device(buffer) = memory
            && buffer.graph_memory().is_some_and(|own| Arc::ptr_eq(own, &capture.memory))
        {
            self.temporaries.entry(address).or_insert_with(|| Arc::downgrade(buffer));
            return;
        }
        match self.owned.get_mut(&address) {
            Some(known) if access == Access::WRITE => known.note_write(),
            Some(_) => {}
            None => self.owned.extend(Owned::new(memory, access).map(|owned| (address, owned))),
        }
    }

    /// The graph will launch kernels of this module.
    pub(crate) fn add_module(&mut self, module: &Module) {
        self.modules.entry(module.raw().addr()).or_insert_with(|| module.clone());
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            // The closure panics: there is nobody to tell more.
            drop(self.capture.end(self.stream));
        }
    }
}

/// How the driver ended a capture.
enum Ended {
    Graph(Handle<ihipGraph>),
    /// The capture is over, and there is no graph.
    Spoilt(Error),
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
        return Ended::Spoilt(error);
    }
    match device.run(doing, end) {
        Ok(graph) => drop(Graph::new(stream, graph, Vec::new(), Vec::new())),
        Err(_) if goes_on() => return Ended::Not(error),
        Err(_) => {}
    }
    Ended::Spoilt(error)
}

/// Nobody has launched the graph yet that writes the buffer: without this a reader would see what others left there.
fn zero(stream: &Stream, buffer: &Arc<Allocation>) -> Result<()> {
    let Some(piece) = buffer.graph_piece() else { return Ok(()) };
    let (address, bytes) = (piece.address(), piece.bytes());
    let mut submission = stream.submission();
    submission.add(Memory::Device(buffer), Access::WRITE, address.raw().cast_const(), bytes);
    let doing = || format!("setting {bytes} bytes on {stream}");
    // SAFETY: S1, S2, S3, S5: the buffer is that long, its device is current, and its other uses are ordered.
    submission.run(doing, |p, s, _| unsafe { raw::memset_async(p, address, 0, bytes, s) })
}
