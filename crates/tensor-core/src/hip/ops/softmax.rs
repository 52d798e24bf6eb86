//! Softmax and its logarithm along one axis.

use kernels_hip::MAX_RANK;
use kernels_hip::args::{ColumnMap, RowMap};
use kernels_hip::launch::{self, RowKernel};

use super::copy;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::hip::maps::{eight, parts};
use crate::layout::{Layout, collapse};

/// eˣ / Σeˣ along `axis`, or its logarithm.
pub(crate) fn softmax(storage: &HipStorage, layout: &Layout, axis: usize, log: bool) -> Result<HipStorage> {
    let name = name(log);
    if layout.elements() == 0 {
        return HipStorage::zeros(storage.device(), storage.dtype(), 0, name);
    }
    let inner: usize = layout.dims()[axis + 1..].iter().product();
    let (kept, _) = layout.split(&[axis]);
    let outer = collapse(&[&kept]);
    let ready = if inner == 1 {
        // Contiguous rows. The distance between rows does not matter.
        layout.dims()[axis] == 1 || layout.strides()[axis] == 1
    } else {
        // Adjacent columns. The distance between their elements does not matter.
        outer.dims.len() <= MAX_RANK && outer.strides[0].last() == Some(&1)
    };
    if !ready {
        let tight = Layout::contiguous(layout.shape().clone(), name)?;
        return softmax(&copy::copy(storage, layout)?, &tight, axis, log);
    }
    if inner == 1 { rows(storage, layout, axis, log) } else { columns(storage, layout, axis, log) }
}

/// Softmax along the innermost axis.
fn rows(storage: &HipStorage, layout: &Layout, axis: usize, log: bool) -> Result<HipStorage> {
    let (device, dtype, name) = (storage.device(), storage.dtype(), name(log));
    let length = layout.dims()[axis];
    // SAFETY: S15: the parts cover every row, and the kernels write each.
    let mut out = unsafe { HipStorage::uninit(device, dtype, layout.elements(), name) }?;
    for part in parts(&[&layout.split(&[axis]).0]) {
        let (rows, length) = (part.count as u64, length as u64);
        let (kind, shape) =
            launch::rows(rows, length, dtype.size_in_bytes(), storage.device().multiprocessors());
        let op = match (kind, log) {
            (RowKernel::Short, false) => "short",
            (RowKernel::Short, true) => "log_short",
            (RowKernel::Block, false) => "rows",
            (RowKernel::Block, true) => "log_rows",
        };
        let function = device.kernels().get(device, Kernel { family: "softmax", op, dtype, to: None })?;
        let input = storage.tail(part.starts[0], name)?;
        let mut target = out.tail_mut(part.first * length as usize, name)?;
        let (dims, strides) = (part.dims(), part.strides(0));
        let map = RowMap { rows, length, rank: part.rank(), reserved: 0, dims, strides };
        let mut launch = device.stream().launch(function, config(shape));
        launch.arg(&input).arg_mut(&mut target).value(&map);
        // SAFETY: S9: the kernel reads the layout's elements, which lie inside the storage, and writes `rows · length`
        // elements.
        unsafe { launch.submit() }.map_err(wrap(name))?;
    }
    Ok(out)
}

/// Softmax along another axis. The kept axes collapse to at most eight dimensions.
fn columns(storage: &HipStorage, layout: &Layout, axis: usize, log: bool) -> Result<HipStorage> {
    let (device, dtype, name) = (storage.device(), storage.dtype(), name(log));
    let (kept, _) = layout.split(&[axis]);
    let outer = collapse(&[&kept]);
    let (columns, length) = (kept.elements() as u64, layout.dims()[axis] as u64);
    // SAFETY: S15: the kernel writes every element of every column.
    let mut out = unsafe { HipStorage::uninit(device, dtype, layout.elements(), name) }?;
    let op = if log { "log_cols" } else { "cols" };
    let function = device.kernels().get(device, Kernel { family: "softmax", op, dtype, to: None })?;
    let (input, mut target) = (storage.tail(layout.offset(), name)?, out.tail_mut(0, name)?);
    let map = ColumnMap {
        columns,
        length,
        inner: layout.dims()[axis + 1..].iter().product::<usize>() as u64,
        step: layout.strides()[axis] as u64,
        rank: outer.dims.len() as u32,
        reserved: 0,
        dims: eight(&outer.dims),
        strides: eight(&outer.strides[0]),
    };
    let shape = launch::columns(columns, length, device.multiprocessors());
    let mut launch = device.stream().launch(function, config(shape));
    launch.arg(&input).arg_mut(&mut target).value(&map);
    // SAFETY: S9: the kernel reads the layout's elements, which lie inside the storage, and writes `columns · length`
    // elements.
    unsafe { launch.submit() }.map_err(wrap(name))?;
    Ok(out)
}

fn name(log: bool) -> &'static str {
    if log { "log_softmax" } else { "softmax" }
}
