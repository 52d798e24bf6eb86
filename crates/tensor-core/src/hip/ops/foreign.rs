//! Device memory owned by another library.

use std::ffi::c_void;

use kernels_hip::args::CopyMap;

use super::launch::elementwise;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::hip::device::wrap;
use crate::hip::{HipDevice, HipStorage};
use crate::shape::Shape;

/// A contiguous copy of the elements that shape and strides reach from `first`. There is at least one, in at most eight
/// dimensions.
///
/// # Safety
/// The elements are memory of the device. The work that produced them is complete, and nobody writes them until the
/// copy is.
pub(crate) unsafe fn copy_foreign(
    device: &HipDevice,
    dtype: DType,
    first: *const c_void,
    shape: &[usize],
    strides: &[i64],
) -> Result<HipStorage> {
    let operation = "dlpack::import";
    let dims: Vec<u64> = shape.iter().map(|n| *n as u64).collect();
    // Negative strides are in two's complement.
    let strides: Vec<u64> = strides.iter().map(|n| *n as u64).collect();
    let tight: Vec<u64> = Shape::from(shape).row_major_strides().iter().map(|n| *n as u64).collect();
    let map = CopyMap::strided(&dims, &strides, &tight).ok_or_else(|| {
        Error::new(operation, ErrorKind::Rank { shape: shape.into(), expected: "at most 8" })
    })?;
    let count: usize = shape.iter().product();
    let function = device.kernels().get(device, elementwise("copy", dtype))?;
    // SAFETY: S15: the copy writes every element.
    let mut out = unsafe { HipStorage::uninit(device, dtype, count, operation) }?;
    {
        let mut target = out.tail_mut(0, operation)?;
        let mut launch = device.stream().launch(function, device.elementwise(count, dtype.size_in_bytes()));
        launch.pointer(first).arg_mut(&mut target).value(&map);
        // SAFETY: S9: the kernel reads what the caller vouches for, and writes `count` elements.
        unsafe { launch.submit() }.map_err(wrap(operation))?;
    }
    Ok(out)
}

/// DLPack's type of the device's memory: 10 for ROCm, 2 for CUDA; `None` for host memory.
pub(crate) fn dlpack_type(device: &HipDevice) -> Option<i32> {
    match device.device().platform().kind.name() {
        "amd" => Some(10),
        "nvidia" => Some(2),
        _ => None,
    }
}
