//! Reductions over any set of axes.

use std::cmp::Reverse;

use kernels_hip::MAX_RANK;
use kernels_hip::args::{JoinMap, ReduceMap};
use kernels_hip::launch::{self, Reduced, Reduction};

use super::{binary, cast, copy, fill};
use crate::axis::behind_others;
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::hip::maps::{eight, parts};
use crate::layout::{Layout, collapse};
use crate::ops::{BinaryOp, ReduceOp};
use crate::scalar::Scalar;

/// Half of the threads that a multiprocessor of current GPUs holds: see [`Reduced`].
const THREADS_EACH: u32 = 1024;

/// Reduces `axes` by `op`. If the axes are empty, the operation has an identity or the result is empty.
pub(crate) fn reduce(
    storage: &HipStorage,
    layout: &Layout,
    op: ReduceOp,
    axes: &[usize],
) -> Result<HipStorage> {
    let (kept, reduced) = layout.split(axes);
    if kept.elements() == 0 {
        return HipStorage::zeros(storage.device(), op.result_dtype(storage.dtype()), 0, op.name());
    }
    // The order of the reduced elements matters for positions.
    let reduced = if op.is_position() { reduced } else { by_strides(&reduced, op)? };
    let inner = collapse(&[&reduced]);
    if inner.dims.len() > MAX_RANK {
        // Such a scattered group does not fit the kernel's arguments. Its elements are made contiguous first, in their
        // order.
        let (rank, first) = (layout.rank(), layout.rank() - axes.len());
        let grouped = layout.permute(&behind_others(rank, axes), op.name())?;
        let tight = Layout::contiguous(grouped.shape().clone(), op.name())?;
        let trailing: Vec<usize> = (first..rank).collect();
        return reduce(&copy::copy(storage, &grouped)?, &tight, op, &trailing);
    }
    let device = storage.device();
    let dtype = op.result_dtype(storage.dtype());
    let length = reduced.elements() as u64;
    // SAFETY: S15: the parts cover every output, and the kernel writes each.
    let mut out = unsafe { HipStorage::uninit(device, dtype, kept.elements(), op.name()) }?;
    let tight = inner.dims.is_empty() || inner.strides[0][..] == [1];
    for part in parts(&[&kept]) {
        let (outputs, outer) = (part.count as u64, part.map1());
        let line = (part.innermost_stride(0) == Some(1)).then(|| outer.dims[outer.rank as usize - 1]);
        let element_bytes = storage.dtype().size_in_bytes();
        let halves =
            element_bytes == 2 && storage.dtype().is_float() && !matches!(op, ReduceOp::Sum | ReduceOp::Prod);
        let threads_each = THREADS_EACH;
        let work = Reduced { outputs, length, line, tight, element_bytes, halves, threads_each };
        let plan = launch::reduce(&work, device.multiprocessors());
        let kernel =
            Kernel { family: "reduce", op: kernel_name(plan.kind, op), dtype: storage.dtype(), to: None };
        let function = device.kernels().get(device, kernel)?;
        let input = storage.tail(part.starts[0], op.name())?;
        let map = ReduceMap {
            outputs,
            length,
            segment: plan.segment,
            parts: plan.parts,
            group: plan.group,
            kept_rank: outer.rank,
            reduced_rank: inner.dims.len() as u32,
            kept_dims: outer.dims,
            kept_strides: outer.a,
            reduced_dims: eight(&inner.dims),
            reduced_strides: eight(&inner.strides[0]),
        };
        let mut launch = device.stream().launch(function, config(plan.shape));
        if plan.parts == 1 {
            let mut target = out.tail_mut(part.first, op.name())?;
            launch.arg(&input).arg_mut(&mut target).value(&map);
            // SAFETY: S9: the kernel reads the layout's elements, which lie inside the storage, and writes `outputs`
            // elements.
            unsafe { launch.submit() }.map_err(wrap(op.name()))?;
            continue;
        }
        let bytes = part.count * plan.parts as usize * accumulator_bytes(storage.dtype(), op);
        // SAFETY: S15: the first kernel writes every part of every output, the second reads them.
        let mut partial = unsafe { HipStorage::uninit(device, DType::U8, bytes, op.name()) }?;
        let mut target = partial.tail_mut(0, op.name())?;
        launch.arg(&input).arg_mut(&mut target).value(&map);
        // SAFETY: S9: as above; it writes what it accumulates for each part, in as many bytes as were counted.
        unsafe { launch.submit() }.map_err(wrap(op.name()))?;
        join(
            &partial,
            &mut out,
            part.first,
            JoinMap { outputs, parts: plan.parts, width: 1 },
            op,
            storage.dtype(),
        )?;
    }
    Ok(out)
}

/// Joins the partial results of `map.outputs` outputs, of which `first` is the first.
fn join(
    partial: &HipStorage,
    out: &mut HipStorage,
    first: usize,
    map: JoinMap,
    op: ReduceOp,
    dtype: DType,
) -> Result<()> {
    let device = partial.device();
    let (shape, width) = launch::join(map.outputs, device.multiprocessors());
    let function =
        device.kernels().get(device, Kernel { family: "reduce", op: join_name(op), dtype, to: None })?;
    let (input, mut target) = (partial.tail(0, op.name())?, out.tail_mut(first, op.name())?);
    let mut launch = device.stream().launch(function, config(shape));
    launch.arg(&input).arg_mut(&mut target).value(&JoinMap { width, ..map });
    // SAFETY: S9: the kernel reads the parts of all outputs, and writes one element per output.
    unsafe { launch.submit() }.map_err(wrap(op.name()))
}

/// Permutes the axes to descending strides, so that elements are read in memory order.
fn by_strides(layout: &Layout, op: ReduceOp) -> Result<Layout> {
    let mut order: Vec<usize> = (0..layout.rank()).collect();
    order.sort_by_key(|&axis| Reverse(layout.strides()[axis]));
    layout.permute(&order, op.name())
}

/// Bytes of the kernels' accumulator: `Op::Sum` in `reduce.hip`.
fn accumulator_bytes(dtype: DType, op: ReduceOp) -> usize {
    let value = if dtype.size_in_bytes() == 8 { 8 } else { 4 };
    if op.is_position() { 2 * value } else { value }
}

/// The mean over `axes`, rounded to the dtype once; NaN for no elements. Floats only.
pub(crate) fn mean(storage: &HipStorage, layout: &Layout, axes: &[usize]) -> Result<HipStorage> {
    let dtype = storage.dtype();
    if !matches!(dtype, DType::F32 | DType::F64) {
        let wide = cast::cast(storage, layout, DType::F32)?;
        let means = mean(&wide, &Layout::contiguous(layout.shape().clone(), "mean")?, axes)?;
        return cast::cast(&means, &Layout::contiguous(means.len(), "mean")?, dtype);
    }
    let sums = reduce(storage, layout, ReduceOp::Sum, axes)?;
    let count = layout.split(axes).1.elements();
    let divisor = fill::full(storage.device(), dtype, 1, Scalar::Float(count as f64))?;
    let all = Layout::contiguous(sums.len(), "mean")?;
    let one = Layout::contiguous(1, "mean")?.expand(all.shape(), "mean")?;
    binary::binary(&sums, &all, &divisor, &one, BinaryOp::Div)
}

/// Makes the names of kernels that a reduction has beside its own.
macro_rules! kernel_names {
    ($($op:ident, $name:ident($($method:ident),+), $text:literal, $dtypes:ident;)+) => {
        /// The part of a kernel's name between the family and the dtype.
        fn kernel_name(kind: Reduction, op: ReduceOp) -> &'static str {
            match (kind, op) {
                (Reduction::Rows, op) => op.name(),
                $((Reduction::Columns, ReduceOp::$op) => concat!("cols_", stringify!($name)),)+
            }
        }

        /// The kernel that joins partial results.
        fn join_name(op: ReduceOp) -> &'static str {
            match op {
                $(ReduceOp::$op => concat!("join_", stringify!($name)),)+
            }
        }
    };
}

kernels_hip::reduce_operations! { kernel_names! }
