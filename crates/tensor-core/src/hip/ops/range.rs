//! Evenly spaced numbers, each computed from its index.

use hip_safe::Launch;

use super::launch::{made, push};
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::kernels::Kernel;
use crate::hip::{HipDevice, HipStorage};
use crate::scalar::Scalar;

/// `count` elements: start, start + step, start + 2·step, …. Integers wrap; floats are computed in `f64` with one fused
/// multiply-add and then rounded.
pub(crate) fn arange(
    device: &HipDevice,
    dtype: DType,
    count: usize,
    start_and_step: [Scalar; 2],
) -> Result<HipStorage> {
    // The kernel takes both as 64-bit numbers.
    let wide = if dtype.is_float() { DType::F64 } else { DType::I64 };
    of_indices(device, dtype, count, "arange", &|launch| push(launch, wide, &start_and_step))
}

/// `count` evenly spaced elements from start to end, computed in `f64` and then rounded. The ends are exact.
pub(crate) fn linspace(
    device: &HipDevice,
    dtype: DType,
    count: usize,
    ends: [Scalar; 2],
) -> Result<HipStorage> {
    of_indices(device, dtype, count, "linspace", &|launch| push(launch, dtype, &ends))
}

/// `count` elements that a kernel computes from their indices and the two numbers that `push_numbers` appends.
fn of_indices(
    device: &HipDevice,
    dtype: DType,
    count: usize,
    op: &'static str,
    push_numbers: &dyn Fn(&mut Launch<'_>),
) -> Result<HipStorage> {
    let kernel = Kernel { family: "select", op, dtype, to: None };
    made(device, kernel, (count, dtype.size_in_bytes()), &|launch| {
        launch.value(&(count as u64));
        push_numbers(launch);
    })
}
