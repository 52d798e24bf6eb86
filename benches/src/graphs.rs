//! A captured graph of a hundred small additions, compared with the same kernels captured and launched by
//! HIP's own functions.

use crate::throughput::measure::{Effort, interleaved, wall};
use hip_safe::{Function, Stream};
use hip_sys::HipTable;
use hip_sys::hip::{hipError_t, hipGraph_t, hipGraphExec_t, hipStreamCaptureMode};
use kernels_hip::args::Map2;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::Instant;
use tensor_core::{BinaryOp, DType, HipDevice, Tensor};

/// Additions in a graph; each uses the previous result.
pub const ADDITIONS: usize = 100;

/// Launches whose calls are timed; each is made after the previous one has completed.
const LAUNCHES: usize = 101;

/// Seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// The call that launches the graph.
    pub call: f64,
    /// One launch of several in a row, until the last has completed.
    pub complete: f64,
}

/// Measures tensor-core's additions in a captured graph: `x + y + y …`. The result is checked.
///
/// # Errors
/// A description of what failed.
pub fn captured(device: &HipDevice, x: &Tensor, y: &Tensor, effort: Effort) -> Result<Figures, String> {
    let sums = expected(&numbers(x)?, &numbers(y)?);
    let mut result = Ok(x.clone());
    let graph = device.stream().capture(|_| {
        result = (0..ADDITIONS).try_fold(x.clone(), |sum, _| sum.add(y));
        Ok(())
    });
    let result = result.map_err(|error| error.to_string())?;
    let graph = graph.map_err(text)?;
    if graph.node_count() != ADDITIONS {
        return Err(format!("{ADDITIONS} additions became a graph of {} nodes", graph.node_count()));
    }
    let exec = graph.instantiate().map_err(text)?;
    let launch = || exec.launch(device.stream()).map_err(text);
    let figures = figures(effort, launch, || device.synchronize().map_err(|error| error.to_string()))?;
    right("the captured graph", &numbers(&result)?, &sums)?;
    Ok(figures)
}

/// Measures the same kernels in a graph that is captured and launched without hip-safe. The result is
/// checked.
///
/// # Errors
/// A description of what failed.
pub fn bare(device: &HipDevice, x: &Tensor, y: &Tensor, effort: Effort) -> Result<Figures, String> {
    let (first, step) = (numbers(x)?, numbers(y)?);
    let sums = expected(&first, &step);
    let add = device.elementwise_kernel(BinaryOp::Add.name(), DType::F32).map_err(|e| e.to_string())?;
    let stream = device.device().new_stream().map_err(text)?;
    let (a, b) = (stream.upload(&first).map_err(text)?, stream.upload(&step).map_err(text)?);
    let mut outs = [0, 1].map(|_| stream.alloc_zeros::<f32>(sums.len()));
    let mut addresses = vec![a.device_ptr().cast_mut()];
    for turn in 0..ADDITIONS {
        let out = outs[turn % 2].as_mut().map_err(|error| error.to_string())?;
        addresses.push(out.device_ptr_mut());
    }
    stream.synchronize().map_err(text)?;

    let _current = device.device().make_current().map_err(text)?;
    let hip = device.device().platform().hip();
    let mut raw = Raw { hip, graph: null_mut(), exec: null_mut() };
    raw.capture(&stream, &add, &addresses, b.device_ptr().cast_mut(), sums.len())?;
    let launch = || {
        // SAFETY: S1, S3, S4: a live executable graph and a live stream of the current device.
        checked("hipGraphLaunch", unsafe { (hip.hipGraphLaunch)(raw.exec, stream.raw()) })
    };
    let wait = || {
        // SAFETY: S1: a live stream.
        checked("hipStreamSynchronize", unsafe { (hip.hipStreamSynchronize)(stream.raw()) })
    };
    let figures = figures(effort, launch, wait)?;
    let last = outs[(ADDITIONS - 1) % 2].as_ref().map_err(|error| error.to_string())?;
    right("the bare graph", &stream.download(last).map_err(text)?, &sums)?;
    Ok(figures)
}

/// Objects created by HIP's functions.
struct Raw<'a> {
    hip: &'a HipTable,
    graph: hipGraph_t,
    exec: hipGraphExec_t,
}

impl Raw<'_> {
    /// Captures the additions of `step` to the elements at each address; each sum is stored at the next
    /// address.
    fn capture(
        &mut self,
        stream: &Stream,
        add: &Function,
        addresses: &[*mut f32],
        mut step: *mut f32,
        len: usize,
    ) -> Result<(), String> {
        let map = Map2::flat(len as u64, Map2::A_TIGHT | Map2::B_TIGHT);
        let mode = hipStreamCaptureMode::hipStreamCaptureModeRelaxed;
        // SAFETY: S1, S3: a live stream of the current device.
        checked("hipStreamBeginCapture", unsafe { (self.hip.hipStreamBeginCapture)(stream.raw(), mode) })?;
        let mut launched = Ok(());
        for pair in addresses.windows(2) {
            let (mut from, mut to) = (pair[0], pair[1]);
            let mut arguments: [*mut c_void; 4] = [
                (&raw mut from).cast(),
                (&raw mut step).cast(),
                (&raw mut to).cast(),
                (&raw const map).cast_mut().cast(),
            ];
            let (arguments, none) = (arguments.as_mut_ptr(), null_mut());
            // SAFETY: S1, S3, S5, S9: a live function of the current device, the only stream that the buffers are used on, and the
            // arguments that the kernel declares: three arrays of as many elements as the map says.
            let status = unsafe {
                (self.hip.hipModuleLaunchKernel)(
                    add.raw(),
                    1,
                    1,
                    1,
                    256,
                    1,
                    1,
                    0,
                    stream.raw(),
                    arguments,
                    none,
                )
            };
            launched = launched.and_then(|()| checked("hipModuleLaunchKernel", status));
        }
        // SAFETY: S1: a live stream and a live output pointer for the graph.
        let ended = unsafe { (self.hip.hipStreamEndCapture)(stream.raw(), &mut self.graph) };
        launched.and_then(|()| checked("hipStreamEndCapture", ended))?;
        // SAFETY: S1, S3: a live graph of the current device and a live output pointer for the executable
        // graph.
        let made = unsafe { (self.hip.hipGraphInstantiateWithFlags)(&mut self.exec, self.graph, 0) };
        checked("hipGraphInstantiateWithFlags", made)
    }
}

impl Drop for Raw<'_> {
    fn drop(&mut self) {
        // SAFETY: S1, S4: both are owned by this value; each launch was waited for. Errors here change no
        // result.
        unsafe {
            if !self.exec.is_null() {
                (self.hip.hipGraphExecDestroy)(self.exec);
            }
            if !self.graph.is_null() {
                (self.hip.hipGraphDestroy)(self.graph);
            }
        }
    }
}

fn figures(
    effort: Effort,
    launch: impl Fn() -> Result<(), String>,
    wait: impl Fn() -> Result<(), String>,
) -> Result<Figures, String> {
    let complete = interleaved(effort, &mut [&mut |calls| wall(calls, &launch, &wait)])?[0];
    let mut calls = Vec::new();
    for _ in 0..LAUNCHES {
        let start = Instant::now();
        launch()?;
        calls.push(start.elapsed().as_secs_f64());
        wait()?;
    }
    calls.sort_by(f64::total_cmp);
    Ok(Figures { call: calls[LAUNCHES / 2], complete })
}

/// The sums as the kernels compute them, one addition after the other.
fn expected(first: &[f32], step: &[f32]) -> Vec<f32> {
    first.iter().zip(step).map(|(first, step)| (0..ADDITIONS).fold(*first, |sum, _| sum + step)).collect()
}

fn right(what: &str, got: &[f32], sums: &[f32]) -> Result<(), String> {
    if got == sums { Ok(()) } else { Err(format!("{what} adds wrongly")) }
}

fn numbers(tensor: &Tensor) -> Result<Vec<f32>, String> {
    tensor.to_vec().map_err(|error| error.to_string())
}

fn checked(call: &str, status: hipError_t) -> Result<(), String> {
    if status == hipError_t::hipSuccess { Ok(()) } else { Err(format!("{call} answered {}", status.0)) }
}

fn text(error: hip_safe::Error) -> String {
    error.to_string()
}
