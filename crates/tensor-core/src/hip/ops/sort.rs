//! Sorting along the last axis.

use std::ptr;

use hip_safe::DeviceRepr;
use kernels_hip::launch::{self, LaunchShape};

use super::{copy, radix};
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::layout::Layout;

/// The first `keep` elements of each sorted row, and their positions. The layout has a last axis, with `keep` to
/// `u32::MAX` elements.
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

/// The output of a pass: elements and their positions in the row.
struct Pass {
    values: Option<HipStorage>,
    positions: HipStorage,
}

/// The input of a pass: contiguous rows from element `start` on. `None` for positions means that elements are at their
/// original positions.
#[derive(Clone, Copy)]
struct Rows<'a> {
    values: &'a HipStorage,
    start: usize,
    positions: Option<&'a HipStorage>,
}

/// If `keep` is small and rows are long, first keeps candidates only. Then sorts short runs and merges them.
/// `with_values` says whether the last pass writes elements too.
fn order(
    storage: &HipStorage,
    layout: &Layout,
    descending: bool,
    keep: usize,
    with_values: bool,
    operation: &'static str,
) -> Result<Pass> {
    let (device, dtype) = (storage.device(), storage.dtype());
    let length = layout.dims().last().copied().unwrap_or(1);
    let mut done = Pass { values: None, positions: HipStorage::zeros(device, DType::U32, 0, operation)? };
    if layout.elements() == 0 || keep == 0 {
        return Ok(done);
    }
    let rows = (layout.elements() / length) as u64;
    let gathered = if layout.is_contiguous() { None } else { Some(copy::copy(storage, layout)?) };
    let source = match &gathered {
        Some(tight) => Rows { values: tight, start: 0, positions: None },
        None => Rows { values: storage, start: layout.offset(), positions: None },
    };
    let (mut length, keep) = (length as u64, keep as u64);
    if radix::fit(device, rows, length, keep, dtype) {
        let (values, positions) =
            radix::sort((source.values, source.start), (rows, length), descending, with_values, operation)?;
        return Ok(Pass { values, positions });
    }
    while let Some(map) = launch::topk_pass(rows, length, keep, descending, dtype.size_in_bytes()) {
        let kernel = Kernel { family: "topk", op: "select", dtype, to: None };
        let shape = launch::topk(&map, device.multiprocessors());
        done = pass(done.rows().unwrap_or(source), kernel, shape, &map, rows * map.out_row, true, operation)?;
        length = map.out_row;
    }
    let mut passes = launch::sort_passes(rows, length, keep, descending).peekable();
    while let Some(map) = passes.next() {
        let kernel =
            Kernel { family: "sort", op: if map.shift != 0 { "tiles" } else { "merge" }, dtype, to: None };
        let (shape, wanted) =
            (launch::sort(&map, device.multiprocessors()), with_values || passes.peek().is_some());
        done =
            pass(done.rows().unwrap_or(source), kernel, shape, &map, rows * map.out_row, wanted, operation)?;
    }
    Ok(done)
}

impl Pass {
    /// The next pass's input, if this pass wrote elements.
    fn rows(&self) -> Option<Rows<'_>> {
        let values = self.values.as_ref()?;
        Some(Rows { values, start: 0, positions: Some(&self.positions) })
    }
}

/// Runs one pass, which writes `count` elements and positions, or positions only.
fn pass<M: DeviceRepr>(
    input: Rows<'_>,
    kernel: Kernel,
    shape: LaunchShape,
    map: &M,
    count: u64,
    with_values: bool,
    operation: &'static str,
) -> Result<Pass> {
    let device = input.values.device();
    let function = device.kernels().get(device, kernel)?;
    let uninit = |dtype| {
        // SAFETY: S15: the kernel writes the output of each section or run, and the next pass or the caller reads only
        // that. The last pass writes all: one run of `keep` elements per row.
        unsafe { HipStorage::uninit(device, dtype, count as usize, operation) }
    };
    let mut values = if with_values { Some(uninit(kernel.dtype)?) } else { None };
    let mut positions = uninit(DType::U32)?;
    {
        let from = input.values.tail(input.start, operation)?;
        let from_positions = input.positions.map(|positions| positions.tail(0, operation)).transpose()?;
        let mut to = values.as_mut().map(|values| values.tail_mut(0, operation)).transpose()?;
        let mut to_positions = positions.tail_mut(0, operation)?;
        let mut launch = device.stream().launch(function, config(shape));
        launch.arg(&from);
        match &from_positions {
            Some(positions) => launch.arg(positions),
            None => launch.pointer(ptr::null()),
        };
        match &mut to {
            Some(values) => launch.arg_mut(values),
            None => launch.pointer(ptr::null()),
        };
        launch.arg_mut(&mut to_positions).value(map);
        // SAFETY: S9: the kernel reads the rows of the map, which the input has from `start` on and which an earlier
        // pass has written where sections or runs have output. It writes inside `count` elements. It uses no null
        // pointer: only merges need positions, and they have an earlier pass.
        unsafe { launch.submit() }.map_err(wrap(operation))?;
    }
    Ok(Pass { values, positions })
}
