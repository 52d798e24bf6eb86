//! Storage filled with one value.

use kernels_hip::args::CopyMap;

use super::launch::{elementwise, push};
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::device::wrap;
use crate::hip::maps::parts;
use crate::hip::{HipDevice, HipStorage};
use crate::layout::Layout;
use crate::scalar::Scalar;

/// `count` elements equal to `value`, rounded to `dtype`.
pub(crate) fn full(device: &HipDevice, dtype: DType, count: usize, value: Scalar) -> Result<HipStorage> {
    let kernel = elementwise("fill", dtype);
    if count == 0 || value == Scalar::Int(0) {
        return HipStorage::zeros(device, dtype, count, "full");
    }
    // SAFETY: S15: the kernel writes every element.
    let mut out = unsafe { HipStorage::uninit(device, dtype, count, "full") }?;
    let function = device.kernels().get(device, kernel)?;
    {
        let mut target = out.tail_mut(0, "full")?;
        let size = dtype.size_in_bytes();
        let mut launch = device.stream().launch(function, device.walk(true, count, (size, size)));
        launch.arg_mut(&mut target).value(&(count as u64));
        push(&mut launch, dtype, &[value]);
        // SAFETY: S9: the kernel writes `count` elements, which the storage has.
        unsafe { launch.submit() }.map_err(wrap("full"))?;
    }
    Ok(out)
}

/// Writes `value` to each element of `layout`, whose elements do not overlap.
pub(crate) fn fill(storage: &mut HipStorage, layout: &Layout, value: Scalar) -> Result<()> {
    let (device, dtype) = (storage.device().clone(), storage.dtype());
    for part in parts(&[layout]) {
        let function = device.kernels().get(&device, elementwise("const_set", dtype))?;
        let mut target = storage.tail_mut(part.starts[0], "fill")?;
        let (map, size) = (part.copy_map(), dtype.size_in_bytes());
        let flat = map.flags & CopyMap::DST_TIGHT != 0;
        let mut launch = device.stream().launch(function, device.walk(flat, part.count, (size, size)));
        launch.arg_mut(&mut target).value(&map);
        push(&mut launch, dtype, &[value]);
        // SAFETY: S9: the kernel writes the layout's elements, which lie inside the storage.
        unsafe { launch.submit() }.map_err(wrap("fill"))?;
    }
    Ok(())
}
