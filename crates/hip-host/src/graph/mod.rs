//! Graphs: operations as data, with what each waits for, to be run any number of times.
//!
//! A stream capture writes a graph (`capture`), an executable graph is a frozen copy of one (`exec`), and a graph may keep
//! objects of the program alive (`user_objects`).

pub(crate) mod capture;
pub(crate) mod exec;
pub(crate) mod user_objects;

use crate::check::Announced;
use crate::device::Device;
use crate::run::Launch;
use crate::work::{Copy, Fill, HostCall, Work};
use exec::Program;
use hip_sys::hip::{hipError_t, hipGraphNodeType};
use hip_sys::provider::Handles;
use parking_lot::Mutex;
use std::sync::{Arc, LazyLock};
use user_objects::Kept;

/// What a node does.
pub(crate) enum Action {
    /// A launch that only serves as the pattern of those that run.
    Kernel(Arc<Launch>),
    Copy(Copy),
    Fill(Fill),
    Host(HostCall),
    /// Another executable graph, as it was when it was captured.
    Graph(Arc<Program>),
    Empty,
}

/// A node of a graph.
pub(crate) struct Node {
    pub(crate) handle: usize,
    pub(crate) device: &'static Device,
    pub(crate) action: Action,
    /// Places in the graph of the nodes that come before it, all smaller than its own.
    pub(crate) after: Vec<usize>,
    /// What the program said that a kernel uses.
    announced: Option<Announced>,
}

/// A graph. Its nodes are in an order that respects what they wait for, since a node is added after those.
#[derive(Default)]
pub(crate) struct Graph {
    nodes: Mutex<Vec<Arc<Node>>>,
    kept: Mutex<Vec<Arc<Kept>>>,
}

static GRAPHS: LazyLock<Handles<Graph>> = LazyLock::new(|| Handles::new(16));
static NODES: LazyLock<Handles<hipGraphNodeType>> = LazyLock::new(|| Handles::new(17));

impl Action {
    /// The action that repeats an operation. Operations that mean something only once are not captured.
    fn of(work: Work) -> Result<Self, hipError_t> {
        match work {
            Work::Launch(launch) => Ok(Self::Kernel(launch)),
            Work::Copy(copy) => Ok(Self::Copy(copy)),
            Work::Fill(fill) => Ok(Self::Fill(fill)),
            Work::Host(call) => Ok(Self::Host(call)),
            Work::Graph(program) => Ok(Self::Graph(program)),
            Work::Nothing => Ok(Self::Empty),
            Work::Record(_) | Work::Release(_) => Err(hipError_t::hipErrorStreamCaptureUnsupported),
        }
    }

    /// The operation, to be run once more.
    fn again(&self) -> Work {
        match self {
            Self::Kernel(launch) => Work::Launch(Arc::new(launch.again())),
            _ => self.pattern(),
        }
    }

    /// The operation, to be looked at.
    fn pattern(&self) -> Work {
        match self {
            Self::Kernel(launch) => Work::Launch(Arc::clone(launch)),
            Self::Copy(copy) => Work::Copy(copy.clone()),
            Self::Fill(fill) => Work::Fill(fill.clone()),
            Self::Host(call) => Work::Host(call.clone()),
            Self::Graph(program) => Work::Graph(Arc::clone(program)),
            Self::Empty => Work::Nothing,
        }
    }

    pub(crate) fn kind(&self) -> hipGraphNodeType {
        match self {
            Self::Kernel(_) => hipGraphNodeType::hipGraphNodeTypeKernel,
            Self::Copy(..) => hipGraphNodeType::hipGraphNodeTypeMemcpy,
            Self::Fill(..) => hipGraphNodeType::hipGraphNodeTypeMemset,
            Self::Host(_) => hipGraphNodeType::hipGraphNodeTypeHost,
            Self::Graph(_) => hipGraphNodeType::hipGraphNodeTypeGraph,
            Self::Empty => hipGraphNodeType::hipGraphNodeTypeEmpty,
        }
    }

    /// For a copy: whether each side is a device's memory.
    fn direction(&self) -> Option<[bool; 2]> {
        match self {
            Self::Copy(copy) => Some(copy.sides.map(|side| side.is_some_and(|range| range.is_of_device()))),
            _ => None,
        }
    }
}

impl Graph {
    /// Appends a node, which comes after the nodes at those places. Its own place.
    fn add(
        &self,
        device: &'static Device,
        action: Action,
        after: Vec<usize>,
        announced: Option<Announced>,
    ) -> usize {
        let handle = NODES.insert(Arc::new(action.kind()));
        let mut nodes = self.nodes.lock();
        nodes.push(Arc::new(Node { handle, device, action, after, announced }));
        nodes.len() - 1
    }

    /// Whether every node is among those at the places or comes before one of them.
    fn all_lead_to(&self, places: &[usize]) -> bool {
        let nodes = self.nodes.lock();
        let mut leads = vec![false; nodes.len()];
        for place in places {
            leads[*place] = true;
        }
        // Nodes only wait for earlier ones, so one pass from the end sees them all.
        for (place, node) in nodes.iter().enumerate().rev() {
            if leads[place] {
                for before in &node.after {
                    leads[*before] = true;
                }
            }
        }
        leads.iter().all(|leads| *leads)
    }

    /// Handles of the nodes at those places.
    fn handles(&self, places: &[usize]) -> Box<[usize]> {
        let nodes = self.nodes.lock();
        places.iter().map(|place| nodes[*place].handle).collect()
    }

    pub(crate) fn nodes(&self) -> Vec<Arc<Node>> {
        self.nodes.lock().clone()
    }

    /// Keeps an object alive for as long as the graph, and what is instantiated from it, lives.
    pub(crate) fn keep(&self, object: Arc<Kept>) {
        self.kept.lock().push(object);
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        for node in self.nodes.get_mut() {
            let _ = NODES.remove(node.handle);
        }
    }
}

/// A new graph without nodes. Its handle.
pub(crate) fn create() -> usize {
    GRAPHS.insert(Arc::default())
}

/// The graph of a handle.
pub(crate) fn get(handle: usize) -> Result<Arc<Graph>, hipError_t> {
    GRAPHS.get(handle).map_err(|_| hipError_t::hipErrorInvalidValue)
}

/// Ends a graph; what was instantiated from it lives on.
pub(crate) fn destroy(handle: usize) -> Result<(), hipError_t> {
    use hip_sys::provider::Absent;
    if capture::writes(handle) {
        return Err(hipError_t::hipErrorInvalidValue);
    }
    let removed = GRAPHS.remove(handle).map_err(|absent| match absent {
        Absent::Unknown => hipError_t::hipErrorInvalidValue,
        Absent::Destroyed => hipError_t::hipErrorIllegalState,
    })?;
    drop(removed);
    Ok(())
}

/// The type of the node of a handle.
pub(crate) fn node_type(handle: usize) -> Result<hipGraphNodeType, hipError_t> {
    NODES.get(handle).map(|kind| *kind).map_err(|_| hipError_t::hipErrorInvalidValue)
}
