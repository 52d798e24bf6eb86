//! trsm: b = alpha op(a)⁻¹ b, or alpha b op(a)⁻¹, of a triangle.

use super::super::c::forms::forms;
use super::super::check::{
    NOT_IMPLEMENTED, Outcome, POINTER, SIZE, counts, ensure, is_left, is_lower, is_unit, matrix, operation,
};
use super::super::handle::{Call, begin, status, there};
use super::super::operand::{Operand, Plan};
use super::super::parallel;
use super::super::scalar::{Element, Field, Int};
use super::matrix::Matrix;
use super::product::{product, scale, steps};
use super::triangle::{BLOCK, PANEL, Triangle};
use hip_sys::rocblas::{
    rocblas_diagonal, rocblas_fill, rocblas_handle, rocblas_operation, rocblas_side, rocblas_status,
};
use num_complex::{Complex32, Complex64};

forms! { "trsm", "" [T: Element<Value: Field>] [T::Value]
trsm(side: rocblas_side, uplo: rocblas_fill, trans: rocblas_operation, diag: rocblas_diagonal, m: int, n: int,
    alpha: *const T, [a: in T, lda, stride_a], [b: out T, ldb, stride_b], batch) }

/// Untyped: the type is an argument. What is given of the inverse is not needed.
pub(in crate::rocblas) mod ex {
    use super::*;
    use hip_sys::rocblas::rocblas_datatype;
    use std::ffi::c_void;

    forms! { "trsm", "_ex" [] []
    trsm_ex(side: rocblas_side, uplo: rocblas_fill, trans: rocblas_operation, diag: rocblas_diagonal, m: int, n: int,
        alpha: *const c_void, [a: reads, lda, stride_a], [b: writes, ldb, stride_b], batch,
        [inverse: reads, inverse_size, stride_inverse], compute_type: rocblas_datatype) }

    unsafe fn trsm_ex(
        call: Call,
        side: rocblas_side,
        uplo: rocblas_fill,
        trans: rocblas_operation,
        diag: rocblas_diagonal,
        m: i64,
        n: i64,
        alpha: *const c_void,
        a: Operand,
        b: Operand,
        batch: i64,
        _inverse: Operand,
        compute_type: rocblas_datatype,
    ) -> Outcome {
        // SAFETY: S11: the C function's contract.
        unsafe {
            match compute_type {
                rocblas_datatype::rocblas_datatype_f32_r => {
                    trsm::<f32>(call, side, uplo, trans, diag, m, n, alpha, a, b, batch)
                }
                rocblas_datatype::rocblas_datatype_f64_r => {
                    trsm::<f64>(call, side, uplo, trans, diag, m, n, alpha, a, b, batch)
                }
                rocblas_datatype::rocblas_datatype_f32_c => {
                    trsm::<Complex32>(call, side, uplo, trans, diag, m, n, alpha, a, b, batch)
                }
                rocblas_datatype::rocblas_datatype_f64_c => {
                    trsm::<Complex64>(call, side, uplo, trans, diag, m, n, alpha, a, b, batch)
                }
                _ => Err(NOT_IMPLEMENTED),
            }
        }
    }
}

unsafe fn trsm<T: Field>(
    call: Call,
    side: rocblas_side,
    uplo: rocblas_fill,
    trans: rocblas_operation,
    diag: rocblas_diagonal,
    m: i64,
    n: i64,
    alpha: *const impl Sized,
    a: Operand,
    b: Operand,
    batch: i64,
) -> Outcome {
    let (left, lower, op, unit) = (is_left(side)?, is_lower(uplo)?, operation(trans)?, is_unit(diag)?);
    ensure(b.step >= m && a.step >= if left { m } else { n }, SIZE)?;
    let [m, n, batch] = counts([m, n, batch])?;
    if m == 0 || n == 0 || batch == 0 {
        return Ok(());
    }
    ensure(!b.is_null(), POINTER)?;
    there(alpha)?;
    let mut plan = Plan::new(call, batch);
    // SAFETY: S11: the C function's contract; the types have the same layout.
    let alpha = unsafe { plan.scalar(alpha.cast::<T>())? };
    let used = usize::from(!alpha.is(T::ZERO));
    ensure(used == 0 || !a.is_null(), POINTER)?;
    let order = if left { m } else { n };
    let a = plan.read::<T>(a, used * matrix(order, order, a.step))?;
    let b = plan.write::<T>(b, matrix(m, n, b.step))?;
    let body = move |index| {
        let alpha = alpha.value();
        // SAFETY: S2: named above; what has no part in the result is not followed.
        unsafe {
            let b = Matrix::<T>::new(b.at(index), b.step());
            scale(m, n, alpha, b);
            if alpha == T::ZERO {
                return;
            }
            let a = Triangle::new(Matrix::<T>::new(a.at(index), a.step()), op, left, lower, unit);
            if left {
                solve(m, n, &a, unit, b);
            } else {
                solve(n, m, &a, unit, b.transposed());
            }
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(steps((m, n, order)) / 2.0, body) }
}

/// b = a⁻¹ b, with so many rows and columns of b.
///
/// # Safety
/// The matrices are there, and nobody else uses b.
unsafe fn solve<T: Field>(rows: usize, columns: usize, a: &Triangle<T>, unit: bool, b: Matrix<T>) {
    let each = rows as f64 * rows as f64;
    parallel::ranges(columns, PANEL, each, &|range| {
        // SAFETY: S2, S12: the caller vouches for the matrices; the panels are disjoint.
        unsafe { panel(rows, range.len(), a, unit, b.from(0, range.start)) };
    });
}

/// # Safety
/// As [`solve`].
unsafe fn panel<T: Field>(rows: usize, columns: usize, a: &Triangle<T>, unit: bool, b: Matrix<T>) {
    let mut block = [T::ZERO; BLOCK * BLOCK];
    let blocks = rows.div_ceil(BLOCK);
    for step in 0..blocks {
        let first = BLOCK * if a.lower { step } else { blocks - 1 - step };
        let size = BLOCK.min(rows - first);
        // SAFETY: S2: the caller vouches for the matrices; the block has room.
        unsafe {
            a.block(first, size, &mut block);
            for column in 0..columns {
                let mut x = [T::ZERO; BLOCK];
                for (row, x) in x.iter_mut().enumerate().take(size) {
                    *x = b.get(first + row, column);
                }
                solve_block(&block, size, a, unit, &mut x);
                for (row, x) in x.iter().enumerate().take(size) {
                    b.set(first + row, column, *x);
                }
            }
            // What is left to solve lies below the block, or above it.
            let (from, count) = if a.lower { (first + size, rows - first - size) } else { (0, first) };
            let beside = a.matrix.from(from, first);
            product((count, columns, size), -T::ONE, beside, b.from(first, 0), T::ONE, b.from(from, 0));
        }
    }
}

fn solve_block<T: Field>(
    block: &[T; BLOCK * BLOCK],
    size: usize,
    a: &Triangle<T>,
    unit: bool,
    x: &mut [T; BLOCK],
) {
    for step in 0..size {
        let k = if a.lower { step } else { size - 1 - step };
        let column = &block[k * BLOCK..][..size];
        if !unit {
            x[k] = x[k].over(column[k]);
        }
        let solved = x[k];
        for row in a.beside(k, size) {
            x[row] = x[row] - column[row] * solved;
        }
    }
}
