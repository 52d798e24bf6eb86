//! Graphs: operations as data, with what each waits for, to be run any number of times.
//!
//! A stream capture writes a graph (`capture`), an executable graph is a frozen copy of one (`exec`), and a graph may keep
//! objects of the program alive (`user_objects`).

pub(crate) mod capture;
pub(crate) mod exec;
pub(crate) mod user_objects;

use crate::check::Announced;
use crate::device::Device;
use crate::work::Work;
use hip_sys::hip::{hipError_t, hipGraphNodeType};
use hip_sys::provider::Handles;
use parking_lot::Mutex;
use std::sync::{Arc, LazyLock};
use user_objects::Kept;

/// A node of a graph.
pub(crate) struct Node {
    pub(crate) handle: usize,
    pub(crate) device: &'static Device,
    pub(crate) work: Work,
    kind: hipGraphNodeType,
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

impl Graph {
    /// Appends a node, which comes after the nodes at those places. Its own place. Operations that mean something only once
    /// are refused.
    fn add(
        &self,
        device: &'static Device,
        work: Work,
        after: Vec<usize>,
        announced: Option<Announced>,
    ) -> Result<usize, hipError_t> {
        let kind = kind_of(&work)?;
        let handle = NODES.insert(Arc::new(kind));
        let mut nodes = self.nodes.lock();
        nodes.push(Arc::new(Node { handle, device, work, kind, after, announced }));
        Ok(nodes.len() - 1)
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

/// The type of the node that repeats an operation, which must have a meaning more than once.
fn kind_of(work: &Work) -> Result<hipGraphNodeType, hipError_t> {
    match work {
        Work::Launch(_) | Work::Call(_) => Ok(hipGraphNodeType::hipGraphNodeTypeKernel),
        Work::Copy(_) => Ok(hipGraphNodeType::hipGraphNodeTypeMemcpy),
        Work::Fill(_) => Ok(hipGraphNodeType::hipGraphNodeTypeMemset),
        Work::Host(_) => Ok(hipGraphNodeType::hipGraphNodeTypeHost),
        Work::Graph(_) => Ok(hipGraphNodeType::hipGraphNodeTypeGraph),
        Work::Nothing => Ok(hipGraphNodeType::hipGraphNodeTypeEmpty),
        Work::Record(_) | Work::Release(_) => Err(hipError_t::hipErrorStreamCaptureUnsupported),
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
