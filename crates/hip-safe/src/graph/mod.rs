//! Graphs: work that is captured once and launched many times.

mod capture;
mod exclusion;
mod exec;
mod memory;
mod turn;

pub(crate) use capture::{Capture, List};
pub(crate) use exclusion::{any_capture, begin_device_wait};
pub(crate) use memory::{GraphMemory, GraphPiece};
pub(crate) use turn::{NoCapture, Turn};

pub use exec::GraphExec;

use crate::handle::Handle;
use crate::memory::Allocation;
use crate::memory::PinnedMemory;
use crate::order::{Memory, Tracked, Use};
use crate::raw;
use crate::{Device, Error, Module, Result, Stream};
use hip_sys::hip::ihipGraph;
use hip_sys::{Access, Platform};
use parking_lot::Mutex;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Work that a stream captured: see [`Stream::capture`]. Cloning it copies a reference.
///
/// It owns everything that its work uses. A buffer, a pinned buffer or a function that is dropped after the capture stays alive as long as the
/// graph and its executable graphs. Launches are ordered with all other work on that memory, on every stream.
///
/// ```
/// use hip_safe::{Device, LaunchConfig, PinnedBuffer, Source};
///
/// # fn main() -> hip_safe::Result<()> {
/// let device = Device::new(&hip_host::platform(), 0)?;
/// let stream = device.new_stream()?;
/// let text = "extern \"C\" __global__ void add(const float* a, const float* b, float* sum) {
///     sum[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
/// }";
/// let add = device.compile(&Source::new(text))?.function("add")?;
/// let step = stream.upload(&[0.5_f32; 3])?;
/// let mut total = stream.alloc_zeros::<f32>(3)?;
/// let mut result = PinnedBuffer::<f32>::zeroed(&device, 3)?;
///
/// // Nothing runs yet.
/// let graph = stream.capture(|stream| {
///     let former = stream.clone_of(&total)?;
///     // SAFETY: the kernel reads three elements of both inputs and writes three of the total.
///     unsafe {
///         stream
///             .launch(&add, LaunchConfig::linear(3, 3))
///             .arg(&former)
///             .arg(&step)
///             .arg_mut(&mut total)
///             .submit()?;
///     }
///     stream.copy_to_pinned(&total, &mut result)
/// })?;
/// assert_eq!(graph.node_count(), 3);
/// assert_eq!(stream.download(&total)?, [0.0; 3]);
///
/// let exec = graph.instantiate()?;
/// for _ in 0..4 {
///     exec.launch(&stream)?;
/// }
/// assert_eq!(stream.download(&total)?, [2.0; 3]);
/// assert_eq!(result.to_vec()?, [2.0; 3]);
///
/// // The graph keeps what it uses.
/// drop((step, total, add));
/// exec.launch(&stream)?;
/// assert_eq!(result.to_vec()?, [2.5; 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[doc(alias = "hipGraph_t")]
pub struct Graph {
    inner: Arc<Inner>,
}

/// The state shared by the references and by the executable graphs.
struct Inner {
    device: Device,
    /// Locked during each call with this handle, because HIP's graphs are not thread-safe.
    raw: Mutex<Handle<ihipGraph>>,
    nodes: usize,
    /// The record of launches. Launches exclude each other, because they write the same memory of the graph's own.
    launches: Arc<Tracked>,
    /// The memory that a launch uses, and the record of launches, sorted by [`Memory::key`].
    owned: Vec<Owned>,
    modules: Vec<Module>,
    /// Other values that the work needs. They are dropped with the graph.
    _kept: Vec<Arc<dyn Any + Send + Sync>>,
}

/// Memory that a graph uses and keeps.
pub(crate) struct Owned {
    memory: OwnedMemory,
    access: Access,
}

enum OwnedMemory {
    Device(Arc<Allocation>),
    Pinned(Arc<PinnedMemory>),
    Launches(Arc<Tracked>),
}

impl Graph {
    fn new(
        stream: &Stream,
        raw: Handle<ihipGraph>,
        mut owned: Vec<Owned>,
        modules: Vec<Module>,
        kept: Vec<Arc<dyn Any + Send + Sync>>,
    ) -> Self {
        let (device, raw, launches) = (stream.device().clone(), Mutex::new(raw), Arc::<Tracked>::default());
        owned.push(Owned { memory: OwnedMemory::Launches(Arc::clone(&launches)), access: Access::WRITE });
        owned.sort_unstable_by_key(|owned| owned.memory().key());
        let inner = Inner { device, raw, nodes: 0, launches, owned, modules, _kept: kept };
        Self { inner: Arc::new(inner) }
    }

    /// The device that it runs on.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// The number of its nodes, as the driver counts them.
    #[doc(alias = "hipGraphGetNodes")]
    pub fn node_count(&self) -> usize {
        self.inner.nodes
    }

    /// Instantiates it for launches. The graph may be dropped afterwards.
    ///
    /// # Errors
    /// [`Error::Hip`] if the driver returns an error, [`Error::Poisoned`] after a sticky one.
    #[doc(alias = "hipGraphInstantiate")]
    #[doc(alias = "hipGraphInstantiateWithFlags")]
    pub fn instantiate(&self) -> Result<GraphExec> {
        GraphExec::new(&self.inner)
    }

    /// Drops this reference. The last one destroys the graph and returns the error of that.
    ///
    /// # Errors
    /// [`Error::Hip`] if the driver returns an error, [`Error::Poisoned`] after a sticky one.
    #[doc(alias = "hipGraphDestroy")]
    pub fn close(self) -> Result<()> {
        Arc::into_inner(self.inner).map_or(Ok(()), |mut last| last.release())
    }

    /// Counts the nodes, and refuses nodes that allocate or free memory, which this crate cannot order.
    fn checked(mut self) -> Result<Self> {
        let Inner { device, raw, nodes, .. } =
            Arc::get_mut(&mut self.inner).expect("there is no other reference yet");
        let raw = *raw.get_mut();
        let count = |p: &Platform| {
            // SAFETY: S1, S3: the graph is live, its device current, and the nodes are its own.
            let list = unsafe { raw::graphs::graph_nodes(p, raw) }?;
            let mut of_memory = 0;
            for node in &list {
                // SAFETY: S1, S3: as above.
                of_memory += usize::from(unsafe { raw::graphs::node_is_of_memory(p, *node) }?);
            }
            Ok((list.len(), of_memory))
        };
        let (all, of_memory) = device.run(|| "looking at the nodes of a graph".into(), count)?;
        if of_memory > 0 {
            return Err(Error::GraphMemory { nodes: of_memory });
        }
        *nodes = all;
        Ok(self)
    }
}

impl Inner {
    /// The uses of a launch, in the locking order.
    fn uses(&self) -> impl Iterator<Item = Use<'_>> + Clone {
        self.owned.iter().map(|owned| Use::of(owned.memory(), owned.access))
    }

    fn release(&mut self) -> Result<()> {
        let raw = self.raw.get_mut().take();
        if raw.is_null() {
            return Ok(());
        }
        // SAFETY: S1, S3, S4: this was the last reference; nothing that was instantiated is left.
        let destroy = |p: &Platform| unsafe { raw::graphs::graph_destroy(p, raw) };
        self.device.run(|| "destroying a graph".into(), destroy)
    }
}

impl Owned {
    fn new(memory: Memory<'_>, access: Access) -> Option<Self> {
        let memory = match memory {
            Memory::Device(buffer) => OwnedMemory::Device(Arc::clone(buffer)),
            Memory::Pinned(pinned) => OwnedMemory::Pinned(Arc::clone(pinned)),
            // A graph cannot contain the launch of another graph.
            Memory::Graph(_) => return None,
        };
        memory.enter_graph(access);
        Some(Self { memory, access })
    }

    fn note_write(&mut self) {
        self.memory.enter_graph(Access::WRITE);
        self.memory.leave_graph(self.access);
        self.access = Access::WRITE;
    }

    fn memory(&self) -> Memory<'_> {
        match &self.memory {
            OwnedMemory::Device(buffer) => Memory::Device(buffer),
            OwnedMemory::Pinned(pinned) => Memory::Pinned(pinned),
            OwnedMemory::Launches(launches) => Memory::Graph(launches),
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.memory.leave_graph(self.access);
    }
}

impl OwnedMemory {
    /// Counts one more graph that uses the memory.
    fn enter_graph(&self, access: Access) {
        match self {
            Self::Device(buffer) => buffer.enter_graph(access),
            Self::Pinned(pinned) => pinned.enter_graph(access),
            Self::Launches(_) => {}
        }
    }

    fn leave_graph(&self, access: Access) {
        match self {
            Self::Device(buffer) => buffer.leave_graph(access),
            Self::Pinned(pinned) => pinned.leave_graph(access),
            Self::Launches(_) => {}
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let device = self.device.clone();
        device.release_in_drop(|| self.release());
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph of {} nodes on {}", self.node_count(), self.device())
    }
}
