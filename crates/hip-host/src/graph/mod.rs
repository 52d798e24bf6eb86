//! Graphs: operations as data, with their dependencies, which can be run any number of times.
//!
//! A stream capture writes a graph (`capture`), an executable graph is a frozen copy of one (`exec`), and a
//! graph may keep objects of the program alive (`user_objects`).

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
    /// Indices of the nodes that it depends on, all smaller than its own.
    pub(crate) after: Vec<usize>,
    /// What the program announced that a kernel uses.
    announced: Option<Announced>,
}

/// A graph. A node is added after the nodes that it depends on, so the nodes are in topological order.
#[derive(Default)]
pub(crate) struct Graph {
    nodes: Mutex<Vec<Arc<Node>>>,
    kept: Mutex<Vec<Arc<Kept>>>,
}

static GRAPHS: LazyLock<Handles<Graph>> = LazyLock::new(|| Handles::new(16));
static NODES: LazyLock<Handles<hipGraphNodeType>> = LazyLock::new(|| Handles::new(17));

impl Graph {
    /// Appends a node that depends on the nodes with the given indices, and returns its index. Operations
    /// that cannot be repeated are refused.
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

    /// Whether every node is one of the given ones or one of them depends on it.
    fn all_lead_to(&self, indices: &[usize]) -> bool {
        let nodes = self.nodes.lock();
        let mut leads = vec![false; nodes.len()];
        for index in indices {
            leads[*index] = true;
        }
        // Nodes depend only on earlier ones, so one pass from the end finds them all.
        for (index, node) in nodes.iter().enumerate().rev() {
            if leads[index] {
                for before in &node.after {
                    leads[*before] = true;
                }
            }
        }
        leads.iter().all(|leads| *leads)
    }

    /// Handles of the nodes with these indices.
    fn handles(&self, indices: &[usize]) -> Box<[usize]> {
        let nodes = self.nodes.lock();
        indices.iter().map(|index| nodes[*index].handle).collect()
    }

    pub(crate) fn nodes(&self) -> Vec<Arc<Node>> {
        self.nodes.lock().clone()
    }

    /// Keeps an object alive as long as the graph and everything instantiated from it.
    pub(crate) fn keep(&self, object: Arc<Kept>) {
        self.kept.lock().push(object);
    }
}

/// The node type of an operation; an error if the operation cannot be repeated.
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

/// Creates an empty graph and returns its handle.
pub(crate) fn create() -> usize {
    GRAPHS.insert(Arc::default())
}

/// The graph of a handle.
pub(crate) fn get(handle: usize) -> Result<Arc<Graph>, hipError_t> {
    GRAPHS.get(handle).map_err(|_| hipError_t::hipErrorInvalidValue)
}

/// Destroys a graph. What was instantiated from it stays valid.
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

/// The type of a node, by handle.
pub(crate) fn node_type(handle: usize) -> Result<hipGraphNodeType, hipError_t> {
    NODES.get(handle).map(|kind| *kind).map_err(|_| hipError_t::hipErrorInvalidValue)
}
