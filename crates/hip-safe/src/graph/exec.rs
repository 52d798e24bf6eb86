//! Executable graphs.

use super::{Graph, Inner};
use crate::handle::Handle;
use crate::mutation::Wait;
use crate::order::{not_in_host_function, submit_sorted};
use crate::raw::{self, graphs::Refused};
use crate::{Device, Error, Result, Stream, drop_errors};
use hip_sys::Platform;
use hip_sys::hip::{hipGraphExec, hipGraphExecUpdateResult};
use std::fmt;
use std::sync::Arc;

/// A graph that can be launched: see [`Graph::instantiate`].
///
/// Each launch comes after the earlier work on the memory that the graph uses, and after the graph's earlier launches,
/// whichever streams those are on. What the graph owns stays until the last launch is done.
#[doc(alias = "hipGraphExec_t")]
pub struct GraphExec {
    /// The graph that it was instantiated from, which owns what its work uses.
    graph: Arc<Inner>,
    raw: Handle<hipGraphExec>,
    /// The error after which it cannot be launched any more.
    lost: Option<Error>,
}

impl GraphExec {
    pub(super) fn new(graph: &Arc<Inner>) -> Result<Self> {
        Ok(Self { graph: Arc::clone(graph), raw: instantiate(graph)?, lost: None })
    }

    /// The device that it runs on.
    pub fn device(&self) -> &Device {
        &self.graph.device
    }

    /// How many operations a launch has, as the driver counts them.
    pub fn node_count(&self) -> usize {
        self.graph.nodes
    }

    /// Submits the whole graph to a stream; it returns before the work is done.
    ///
    /// # Errors
    /// Before any call: [`Error::WrongDevice`] for a stream of another device, [`Error::Capturing`] if the stream captures. Then
    /// the driver's error.
    #[doc(alias = "hipGraphLaunch")]
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        stream.device().check_same("the graph", self.device())?;
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        not_in_host_function()?;
        let _later = drop_errors::later();
        let remedy = "submit the work that it consists of, or launch it after the capture";
        let turn = stream.turn().refuse_capture("the launch of a graph", remedy)?;
        stream.check_capture_by_others()?;
        let doing = || format!("launching a graph of {} nodes on {stream}", self.node_count());
        // SAFETY: S1, S3, S4, S5: it is live, the graph owns all that its nodes use, and other uses of that are ordered.
        let launch = |p: &Platform| unsafe { raw::graphs::graph_launch(p, self.raw, stream.raw()) };
        let launched = submit_sorted(stream, &turn, self.graph.uses(), || self.device().run(doing, launch));
        self.graph.modules.iter().for_each(|module| module.note_launch(stream));
        launched
    }

    /// Takes over the arguments, addresses and sizes of another graph with the same topology, and the values that it owns. This costs less than
    /// instantiating that graph. It waits for launches in progress.
    ///
    /// # Errors
    /// [`Error::WrongDevice`]; [`Error::GraphUpdate`] if the graph has another topology, and then this one is unchanged; the error of the
    /// wait, or the driver's error.
    #[doc(alias = "hipGraphExecUpdate")]
    pub fn update(&mut self, graph: &Graph) -> Result<()> {
        self.device().check_same("the graph", graph.device())?;
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        self.graph.launches.wait_for_all(Wait::GraphUpdate)?;
        let device = graph.device();
        let doing = || "updating an executable graph".into();
        let mut reason = hipGraphExecUpdateResult::hipGraphExecUpdateSuccess;
        let _later = drop_errors::later();
        let raw = graph.inner.raw.lock();
        // SAFETY: S1, S3, S4, S8: both are live and used by no other thread, the device is current, and no launch is in progress.
        let update = |p: &Platform| match unsafe { raw::graphs::graph_exec_update(p, self.raw, *raw) } {
            Ok(()) => Ok(()),
            Err(Refused { failure, reason: why }) => {
                reason = why;
                Err(failure)
            }
        };
        let updated = device.run(doing, update);
        drop(raw);
        let Err(error) = updated else {
            self.graph = Arc::clone(&graph.inner);
            return Ok(());
        };
        self.restore();
        if reason == hipGraphExecUpdateResult::hipGraphExecUpdateSuccess {
            return Err(error);
        }
        Err(Error::GraphUpdate { why: describe(reason), error: Box::new(error) })
    }

    /// Waits for its launches, destroys it, and returns the error of that.
    ///
    /// # Errors
    /// The error of the wait, and then it is not destroyed, or that of the call.
    #[doc(alias = "hipGraphExecDestroy")]
    pub fn close(mut self) -> Result<()> {
        self.release()
    }

    /// Instantiates its own graph again, because the driver may have applied a part of the refused update.
    fn restore(&mut self) {
        let former = self.raw;
        match instantiate(&self.graph) {
            Ok(fresh) => self.raw = fresh,
            Err(error) => {
                self.raw = Handle::null();
                self.lost = Some(error);
            }
        }
        self.device().release_in_drop(|| destroy(&self.graph, former));
    }

    fn release(&mut self) -> Result<()> {
        let raw = self.raw;
        if raw.is_null() {
            return Ok(());
        }
        self.graph.launches.wait_to_release(Wait::GraphEnd)?;
        self.raw = Handle::null();
        destroy(&self.graph, raw)
    }
}

fn instantiate(graph: &Inner) -> Result<Handle<hipGraphExec>> {
    not_in_host_function()?;
    let _later = drop_errors::later();
    let raw = graph.raw.lock();
    // SAFETY: S1, S3, S8: the graph is live and used by no other thread, and its device current.
    let make = |p: &Platform| unsafe { raw::graphs::graph_instantiate(p, *raw) };
    graph.device.run(|| format!("instantiating a graph of {} nodes", graph.nodes), make)
}

fn destroy(graph: &Inner, raw: Handle<hipGraphExec>) -> Result<()> {
    // SAFETY: S1, S3, S4: it is ours alone, and its launches are complete.
    let destroy = |p: &Platform| unsafe { raw::graphs::graph_exec_destroy(p, raw) };
    graph.device.run(|| "destroying an executable graph".into(), destroy)
}

/// The reason for a refused update, in words.
fn describe(reason: hipGraphExecUpdateResult) -> &'static str {
    match reason {
        hipGraphExecUpdateResult::hipGraphExecUpdateErrorTopologyChanged => {
            "it has another number of operations, or other dependencies between them"
        }
        hipGraphExecUpdateResult::hipGraphExecUpdateErrorNodeTypeChanged => {
            "one of its operations is of another kind"
        }
        hipGraphExecUpdateResult::hipGraphExecUpdateErrorFunctionChanged
        | hipGraphExecUpdateResult::hipGraphExecUpdateErrorUnsupportedFunctionChange => {
            "one of its kernels is another one"
        }
        hipGraphExecUpdateResult::hipGraphExecUpdateErrorParametersChanged => {
            "one of its operations has arguments that an update cannot change"
        }
        _ => "the driver cannot update one of its operations",
    }
}

impl Drop for GraphExec {
    fn drop(&mut self) {
        let device = self.device().clone();
        device.release_in_drop(|| self.release());
    }
}

impl fmt::Debug for GraphExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GraphExec of {} nodes on {}", self.node_count(), self.device())
    }
}
