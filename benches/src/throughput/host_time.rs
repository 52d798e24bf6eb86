//! What one small addition costs the host, layer by layer: the C call, hip-safe, tensor-core; and what ids add, which may be wrong.

use super::data::Matrix;
use super::measure::Effort;
use super::rows::SMALL;
use hip_safe::LaunchConfig;
use hip_sys::hip::hipError_t;
use kernels_hip::args::Map2;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::Instant;
use tensor_core::{BinaryOp, DType, Device, HipDevice, Tensor};

/// Calls between two waits: fewer than a device's queue holds, so that no call waits for room.
const BATCH: u32 = 500;

/// Seconds a call, under the row's name.
pub type HostTime = (&'static str, f64);

/// The names of the rows.
pub const NAMES: [&str; 8] = [
    "host_raw_launch",
    "host_safe_launch",
    "host_safe_launch_built",
    "host_add",
    "host_add_assign",
    "host_index_select",
    "add_and_read",
    "index_select_and_read",
];

/// Measures all of it, for f32 and 16 × 16 elements. Each layer's result is checked, and a wrong one fails the run.
///
/// # Errors
/// What failed, in words.
pub fn host_times(device: &HipDevice, effort: Effort) -> Result<Vec<HostTime>, String> {
    let text = |error: hip_safe::Error| error.to_string();
    let (place, wait) = (Device::Hip(device.clone()), || device.synchronize());
    let (x, y) = matrices(&place).map_err(|error| error.to_string())?;
    let (a, b) = (numbers(&x)?, numbers(&y)?);
    let sums: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let right = |name: &str, got: &[f32]| {
        if got == sums { Ok(()) } else { Err(format!("{name} adds wrongly")) }
    };

    let stream = device.stream();
    let function = device.elementwise_kernel(BinaryOp::Add.name(), DType::F32).map_err(|e| e.to_string())?;
    let (a, b) = (stream.upload(&a).map_err(text)?, stream.upload(&b).map_err(text)?);
    let mut out = stream.alloc_zeros::<f32>(sums.len()).map_err(text)?;
    let map = Map2::flat(sums.len() as u64, Map2::A_TIGHT | Map2::B_TIGHT);
    let config = LaunchConfig { grid: [1, 1, 1], block: [256, 1, 1], shared_bytes: 0 };

    let mut pointers = [a.device_ptr().cast_mut(), b.device_ptr().cast_mut(), out.device_ptr_mut()];
    let [p, q, r] = &mut pointers;
    let mut arguments: [*mut c_void; 4] = [
        (&raw mut *p).cast(),
        (&raw mut *q).cast(),
        (&raw mut *r).cast(),
        (&raw const map).cast_mut().cast(),
    ];
    let launch = device.device().platform().hip().hipModuleLaunchKernel;
    let current = device.device().make_current().map_err(text)?;
    let raw = batches(effort, wait, || {
        let (arguments, none) = (arguments.as_mut_ptr(), null_mut());
        // SAFETY: S1, S3, S5, S9: a live function of the current device, the only stream that the buffers are used on, and the
        // arguments that the kernel declares: three arrays of as many elements as the map says.
        let status = unsafe { launch(function.raw(), 1, 1, 1, 256, 1, 1, 0, stream.raw(), arguments, none) };
        if status == hipError_t::hipSuccess {
            Ok(())
        } else {
            Err(format!("hipModuleLaunchKernel answered {}", status.0))
        }
    })?;
    drop(current);
    right(NAMES[0], &stream.download(&out).map_err(text)?)?;

    stream.memset(&mut out, 0).map_err(text)?;
    let mut prepared = stream.launch(&function, config);
    prepared.arg(&a).arg(&b).arg_mut(&mut out).value(&map);
    // SAFETY: S9: as above.
    let safe = batches(effort, wait, || unsafe { prepared.submit() }.map_err(text))?;
    drop(prepared);
    right(NAMES[1], &stream.download(&out).map_err(text)?)?;

    stream.memset(&mut out, 0).map_err(text)?;
    let built = batches(effort, wait, || {
        let mut launch = stream.launch(&function, config);
        launch.arg(&a).arg(&b).arg_mut(&mut out).value(&map);
        // SAFETY: S9: as above.
        unsafe { launch.submit() }.map_err(text)
    })?;
    right(NAMES[2], &stream.download(&out).map_err(text)?)?;

    right(NAMES[3], &numbers(&x.add(&y).map_err(|e| e.to_string())?)?)?;
    let add = batches(effort, wait, || x.add(&y).map(drop).map_err(|e| e.to_string()))?;

    let mut target = x.copy().map_err(|e| e.to_string())?;
    target.add_assign_(&y).map_err(|e| e.to_string())?;
    right(NAMES[4], &numbers(&target)?)?;
    let assign = batches(effort, wait, || target.add_assign_(&y).map_err(|e| e.to_string()))?;

    let by_ids = by_ids(&x, &y, effort, wait).map_err(|e| e.to_string())?;
    Ok(NAMES.into_iter().zip([raw, safe, built, add, assign].into_iter().chain(by_ids)).collect())
}

/// A call by ids, an addition that is read back, and a call by ids that is: reading after ids asks the device for wrong ones, too.
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

/// The median, over batches, of the seconds that a call takes until it returns. Waiting for the device is not timed.
pub(crate) fn batches<E: std::fmt::Display>(
    effort: Effort,
    wait: impl Fn() -> Result<(), E>,
    mut call: impl FnMut() -> Result<(), String>,
) -> Result<f64, String> {
    let mut batch = |calls: u32| -> Result<f64, String> {
        let start = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        let seconds = start.elapsed().as_secs_f64() / f64::from(calls.max(1));
        wait().map_err(|error| error.to_string())?;
        Ok(seconds)
    };
    batch(effort.warm_ups)?;
    let mut all = (0..effort.repeats.max(1)).map(|_| batch(BATCH)).collect::<Result<Vec<_>, String>>()?;
    all.sort_by(f64::total_cmp);
    Ok(all[all.len() / 2])
}
