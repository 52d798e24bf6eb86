//! The host time of one small addition by layer: the C call, hip-safe, tensor-core. Also the extra cost of
//! ids, which have to be checked, of pool memory, and of graphs of small additions.

use super::data::Matrix;
use super::measure::{Effort, median};
use super::rows::SMALL;
use crate::graphs;
use hip_safe::LaunchConfig;
use hip_sys::hip::hipError_t;
use kernels_hip::args::Map2;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::{Duration, Instant};
use tensor_core::{BinaryOp, DType, Device, HipDevice, Tensor};

/// Calls between two waits: fewer than a device's queue holds, so that no call blocks on a full queue.
const BATCH: u32 = 500;

/// How many more turns the layers of an addition take: the cost of one above another is a small part of
/// either's time.
const MORE: u32 = 11;

/// Seconds per call, with the row's name.
pub type HostTime = (&'static str, f64);

/// The host time of an addition.
pub struct HostTimes {
    /// In the order of [`NAMES`].
    pub rows: Vec<HostTime>,
    /// The additional time of its layers above the C call, in seconds.
    pub above: Above,
}

/// Medians, over turns, of how much longer a call took than the C call in the same turn.
pub struct Above {
    /// hip-safe's launch, built in advance.
    pub safe_launch: f64,
    /// hip-safe's launch, built for each call.
    pub safe_launch_built: f64,
    /// tensor-core's addition, from call to return.
    pub add_return: f64,
    /// tensor-core's addition, including the drop of its result.
    pub add: f64,
    /// tensor-core's addition in place.
    pub add_assign: f64,
}

/// The names of the rows.
pub const NAMES: [&str; 15] = [
    "host_raw_launch",
    "host_safe_launch",
    "host_safe_launch_built",
    "host_add",
    "host_add_assign",
    "host_add_return_above_raw",
    "host_add_above_raw",
    "host_index_select",
    "add_and_read",
    "index_select_and_read",
    "pool_alloc_free",
    "graph_100_bare_call",
    "graph_100_bare",
    "graph_100_small_adds_call",
    "graph_100_small_adds",
];

/// Measures all rows, for f32 and 16 × 16 elements. Each layer's result is checked, and a wrong result fails
/// the run.
///
/// # Errors
/// A description of what failed.
pub fn host_times(device: &HipDevice, effort: Effort) -> Result<HostTimes, String> {
    let text = |error: hip_safe::Error| error.to_string();
    let (tensor_device, wait) = (Device::Hip(device.clone()), || device.synchronize());
    let (x, y) = matrices(&tensor_device).map_err(|error| error.to_string())?;
    let (a, b) = (numbers(&x)?, numbers(&y)?);
    let sums: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let right = |name: &str, got: &[f32]| {
        if got == sums { Ok(()) } else { Err(format!("{name} adds wrongly")) }
    };

    let stream = device.stream();
    let function = device.elementwise_kernel(BinaryOp::Add.name(), DType::F32).map_err(|e| e.to_string())?;
    let (a, b) = (stream.upload(&a).map_err(text)?, stream.upload(&b).map_err(text)?);
    let zeros = || stream.alloc_zeros::<f32>(sums.len()).map_err(text);
    let (mut raw_out, mut safe_out, mut built_out) = (zeros()?, zeros()?, zeros()?);
    let map = Map2::flat(sums.len() as u64, Map2::A_TIGHT | Map2::B_TIGHT);
    let config = LaunchConfig { grid: [1, 1, 1], block: [256, 1, 1], shared_bytes: 0 };

    let mut pointers = [a.device_ptr().cast_mut(), b.device_ptr().cast_mut(), raw_out.device_ptr_mut()];
    let [p, q, r] = &mut pointers;
    let arguments: [*mut c_void; 4] = [
        (&raw mut *p).cast(),
        (&raw mut *q).cast(),
        (&raw mut *r).cast(),
        (&raw const map).cast_mut().cast(),
    ];
    let launch = device.device().platform().hip().hipModuleLaunchKernel;
    let current = device.device().make_current().map_err(text)?;
    let layers = {
        let launch_raw = || {
            // Nothing is written to them.
            let (arguments, none) = (arguments.as_ptr().cast_mut(), null_mut());
            // SAFETY: S1, S3, S5, S9: a live function of the current device, the only stream that the buffers are used on, and the
            // arguments that the kernel declares: three arrays of as many elements as the map says.
            let status =
                unsafe { launch(function.raw(), 1, 1, 1, 256, 1, 1, 0, stream.raw(), arguments, none) };
            if status == hipError_t::hipSuccess {
                Ok(())
            } else {
                Err(format!("hipModuleLaunchKernel answered {}", status.0))
            }
        };
        let (mut raw, mut raw_return) = (timed(launch_raw), timed_to_return(launch_raw));
        let mut prepared = stream.launch(&function, config);
        prepared.arg(&a).arg(&b).arg_mut(&mut safe_out).value(&map);
        // SAFETY: S9: as above.
        let mut safe = timed(|| unsafe { prepared.submit() }.map_err(text));
        let mut built = timed(|| {
            let mut launch = stream.launch(&function, config);
            launch.arg(&a).arg(&b).arg_mut(&mut built_out).value(&map);
            // SAFETY: S9: as above.
            unsafe { launch.submit() }.map_err(text)
        });
        right(NAMES[3], &numbers(&x.add(&y).map_err(|e| e.to_string())?)?)?;
        let mut add = timed(|| x.add(&y).map(drop).map_err(|e| e.to_string()));
        let mut add_return = timed_to_return(|| x.add(&y).map_err(|e| e.to_string()));
        let mut target = x.copy().map_err(|e| e.to_string())?;
        target.add_assign_(&y).map_err(|e| e.to_string())?;
        right(NAMES[4], &numbers(&target)?)?;
        let mut assign = timed(|| target.add_assign_(&y).map_err(|e| e.to_string()));

        let calls: [Timed<'_>; 7] =
            [&mut raw, &mut safe, &mut built, &mut add, &mut assign, &mut raw_return, &mut add_return];
        in_turns(Effort { repeats: effort.repeats * MORE, ..effort }, wait, calls)?
    };
    drop(current);
    let [raw, safe, built, add, assign, raw_return, add_return] = &layers;
    let longer =
        |layer: &[f64], raw: &[f64]| median(layer.iter().zip(raw).map(|(layer, raw)| layer - raw).collect());
    let above = Above {
        safe_launch: longer(safe, raw),
        safe_launch_built: longer(built, raw),
        add_return: longer(add_return, raw_return),
        add: longer(add, raw),
        add_assign: longer(assign, raw),
    };
    right(NAMES[0], &stream.download(&raw_out).map_err(text)?)?;
    right(NAMES[1], &stream.download(&safe_out).map_err(text)?)?;
    right(NAMES[2], &stream.download(&built_out).map_err(text)?)?;

    let by_ids = by_ids(&x, &y, effort, wait).map_err(|e| e.to_string())?;
    // SAFETY: S15: nobody reads it.
    let allocate = || unsafe { stream.alloc_uninit::<u8>(1 << 10) }.map(drop).map_err(text);
    let pool = batches(effort, wait, allocate)?;
    let (bare, graph) = (graphs::bare(device, &x, &y, effort)?, graphs::captured(device, &x, &y, effort)?);
    let figures = layers.map(median).into_iter().take(5).chain([above.add_return, above.add]).chain(by_ids);
    let figures = figures.chain([pool, bare.call, bare.complete, graph.call, graph.complete]);
    Ok(HostTimes { rows: NAMES.into_iter().zip(figures).collect(), above })
}

/// Measures an operation with ids, an addition whose result is read, and an operation with ids whose result
/// is read: reading after ids also asks the device for invalid ones.
fn by_ids(
    x: &Tensor,
    y: &Tensor,
    effort: Effort,
    wait: impl Fn() -> tensor_core::Result<()>,
) -> Result<[f64; 3], String> {
    let text = |error: tensor_core::Error| error.to_string();
    let ids = Tensor::from_vec((0..SMALL as u32).collect(), SMALL, &x.device()).map_err(text)?;
    if numbers(&x.index_select(&ids, 0).map_err(text)?)? != numbers(x)? {
        return Err("index_select selects wrongly".into());
    }
    let select = batches(effort, &wait, || x.index_select(&ids, 0).map(drop).map_err(text))?;
    let read =
        |made: tensor_core::Result<Tensor>| made.and_then(|x| x.to_vec::<f32>()).map(drop).map_err(text);
    let added = batches(effort, &wait, || read(x.add(y)))?;
    let selected = batches(effort, &wait, || read(x.index_select(&ids, 0)))?;
    Ok([select, added, selected])
}

fn matrices(device: &Device) -> tensor_core::Result<(Tensor, Tensor)> {
    let random = |seed| Matrix::random(DType::F32, SMALL, SMALL, seed, device);
    Ok((random(1)?.tensor, random(2)?.tensor))
}

fn numbers(tensor: &Tensor) -> Result<Vec<f32>, String> {
    tensor.to_vec().map_err(|error| error.to_string())
}

/// Makes a number of calls and returns the seconds per call.
type Timed<'a> = &'a mut dyn FnMut(u32) -> Result<f64, String>;

/// The median, over batches, of the time from call to return. Waiting for the device is not timed.
pub(crate) fn batches<E: std::fmt::Display>(
    effort: Effort,
    wait: impl Fn() -> Result<(), E>,
    call: impl FnMut() -> Result<(), String>,
) -> Result<f64, String> {
    let [seconds] = in_turns(effort, wait, [&mut timed(call)])?;
    Ok(median(seconds))
}

/// The seconds per call of each batch, for several calls whose batches alternate: so all of them run at the
/// same CPU clock rates.
fn in_turns<E: std::fmt::Display, const N: usize>(
    effort: Effort,
    wait: impl Fn() -> Result<(), E>,
    mut calls: [Timed<'_>; N],
) -> Result<[Vec<f64>; N], String> {
    let batch = |call: &mut Timed<'_>, calls: u32| {
        let seconds = call(calls)?;
        wait().map_err(|error| error.to_string())?;
        Ok::<_, String>(seconds)
    };
    let mut all = [const { Vec::new() }; N];
    for call in &mut calls {
        batch(call, effort.warm_ups)?;
    }
    for _ in 0..effort.repeats.max(1) {
        for (call, seconds) in calls.iter_mut().zip(&mut all) {
            seconds.push(batch(call, BATCH)?);
        }
    }
    Ok(all)
}

/// Times each of a number of calls from call to return; results are dropped between the calls. Each time
/// includes reading the clock, so only differences of such times are meaningful.
fn timed_to_return<R>(mut call: impl FnMut() -> Result<R, String>) -> impl FnMut(u32) -> Result<f64, String> {
    move |calls| {
        let mut all = Duration::ZERO;
        for _ in 0..calls {
            let start = Instant::now();
            let result = call()?;
            all += start.elapsed();
            drop(result);
        }
        Ok(all.as_secs_f64() / f64::from(calls.max(1)))
    }
}

/// Times a number of calls in a row.
fn timed(mut call: impl FnMut() -> Result<(), String>) -> impl FnMut(u32) -> Result<f64, String> {
    move |calls| {
        let start = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        Ok(start.elapsed().as_secs_f64() / f64::from(calls.max(1)))
    }
}
