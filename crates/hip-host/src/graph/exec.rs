//! Executable graphs: frozen copies of graphs, launched as one operation of a stream.
//!
//! The nodes run one after the other in the order in which they were captured, which respects what each waits for.
//! Branches therefore do not overlap; each kernel still runs on all threads.

use super::{Graph, Node};
use crate::check::Announced;
use crate::device::{self, COUNT, Device};
use crate::run::Runner;
use crate::stream::{Point, Stream};
use crate::work::Work;
use hip_sys::hip::{hipError_t, hipGraphExecUpdateResult};
use hip_sys::provider::Handles;
use parking_lot::Mutex;
use std::array;
use std::sync::{Arc, LazyLock};

/// What one launch runs. An update does not change launches that are already queued.
pub(crate) struct Program {
    nodes: Vec<Arc<Node>>,
    #[expect(dead_code, reason = "kept alive until the last run has ended")]
    kept: Vec<Arc<super::user_objects::Kept>>,
    calls_host: bool,
    /// For each library that it calls, whether the calling thread can run that.
    fits: Vec<fn() -> bool>,
    /// By device: whether a node runs there.
    runs_on: [bool; COUNT],
    /// By device: whether a node runs there or is known to use its memory.
    works_on: [bool; COUNT],
}

/// An executable graph.
pub(crate) struct Exec {
    program: Mutex<Arc<Program>>,
    /// The last launch; the next one waits for it.
    last: Mutex<Option<Point>>,
}

/// Why an update was refused: the reason, and the new graph's node that does not fit, if it concerns one.
pub(crate) type Mismatch = (Option<usize>, hipGraphExecUpdateResult);

static EXECS: LazyLock<Handles<Exec>> = LazyLock::new(|| Handles::new(18));

impl Program {
    fn of(graph: &Graph) -> Arc<Self> {
        let nodes = graph.nodes();
        let inside = nodes.iter().filter_map(|node| match &node.work {
            Work::Graph(program) => Some(program),
            _ => None,
        });
        let inside: Vec<_> = inside.collect();
        let runs_on = array::from_fn(|device| {
            let runs = nodes.iter().any(|node| node.device.ordinal == device);
            runs || inside.iter().any(|program| program.runs_on[device])
        });
        let works_on = array::from_fn(|device| {
            let uses = nodes.iter().any(|node| node.work.uses_memory_of(device));
            runs_on[device] || uses || inside.iter().any(|program| program.works_on[device])
        });
        let kept = graph.kept.lock().clone();
        let calls_host = !kept.is_empty() || nodes.iter().any(|node| node.work.calls_host());
        let mut fits: Vec<_> = nodes.iter().flat_map(|node| node.work.fits().to_vec()).collect();
        // Most nodes are of one library, and one answer does for all of them.
        fits.sort_by_key(|fits| *fits as usize);
        fits.dedup_by_key(|fits| *fits as usize);
        Arc::new(Self { nodes, kept, calls_host, fits, runs_on, works_on })
    }

    /// A description for messages.
    pub(crate) fn name(&self) -> String {
        format!("graph of {} nodes", self.nodes.len())
    }

    /// The operations of the graph, and what the program announced for each.
    pub(crate) fn operations(&self) -> impl Iterator<Item = (&Work, Option<&Announced>)> {
        self.nodes.iter().map(|node| (&node.work, node.announced.as_ref()))
    }

    /// Whether it calls functions of the program, including the destructors of the graph's user objects.
    pub(crate) fn calls_host(&self) -> bool {
        self.calls_host
    }

    /// For each library that it calls, whether the calling thread can run that.
    pub(crate) fn fits(&self) -> &[fn() -> bool] {
        &self.fits
    }

    /// The fault of a device that its nodes run on, if there is one.
    fn healthy(&self) -> Result<(), hipError_t> {
        let mut devices = device::all().iter().filter(|device| self.runs_on[device.ordinal]);
        devices.try_for_each(Device::healthy)
    }

    /// Runs all nodes. On a broken device only host functions run.
    pub(crate) fn run(&self, runner: &mut Runner) {
        for node in &self.nodes {
            node.work.again().run(node.device, runner);
        }
    }
}

impl Exec {
    /// Queues a run, ordered after the last run of the same graph.
    pub(crate) fn launch(&self, stream: &Arc<Stream>) -> Result<(), hipError_t> {
        let program = Arc::clone(&self.program.lock());
        program.healthy()?;
        let mut last = self.last.lock();
        let after = last.iter().cloned().collect();
        if let Some(point) = stream.submit(Work::Graph(Arc::clone(&program)), after)? {
            let others = device::all().iter().filter(|device| device.ordinal != stream.device);
            others
                .filter(|device| program.works_on[device.ordinal])
                .for_each(|it| it.add_foreign_work(&point));
            *last = Some(point);
        }
        Ok(())
    }

    /// Takes over the parameters of a graph of the same shape; on an error nothing changes.
    pub(crate) fn update(&self, graph: &Graph) -> Result<(), Mismatch> {
        let new = Program::of(graph);
        let mut program = self.program.lock();
        check_same_shape(&program.nodes, &new.nodes)?;
        let old = std::mem::replace(&mut *program, new);
        drop(program);
        // Dropped outside the lock: this may call a destructor of the program.
        drop(old);
        Ok(())
    }
}

fn check_same_shape(old: &[Arc<Node>], new: &[Arc<Node>]) -> Result<(), Mismatch> {
    use hipGraphExecUpdateResult as Why;
    if old.len() != new.len() {
        return Err((None, Why::hipGraphExecUpdateErrorTopologyChanged));
    }
    for (old, new) in old.iter().zip(new) {
        let computes = !matches!(new.work, Work::Host(_) | Work::Nothing);
        let why = if old.kind != new.kind {
            Why::hipGraphExecUpdateErrorNodeTypeChanged
        } else if computes && old.device.ordinal != new.device.ordinal {
            Why::hipGraphExecUpdateErrorUnsupportedFunctionChange
        } else if direction(&old.work) != direction(&new.work) {
            Why::hipGraphExecUpdateErrorParametersChanged
        } else if old.after != new.after {
            Why::hipGraphExecUpdateErrorTopologyChanged
        } else {
            continue;
        };
        return Err((Some(new.handle), why));
    }
    Ok(())
}

/// For a copy: whether each side is device memory.
fn direction(work: &Work) -> Option<[bool; 2]> {
    match work {
        Work::Copy(copy) => Some(copy.sides_on_devices()),
        _ => None,
    }
}

/// Instantiates a graph and returns the handle of the executable graph.
pub(crate) fn instantiate(graph: &Graph) -> usize {
    EXECS.insert(Arc::new(Exec { program: Mutex::new(Program::of(graph)), last: Mutex::new(None) }))
}

/// The executable graph of a handle.
pub(crate) fn get(handle: usize) -> Result<Arc<Exec>, hipError_t> {
    EXECS.get(handle).map_err(|_| hipError_t::hipErrorInvalidValue)
}

/// Destroys an executable graph. Queued launches still run.
pub(crate) fn destroy(handle: usize) -> Result<(), hipError_t> {
    EXECS.remove(handle).map(drop).map_err(|_| hipError_t::hipErrorInvalidValue)
}
