//! Strided copies.

use std::cmp::Reverse;

use kernels_hip::args::CopyMap;
use kernels_hip::launch;

use super::launch::elementwise;
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::hip::maps::parts;
use crate::layout::Layout;

/// A contiguous copy of the elements of `layout`, in row-major order.
pub(crate) fn copy(storage: &HipStorage, layout: &Layout) -> Result<HipStorage> {
    let tight = Layout::contiguous(layout.shape().clone(), "copy")?;
    // SAFETY: S15: the copy writes every element.
    let mut out = unsafe { HipStorage::uninit(storage.device(), storage.dtype(), tight.elements(), "copy") }?;
    copy_from(&mut out, &tight, storage, layout)?;
    Ok(out)
}

/// Copies the elements of `source` to those of `layout`, which do not overlap. Both layouts have the same shape.
pub(crate) fn copy_from(
    storage: &mut HipStorage,
    layout: &Layout,
    source: &HipStorage,
    from: &Layout,
) -> Result<()> {
    let (device, dtype) = (storage.device().clone(), storage.dtype());
    // The order is free. The destination's memory order is the fastest.
    let mut order: Vec<usize> = (0..layout.rank()).collect();
    order.sort_by_key(|&axis| Reverse(layout.strides()[axis]));
    let (layout, from) = (layout.permute(&order, "copy")?, from.permute(&order, "copy")?);
    for part in parts(&[&layout, &from]) {
        let (input, mut target) =
            (source.tail(part.starts[1], "copy")?, storage.tail_mut(part.starts[0], "copy")?);
        let size = dtype.size_in_bytes();
        if let Some(map) = part.transpose_map() {
            let kernel = Kernel { family: "transpose", op: "", dtype: same_size(dtype), to: None };
            let function = device.kernels().get(&device, kernel)?;
            let shape = launch::transpose(map.rows, map.columns, map.batch, size, device.multiprocessors());
            let mut launch = device.stream().launch(function, config(shape));
            launch.arg(&input).arg_mut(&mut target).value(&map);
            // SAFETY: S9: as below; elements are moved as they are, so that only their size matters.
            unsafe { launch.submit() }.map_err(wrap("copy"))?;
            continue;
        }
        let function = device.kernels().get(&device, elementwise("copy", dtype))?;
        let map = part.copy_map();
        let flat = map.flags == CopyMap::SRC_TIGHT | CopyMap::DST_TIGHT;
        let mut launch = device.stream().launch(function, device.walk(flat, part.count, (size, size)));
        launch.arg(&input).arg_mut(&mut target).value(&map);
        // SAFETY: S9: the kernel reads and writes the layouts' elements, which lie inside their storages.
        unsafe { launch.submit() }.map_err(wrap("copy"))?;
    }
    Ok(())
}

/// The integer type of a dtype's size: `transpose` has one unit for all dtypes of a size.
fn same_size(dtype: DType) -> DType {
    match dtype.size_in_bytes() {
        1 => DType::U8,
        2 => DType::I16,
        4 => DType::I32,
        _ => DType::I64,
    }
}
