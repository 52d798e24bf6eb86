//! Cumulative sums and products along an axis.

use kernels_hip::args::ScanMap;
use kernels_hip::launch::{self, Scan};

use super::copy;
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::layout::Layout;
use crate::plan::scan::ScanOp;

/// Combines all elements along `axis` up to each one by `op`.
pub(crate) fn scan(storage: &HipStorage, layout: &Layout, op: ScanOp, axis: usize) -> Result<HipStorage> {
    let (device, name) = (storage.device(), op.name());
    if layout.elements() == 0 {
        return HipStorage::zeros(device, storage.dtype(), 0, name);
    }
    let dims = layout.dims();
    let (outer, inner): (usize, usize) = (dims[..axis].iter().product(), dims[axis + 1..].iter().product());
    let plan = launch::scan(outer as u64, dims[axis] as u64, inner as u64, device.multiprocessors());
    let Some(plan) = plan else {
        let last = layout.rank() - 1;
        let turned = layout.transpose(axis, last);
        let sums = scan(storage, &turned, op, last)?;
        let back = Layout::contiguous(turned.shape().clone(), name)?.transpose(axis, last);
        return copy::copy(&sums, &back);
    };
    if !layout.is_contiguous() {
        let tight = Layout::contiguous(layout.shape().clone(), name)?;
        return scan(&copy::copy(storage, layout)?, &tight, op, axis);
    }
    // SAFETY: S15: the kernels write every element of every line.
    let mut out = unsafe { HipStorage::uninit(device, storage.dtype(), layout.elements(), name) }?;
    match plan {
        Scan::Columns(map) => columns(storage, layout.offset(), &mut out, op, &map)?,
        Scan::Rows(map) => rows(storage, layout.offset(), &mut out, None, op, &map)?,
        Scan::Sections(map) => {
            let offsets = offsets(storage, layout.offset(), op, &map)?;
            rows(storage, layout.offset(), &mut out, Some(&offsets), op, &map)?;
        }
    }
    Ok(out)
}

/// Scans with one thread per line.
fn columns(
    storage: &HipStorage,
    start: usize,
    out: &mut HipStorage,
    op: ScanOp,
    map: &ScanMap,
) -> Result<()> {
    let (device, name) = (storage.device(), op.name());
    let function = device.kernels().get(device, kernel(storage, op, "cols_sum", "cols_prod"))?;
    let (input, mut target) = (storage.tail(start, name)?, out.tail_mut(0, name)?);
    let mut launch =
        device.stream().launch(function, config(launch::scan_columns(map, device.multiprocessors())));
    launch.arg(&input).arg_mut(&mut target).value(map);
    // SAFETY: S9: the kernel reads and writes the elements of the lines, which are contiguous in both storages.
    unsafe { launch.submit() }.map_err(wrap(name))
}

/// Scans with one block per section, which starts from the section's offset.
fn rows(
    storage: &HipStorage,
    start: usize,
    out: &mut HipStorage,
    offsets: Option<&HipStorage>,
    op: ScanOp,
    map: &ScanMap,
) -> Result<()> {
    let (device, name) = (storage.device(), op.name());
    let function = device.kernels().get(device, kernel(storage, op, "sum", "prod"))?;
    let (input, mut target) = (storage.tail(start, name)?, out.tail_mut(0, name)?);
    let offsets = match offsets {
        Some(offsets) => Some(offsets.tail(0, name)?),
        None => None,
    };
    let mut launch =
        device.stream().launch(function, config(launch::scan_rows(map, device.multiprocessors())));
    launch.arg(&input).arg_mut(&mut target);
    match &offsets {
        Some(offsets) => launch.arg(offsets),
        None => launch.pointer(std::ptr::null()),
    };
    launch.value(map);
    // SAFETY: S9: as for columns; lines of one section have no offsets, and the kernel reads none.
    unsafe { launch.submit() }.map_err(wrap(name))
}

/// The offset of each section: the cumulative sums of all sections' totals.
fn offsets(storage: &HipStorage, start: usize, op: ScanOp, map: &ScanMap) -> Result<HipStorage> {
    let (device, name) = (storage.device(), op.name());
    let sums = match storage.dtype() {
        DType::F64 => DType::F64,
        DType::I64 => DType::I64,
        dtype if dtype.is_float() => DType::F32,
        _ => DType::U32,
    };
    // SAFETY: S15: the first kernel writes the total of every section.
    let mut totals = unsafe { HipStorage::uninit(device, sums, (map.lines * map.sections) as usize, name) }?;
    {
        let function = device.kernels().get(device, kernel(storage, op, "totals_sum", "totals_prod"))?;
        let (input, mut target) = (storage.tail(start, name)?, totals.tail_mut(0, name)?);
        let mut launch =
            device.stream().launch(function, config(launch::scan_rows(map, device.multiprocessors())));
        launch.arg(&input).arg_mut(&mut target).value(map);
        // SAFETY: S9: the kernel reads the elements of the lines, which are contiguous, and writes a sum for each
        // section.
        unsafe { launch.submit() }.map_err(wrap(name))?;
    }
    {
        let function = device.kernels().get(device, kernel(storage, op, "offsets_sum", "offsets_prod"))?;
        let mut target = totals.tail_mut(0, name)?;
        let mut launch =
            device.stream().launch(function, config(launch::scan_offsets(map, device.multiprocessors())));
        launch.arg_mut(&mut target).value(map);
        // SAFETY: S9: the kernel reads and writes a sum for each section.
        unsafe { launch.submit() }.map_err(wrap(name))?;
    }
    Ok(totals)
}

fn kernel(storage: &HipStorage, op: ScanOp, sum: &'static str, prod: &'static str) -> Kernel {
    let op = if op == ScanOp::Sum { sum } else { prod };
    Kernel { family: "scan", op, dtype: storage.dtype(), to: None }
}
