//! Products of a single row of activations, as in decoding, and gates that round it: few launches, each of which would wait for the one
//! before.

use kernels_hip::args::{MoreMatrices, QuantMap};
use kernels_hip::launch::{self, QuantDot};

use super::binary;
use super::quant::{Activations, GROUP, kernel, require_width};
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::quant::QHipStorage;
use crate::layout::Layout;
use crate::ops::BinaryOp;

/// The most matrices of a launch.
const MOST: usize = 1 + MoreMatrices::MOST;

/// A matrix, how many rows it has, and how many teams share one of them.
#[derive(Clone, Copy)]
struct Matrix<'a> {
    index: usize,
    source: &'a QHipStorage,
    columns: usize,
    split: u32,
}

/// The products of a row of activations `xs` `[1, width]` with matrices of so many rows: `[1, columns]` each, in the dtype of `xs`.
/// Nothing is empty. `rounded` is as for [`super::quant::product`]. Up to three matrices of one format share a launch, if as many
/// teams share a row of each. Their rows are added in the same order as alone.
pub(crate) fn products(
    matrices: &[(&QHipStorage, usize)],
    (xs, layout): (&HipStorage, &Layout),
    rounded: &mut Option<Activations>,
    op: &'static str,
) -> Result<Vec<HipStorage>> {
    let (device, width) = (xs.device(), layout.dims()[1]);
    require_width(width, op)?;
    let activations = Activations::once(rounded, xs, layout, op)?;
    let mut left: Vec<Matrix<'_>> = Vec::with_capacity(matrices.len());
    for (index, &(source, columns)) in matrices.iter().enumerate() {
        let QuantDot { split, .. } =
            launch::quant_dot(columns as u64, width as u64, 1, device.multiprocessors());
        left.push(Matrix { index, source, columns, split });
    }
    let mut results: Vec<Option<HipStorage>> = matrices.iter().map(|_| None).collect();
    while let Some(first) = left.first().copied() {
        let alike =
            |other: &Matrix<'_>| (other.source.dtype(), other.split) == (first.source.dtype(), first.split);
        let together: Vec<Matrix<'_>> =
            left.iter().filter(|other| alike(other)).take(MOST).copied().collect();
        left.retain(|other| together.iter().all(|one| one.index != other.index));
        for (one, product) in together.iter().zip(launch_of(&together, xs, width, activations, op)?) {
            results[one.index] = Some(product);
        }
    }
    Ok(results.into_iter().map(|product| product.expect("each matrix was in a launch")).collect())
}

/// The products of up to [`MOST`] matrices of one format.
fn launch_of(
    matrices: &[Matrix<'_>],
    xs: &HipStorage,
    width: usize,
    activations: &Activations,
    op: &'static str,
) -> Result<Vec<HipStorage>> {
    let (device, dtype) = (xs.device(), xs.dtype());
    let Matrix { source, split, .. } = matrices[0];
    let rows = |index: usize| matrices.get(index).map_or(0, |matrix| matrix.columns);
    let result = |index: usize| {
        // SAFETY: S15: the kernel writes each element.
        unsafe { HipStorage::uninit(device, dtype, rows(index), op) }
    };
    let mut results = [result(0)?, result(1)?, result(2)?];
    let [one, two, three] = &mut results;
    let (mut one, mut two, mut three) = (one.tail_mut(0, op)?, two.tail_mut(0, op)?, three.tail_mut(0, op)?);
    // A matrix that is not there has no rows: its pointers are not used.
    let blocks =
        |index: usize| matrices.get(index).map_or(source, |matrix| matrix.source).memory().tail(0, op);
    let (first, second, third) = (blocks(0)?, blocks(1)?, blocks(2)?);
    let mut more = MoreMatrices::default();
    for (index, matrix) in matrices.iter().skip(1).enumerate() {
        more.rows[index] = matrix.columns as u64;
        more.begin[index] = matrix.source.map(width, 1).begin;
    }
    let all: usize = matrices.iter().map(|matrix| matrix.columns).sum();
    let shape = launch::quant_dot_split(all as u64, split, device.multiprocessors());
    let map = activations.map(QuantMap { rows: rows(0) as u64, split, ..source.map(width, 1) });
    let function = device.kernels().get(device, kernel(source.kernels().row, dtype))?;
    let bytes = activations.memory.tail(0, op)?;
    let mut launch = device.stream().launch(function, config(shape));
    launch.arg(&first).arg(&second).arg(&third).arg(&bytes);
    launch.arg_mut(&mut one).arg_mut(&mut two).arg_mut(&mut three).value(&map).value(&more);
    // SAFETY: S9: the kernel reads all blocks of the matrices and all activations, and writes an element of each result for each row of
    // its matrix.
    unsafe { launch.submit() }.map_err(wrap(op))?;
    Ok(results.into_iter().take(matrices.len()).collect())
}

/// As [`binary::binary_assign`] of rows of `width` numbers; and gives the results rounded, if a kernel does both.
pub(crate) fn gate(
    a: &mut HipStorage,
    lhs: &Layout,
    (b, rhs): (&HipStorage, &Layout),
    width: usize,
    gate: BinaryOp,
) -> Result<Option<Activations>> {
    let (op, count) = (gate.name(), lhs.elements());
    let name = match gate {
        BinaryOp::SiluMul => Some("activations_silu"),
        BinaryOp::GeluMul => Some("activations_gelu"),
        _ => None,
    };
    let fits = Activations::takes(&[(a, lhs.offset()), (b, rhs.offset())], width)
        && lhs.is_contiguous()
        && rhs.is_contiguous()
        && count > 0;
    let Some(name) = name.filter(|_| fits) else {
        binary::binary_assign(a, lhs, b, rhs, gate)?;
        return Ok(None);
    };
    let dtype = a.dtype();
    let (device, mut numbers) = a.split_tail_mut(lhs.offset(), op)?;
    // SAFETY: S15: the kernel writes all bytes but those between the parts, which nothing reads.
    let mut rounded = unsafe { Activations::uninit(device, count, op) }?;
    let function = device.kernels().get(device, kernel(name, dtype))?;
    let shape = launch::quant_activations((count / GROUP) as u64, device.multiprocessors());
    let (rows, width) = ((count / width) as u64, width as u64);
    let map = rounded.map(QuantMap { count: rows, width, ..QuantMap::default() });
    let (other, mut target) = (b.tail(rhs.offset(), op)?, rounded.memory.tail_mut(0, op)?);
    let mut launch = device.stream().launch(function, config(shape));
    launch.arg_mut(&mut numbers).arg(&other).arg_mut(&mut target).value(&map);
    // SAFETY: S9: both layouts are contiguous in their storages and have `count` elements; the kernel writes a byte for each, the scales
    // and the sums.
    unsafe { launch.submit() }.map_err(wrap(op))?;
    Ok(Some(rounded))
}
