//! Sorting along the last axis.

use std::ptr;

use kernels_hip::args::SortMap;
use kernels_hip::launch;

use super::copy;
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::layout::Layout;

/// The first `keep` elements of each sorted row, and their positions. The layout has an axis, of at most `u32::MAX`
/// elements and of at least `keep`.
pub(crate) fn sort(
    storage: &HipStorage,
    layout: &Layout,
    descending: bool,
    keep: usize,
    operation: &'static str,
) -> Result<(HipStorage, HipStorage)> {
    match order(storage, layout, descending, keep, true, operation)? {
        Pass { values: Some(values), positions } => Ok((values, positions)),
        Pass { values: None, positions } => {
            Ok((HipStorage::zeros(storage.device(), storage.dtype(), 0, operation)?, positions))
        }
    }
}

/// The positions of the first `keep` elements of each sorted row.
pub(crate) fn argsort(
    storage: &HipStorage,
    layout: &Layout,
    descending: bool,
    keep: usize,
    operation: &'static str,
) -> Result<HipStorage> {
    Ok(order(storage, layout, descending, keep, false, operation)?.positions)
}

/// What a pass wrote: elements and their positions in the row.
struct Pass {
    values: Option<HipStorage>,
    positions: HipStorage,
}

/// Sorts short runs, then merges them. `with_values` says whether the last pass writes elements too; where there are
/// none to write, it writes none.
fn order(
    storage: &HipStorage,
    layout: &Layout,
    descending: bool,
    keep: usize,
    with_values: bool,
    operation: &'static str,
) -> Result<Pass> {
    let device = storage.device();
    let length = layout.dims().last().copied().unwrap_or(1);
    if layout.elements() == 0 || keep == 0 {
        return Ok(Pass { values: None, positions: HipStorage::zeros(device, DType::U32, 0, operation)? });
    }
    let rows = layout.elements() / length;
    let gathered = if layout.is_contiguous() { None } else { Some(copy::copy(storage, layout)?) };
    let (source, start) = match &gathered {
        Some(tight) => (tight, 0),
        None => (storage, layout.offset()),
    };
    let mut before: Option<Pass> = None;
    let mut passes = launch::sort_passes(rows as u64, length as u64, keep as u64, descending).peekable();
    while let Some(map) = passes.next() {
        let wanted = with_values || passes.peek().is_some();
        let done = pass(source, start, before.as_ref(), &map, wanted, operation)?;
        before = Some(done);
    }
    match before {
        Some(done) => Ok(done),
        None => Ok(Pass { values: None, positions: HipStorage::zeros(device, DType::U32, 0, operation)? }),
    }
}

/// One pass: the first sorts runs of the rows that begin at element `start` of `source`, the others merge what the
/// pass `before` wrote.
fn pass(
    source: &HipStorage,
    start: usize,
    before: Option<&Pass>,
    map: &SortMap,
    with_values: bool,
    operation: &'static str,
) -> Result<Pass> {
    let device = source.device();
    let op = if before.is_some() { "merge" } else { "tiles" };
    let function =
        device.kernels().get(device, Kernel { family: "sort", op, dtype: source.dtype(), to: None })?;
    let count = (map.rows * map.out_row) as usize;
    let uninit = |dtype| {
        // SAFETY: S15: the kernel writes the stored elements of every run, and the next pass or the caller reads only
        // those: in the last pass, which leaves one run of `keep` elements a row, these are all.
        unsafe { HipStorage::uninit(device, dtype, count, operation) }
    };
    let mut values = if with_values { Some(uninit(source.dtype())?) } else { None };
    let mut positions = uninit(DType::U32)?;
    {
        let stored = before.and_then(|pass| Some((pass.values.as_ref()?, &pass.positions)));
        let input = match stored {
            Some((values, positions)) => (values.tail(0, operation)?, Some(positions.tail(0, operation)?)),
            None => (source.tail(start, operation)?, None),
        };
        let mut to_values = match &mut values {
            Some(values) => Some(values.tail_mut(0, operation)?),
            None => None,
        };
        let mut to_positions = positions.tail_mut(0, operation)?;
        let shape = launch::sort(map, device.multiprocessors());
        let mut launch = device.stream().launch(&function, config(shape));
        launch.arg(&input.0);
        if let Some(positions) = &input.1 {
            launch.arg(positions);
        }
        match &mut to_values {
            Some(values) => launch.arg_mut(values),
            None => launch.pointer(ptr::null()),
        };
        launch.arg_mut(&mut to_positions).value(map);
        // SAFETY: S9: the kernel reads `rows` rows of `in_row` elements, which the source has from `start` on and the
        // pass before has written where runs are stored, and writes inside `rows` rows of `out_row`; without values
        // it does not use the null pointer.
        unsafe { launch.submit() }.map_err(wrap(operation))?;
    }
    Ok(Pass { values, positions })
}
