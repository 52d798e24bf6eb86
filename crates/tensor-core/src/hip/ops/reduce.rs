//! Reductions over any set of axes.

use kernels_hip::MAX_RANK;
use kernels_hip::args::ReduceMap;
use kernels_hip::launch::{self, Reduction};

use super::{binary, cast, copy, fill};
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::hip::maps::{eight, parts};
use crate::layout::{Layout, collapse};
use crate::ops::{BinaryOp, ReduceOp};
use crate::scalar::Scalar;

/// `op` over `axes`. If there is nothing to reduce, the op has an identity or there are no results.
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
    let inner = collapse(&[&reduced]);
    if inner.dims.len() > MAX_RANK {
        // So scattered a group does not fit the kernel's arguments: its elements are brought together first, in their order.
        let (rank, first) = (layout.rank(), layout.rank() - axes.len());
        let order: Vec<usize> = (0..rank).filter(|axis| !axes.contains(axis)).chain(sorted(axes)).collect();
        let grouped = layout.permute(&order, op.name())?;
        let tight = Layout::contiguous(grouped.shape().clone(), op.name())?;
        let trailing: Vec<usize> = (first..rank).collect();
        return reduce(&copy::copy(storage, &grouped)?, &tight, op, &trailing);
    }
    let device = storage.device();
    let dtype = op.result_dtype(storage.dtype());
    let length = reduced.elements() as u64;
    // SAFETY: S15: the parts cover every output, and the kernel writes each.
    let mut out = unsafe { HipStorage::uninit(device, dtype, kept.elements(), op.name()) }?;
    for part in parts(&[&kept]) {
        let (outputs, stride) = (part.count as u64, part.innermost_stride(0).map(|s| s as u64));
        let kind = launch::reduction(outputs, length, stride, device.multiprocessors());
        let kernel = Kernel { family: "reduce", op: kernel_name(kind, op), dtype: storage.dtype(), to: None };
        let function = device.kernels().get(device, kernel)?;
        let (input, mut target) =
            (storage.tail(part.starts[0], op.name())?, out.tail_mut(part.first, op.name())?);
        let outer = part.map1();
        let map = ReduceMap {
            outputs,
            length,
            kept_rank: outer.rank,
            reduced_rank: inner.dims.len() as u32,
            kept_dims: outer.dims,
            kept_strides: outer.a,
            reduced_dims: eight(&inner.dims),
            reduced_strides: eight(&inner.strides[0]),
        };
        let shape = launch::reduce(kind, outputs, length, device.multiprocessors());
        let mut launch = device.stream().launch(&function, config(shape));
        launch.arg(&input).arg_mut(&mut target).value(&map);
        // SAFETY: S9: the kernel reads the layout's places, which lie inside the storage, and writes `outputs` elements.
        unsafe { launch.submit() }.map_err(wrap(op.name()))?;
    }
    Ok(out)
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

fn sorted(axes: &[usize]) -> Vec<usize> {
    let mut axes = axes.to_vec();
    axes.sort_unstable();
    axes
}

/// What stands between the family and the dtype in a kernel's name.
fn kernel_name(kind: Reduction, op: ReduceOp) -> &'static str {
    match (kind, op) {
        (Reduction::Rows, op) => op.name(),
        (Reduction::Columns, ReduceOp::Sum) => "cols_sum",
        (Reduction::Columns, ReduceOp::Prod) => "cols_prod",
        (Reduction::Columns, ReduceOp::Min) => "cols_min",
        (Reduction::Columns, ReduceOp::Max) => "cols_max",
        (Reduction::Columns, ReduceOp::ArgMin) => "cols_argmin",
        (Reduction::Columns, ReduceOp::ArgMax) => "cols_argmax",
    }
}
