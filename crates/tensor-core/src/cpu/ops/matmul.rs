//! Matrix products, by the `gemm` crate.

use std::cmp::Reverse;

use rayon::prelude::*;

use super::cast::cast;
use crate::cpu::{CpuStorage, unsupported, zeros};
use crate::dtype::DType;
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;

/// The products of `lhs` `[batch…, m, k]` and `rhs` `[batch…, k, n]`, whose batch dimensions are equal. The result is
/// not empty.
///
/// `f32` and `f64` are read in place, with any strides. The 16-bit and 8-bit types are converted to `f32`, and the
/// result is rounded to them once: `gemm`'s own `f16` rounds between blocks of a long inner dimension.
pub(crate) fn matmul(a: &CpuStorage, lhs: &Layout, b: &CpuStorage, rhs: &Layout) -> Result<CpuStorage> {
    match (a, b) {
        (CpuStorage::F32(x), CpuStorage::F32(y)) => products(x, lhs, y, rhs).map(f32::store),
        (CpuStorage::F64(x), CpuStorage::F64(y)) => products(x, lhs, y, rhs).map(f64::store),
        _ if a.dtype().is_float() && a.dtype() == b.dtype() => {
            let (x, lhs) = to_f32(a, lhs)?;
            let (y, rhs) = to_f32(b, rhs)?;
            let (CpuStorage::F32(x), CpuStorage::F32(y)) = (&x, &y) else {
                return Err(unsupported("matmul", a));
            };
            let result = products(x, &lhs, y, &rhs)?;
            let tight = Layout::contiguous(result.len(), "matmul")?;
            cast(&CpuStorage::F32(result), &tight, a.dtype())
        }
        _ => Err(unsupported("matmul", a)),
    }
}

/// The elements of `layout` as `f32`, with their new layout. Elements repeated by a stride of 0 are converted once. The
/// memory order is kept, so that a transposed matrix stays transposed.
pub(super) fn to_f32(storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Layout)> {
    let mut distinct = layout.clone();
    for axis in 0..layout.rank() {
        if layout.strides()[axis] == 0 && layout.dims()[axis] > 1 {
            distinct = distinct.narrow(axis, 0, 1, "matmul")?;
        }
    }
    let mut outer_first: Vec<usize> = (0..layout.rank()).collect();
    outer_first.sort_by_key(|axis| Reverse(distinct.strides()[*axis]));
    let in_memory = distinct.permute(&outer_first, "matmul")?;
    let converted = cast(storage, &in_memory, DType::F32)?;
    let tight = Layout::contiguous(in_memory.shape().clone(), "matmul")?;
    let mut back = outer_first.clone();
    (0..back.len()).for_each(|index| back[outer_first[index]] = index);
    Ok((converted, tight.permute(&back, "matmul")?.expand(layout.shape(), "matmul")?))
}

/// A matrix in a slice: rows, columns, and their strides in elements.
#[derive(Clone, Copy)]
pub(super) struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub row_stride: usize,
    pub column_stride: usize,
}

impl Matrix {
    /// The matrix of the last two dimensions.
    fn of(layout: &Layout) -> Matrix {
        let (dims, strides, rank) = (layout.dims(), layout.strides(), layout.rank());
        // The stride of a dimension of length 1 is not used, so that any value is right.
        let stride = |axis: usize| if dims[axis] == 1 { 1 } else { strides[axis] };
        Matrix {
            rows: dims[rank - 2],
            columns: dims[rank - 1],
            row_stride: stride(rank - 2),
            column_stride: stride(rank - 1),
        }
    }

    /// The length of the smallest slice that holds the matrix; 0 if it is empty.
    fn extent(&self) -> usize {
        match (self.rows.checked_sub(1), self.columns.checked_sub(1)) {
            (Some(row), Some(column)) => row * self.row_stride + column * self.column_stride + 1,
            _ => 0,
        }
    }
}

/// Batches of matrices with more multiplications than this use several cores per product; below, each core takes whole
/// products.
const PARALLEL: usize = 64 * 64 * 64;

fn products<T: Element + Factor>(a: &[T], lhs: &Layout, b: &[T], rhs: &Layout) -> Result<Vec<T>> {
    let (left, right) = (Matrix::of(lhs), Matrix::of(rhs));
    // The result is not empty, so that its size and all factors of it fit.
    let batch = lhs.dims()[..lhs.rank() - 2].iter().product::<usize>();
    let size = left.rows * right.columns;
    let mut out = zeros::<T>(batch * size, "matmul")?;
    if left.columns == 0 {
        return Ok(out);
    }
    // If the whole batch shares one right matrix and rows are evenly spaced, it is a single product.
    if let Some(rows) = stacked_rows(lhs, rhs) {
        multiply(&mut out, &a[lhs.offset()..], rows, &b[rhs.offset()..], right, gemm::Parallelism::Rayon(0));
        return Ok(out);
    }
    let offset = |layout: &Layout, matrix: &Matrix, index: usize| {
        layout.offset_of(index * matrix.rows * matrix.columns)
    };
    let product = |index: usize, out: &mut [T], parallelism| {
        let (x, y) = (&a[offset(lhs, &left, index)..], &b[offset(rhs, &right, index)..]);
        multiply(out, x, left, y, right, parallelism);
    };
    if batch == 1 || size.saturating_mul(left.columns) >= PARALLEL {
        out.chunks_mut(size).enumerate().for_each(|(i, out)| product(i, out, gemm::Parallelism::Rayon(0)));
    } else {
        out.par_chunks_mut(size).enumerate().for_each(|(i, out)| product(i, out, gemm::Parallelism::None));
    }
    Ok(out)
}

/// All rows of all batches of `lhs` as one matrix, if `rhs` is shared by the whole batch and the rows are evenly
/// spaced.
fn stacked_rows(lhs: &Layout, rhs: &Layout) -> Option<Matrix> {
    let rank = lhs.rank();
    let repeated = (0..rank - 2).all(|axis| rhs.strides()[axis] == 0 || rhs.dims()[axis] == 1);
    let rows = lhs.dims()[..rank - 1].iter().product::<usize>();
    if !repeated {
        return None;
    }
    // The layout of all rows' first elements, as one dimension.
    let first = lhs.narrow(rank - 1, 0, 1, "matmul").ok()?.squeeze(rank - 1, "matmul").ok()?.collapsed();
    let row_stride = match first.rank() {
        0 => 1,
        1 => first.strides()[0],
        _ => return None,
    };
    Some(Matrix { rows, row_stride, ..Matrix::of(lhs) })
}

/// A type that `gemm` multiplies without intermediate rounding.
pub(super) trait Factor {
    const ZERO: Self;
    const ONE: Self;
    const MINUS_INFINITY: Self;
    /// The nearest number.
    fn from_f64(x: f64) -> Self;
}

impl Factor for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;
    const MINUS_INFINITY: f32 = f32::NEG_INFINITY;

    fn from_f64(x: f64) -> f32 {
        x as f32
    }
}

impl Factor for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    const MINUS_INFINITY: f64 = f64::NEG_INFINITY;

    fn from_f64(x: f64) -> f64 {
        x
    }
}

/// Writes the product of the matrices at the start of `a` and of `b` to `out`, contiguous and row-major.
pub(super) fn multiply<T: Element + Factor>(
    out: &mut [T],
    a: &[T],
    left: Matrix,
    b: &[T],
    right: Matrix,
    parallelism: gemm::Parallelism,
) {
    // Layouts never reach past their storage. gemm works with raw pointers, so this is checked again.
    assert!(out.len() == left.rows * right.columns && a.len() >= left.extent() && b.len() >= right.extent());
    let (m, n, k) = (left.rows, right.columns, left.columns);
    // SAFETY: S12: the assertion above shows that every element of the three matrices lies inside its slice, out is
    // borrowed mutably and so does not overlap the others, and strides fit isize because the extents of slices do.
    // read_dst is false, so out is only written.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            n as isize,
            false,
            a.as_ptr(),
            left.column_stride as isize,
            left.row_stride as isize,
            b.as_ptr(),
            right.column_stride as isize,
            right.row_stride as isize,
            T::ZERO,
            T::ONE,
            false,
            false,
            false,
            parallelism,
        );
    }
}
