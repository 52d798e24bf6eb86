//! The kernels of an operation alone: its launches recorded once, then replayed onto the same result.
//!
//! An operation allocates its result, which without a pool is a call of the driver and a wait. So the operation is called once
//! while its stream is captured into a graph: the launches are tensor-core's own, with the arguments that it chose.

use super::rows::Row;
use hip_sys::hip::{hipError_t, hipGraph_t, hipGraphExec_t, hipGraphNodeType, hipStreamCaptureMode};
use hip_sys::{HipTable, PlatformKind};
use std::marker::PhantomData;
use std::ptr::null_mut;
use tensor_core::{HipDevice, Tensor};

/// What an operation submitted, to be submitted again. The inputs stay borrowed.
pub struct Replay<'a> {
    device: HipDevice,
    exec: hipGraphExec_t,
    result: Tensor,
    inputs: PhantomData<&'a ()>,
}

impl<'a> Replay<'a> {
    /// Records the operation of a row and launches it once. It must have run before: what is loaded on first use cannot be captured.
    ///
    /// # Errors
    /// What failed, in words: an operation that frees what it launched on, or reads back, cannot be captured.
    pub fn record(device: &HipDevice, row: &Row<'a>) -> Result<Self, String> {
        device.synchronize().map_err(|error| error.to_string())?;
        let _current = device.device().make_current().map_err(|error| error.to_string())?;
        let (hip, stream) = (table(device), device.stream().raw());
        // Only a relaxed capture lets the operation allocate.
        let mode = hipStreamCaptureMode::hipStreamCaptureModeRelaxed;
        // SAFETY: S1, S3: a live stream whose device is current.
        done("hipStreamBeginCapture", unsafe { (hip.hipStreamBeginCapture)(stream, mode) })?;
        let result = (row.run)();
        let (mut graph, mut exec) = (null_mut(), null_mut());
        // SAFETY: S1, S3: the stream is being captured; a live place for the graph.
        let ended = done("hipStreamEndCapture", unsafe { (hip.hipStreamEndCapture)(stream, &mut graph) });
        let made = result.map_err(|error| error.to_string()).and_then(|result| {
            ended?;
            kernels_only(hip, graph)?;
            // SAFETY: S1, S3: a live graph of the current device; a live place for the executable one.
            let status = unsafe { (hip.hipGraphInstantiateWithFlags)(&mut exec, graph, 0) };
            done("hipGraphInstantiateWithFlags", status)?;
            Ok(Self { device: device.clone(), exec, result, inputs: PhantomData })
        });
        // Whatever failed before; a capture that failed may have left no graph.
        let destroyed = if graph.is_null() {
            Ok(())
        } else {
            // SAFETY: S1, S3, S4: the graph that was just made is ours; the executable graph does not need it.
            done("hipGraphDestroy", unsafe { (hip.hipGraphDestroy)(graph) })
        };
        let replay = made?;
        destroyed?;
        // The capture ran nothing: until now the result is memory that nobody has written.
        replay.launch()?;
        Ok(replay)
    }

    /// Submits it once more; does not wait.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn launch(&self) -> Result<(), String> {
        let stream = self.device.stream();
        let _current = self.device.device().make_current().map_err(|error| error.to_string())?;
        // SAFETY: S1, S3, S4, S5: graph and stream are live, and so is all memory that its kernels use, none of
        // which is used on another stream: the result is ours, the inputs are borrowed by the row's closure, and scratch memory is the
        // pool's, which hands it out on this stream alone.
        let status = unsafe { (table(&self.device).hipGraphLaunch)(self.exec, stream.raw()) };
        done("hipGraphLaunch", status)
    }

    /// What the kernels write. They have been launched at least once: recording ends with that.
    pub fn result(&self) -> &Tensor {
        &self.result
    }
}

impl Drop for Replay<'_> {
    fn drop(&mut self) {
        // An error of the wait is the device's: the next call answers it too. Then it may be running still, and stays.
        if self.device.synchronize().is_err() {
            return;
        }
        let Ok(_current) = self.device.device().make_current() else { return };
        // SAFETY: S1, S3, S4: it is ours alone and not running.
        let _ = unsafe { (table(&self.device).hipGraphExecDestroy)(self.exec) };
    }
}

/// Refuses a graph with other work than kernels and fills: a copy to the host would write there with every replay.
fn kernels_only(hip: &HipTable, graph: hipGraph_t) -> Result<(), String> {
    let mut count = 0;
    // SAFETY: S1: a live graph; without a place for nodes they are counted.
    done("hipGraphGetNodes", unsafe { (hip.hipGraphGetNodes)(graph, null_mut(), &mut count) })?;
    let mut nodes = vec![null_mut(); count];
    // SAFETY: S1: a live graph, and room for as many nodes as it has.
    done("hipGraphGetNodes", unsafe { (hip.hipGraphGetNodes)(graph, nodes.as_mut_ptr(), &mut count) })?;
    for node in nodes {
        let mut kind = hipGraphNodeType::hipGraphNodeTypeEmpty;
        // SAFETY: S1: a node of a live graph, and a live place.
        done("hipGraphNodeGetType", unsafe { (hip.hipGraphNodeGetType)(node, &mut kind) })?;
        if ![hipGraphNodeType::hipGraphNodeTypeKernel, hipGraphNodeType::hipGraphNodeTypeMemset]
            .contains(&kind)
        {
            return Err(format!("the operation does more than launch kernels: a node of type {}", kind.0));
        }
    }
    if count == 0 { Err("the operation launches nothing".into()) } else { Ok(()) }
}

fn table(device: &HipDevice) -> &HipTable {
    device.device().platform().hip()
}

/// The status of a C call in words.
pub(super) fn done(call: &str, status: hipError_t) -> Result<(), String> {
    if status == hipError_t::hipSuccess { Ok(()) } else { Err(format!("{call} answered {}", status.0)) }
}

/// Name, size and versions of a device, in a line.
pub fn describe(device: &HipDevice) -> String {
    let (properties, platform) = (device.device().properties(), device.device().platform());
    let mut driver = 0;
    // SAFETY: S1: a live place for the result.
    let asked = unsafe { (platform.hip().hipDriverGetVersion)(&mut driver) };
    let driver = match (asked, platform.kind) {
        (hipError_t::hipSuccess, PlatformKind::Nvidia) => {
            format!(", driver for CUDA {}.{}", driver / 1000, driver % 1000 / 10)
        }
        (hipError_t::hipSuccess, _) => format!(", driver {driver}"),
        _ => String::new(),
    };
    format!(
        "{device}: {}, {} multiprocessors, {:.1} GiB, HIP {}{driver}",
        properties.name,
        properties.multiprocessors,
        properties.total_memory as f64 / (1u64 << 30) as f64,
        platform.version(),
    )
}
