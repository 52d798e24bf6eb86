//! trsv: x = op(a)⁻¹ x, of a triangular matrix.

use super::super::c::forms::forms;
use super::super::check::{Op, Outcome};
use super::super::handle::{Call, begin, status};
use super::super::level1::reduce::part;
use super::super::operand::Operand;
use super::super::scalar::{Element, Field, Int};
use super::columns::Columns;
use super::triangle::{Triangle, update};
use hip_sys::rocblas::{rocblas_diagonal, rocblas_fill, rocblas_handle, rocblas_operation, rocblas_status};

forms! { "trsv", "" [T: Element<Value: Field>] [T::Value]
trsv(uplo: rocblas_fill, trans: rocblas_operation, diag: rocblas_diagonal, n: int, [a: in T, lda, stride_a],
    [x: out T, incx, stride_x], batch) }

unsafe fn trsv<T: Field>(
    call: Call,
    uplo: rocblas_fill,
    trans: rocblas_operation,
    diag: rocblas_diagonal,
    n: i64,
    a: Operand,
    x: Operand,
    batch: i64,
) -> Outcome {
    // SAFETY: S11: the C function's contract; the solution reads the triangle and its diagonal alone.
    unsafe { update(call, (uplo, trans, diag), n, a, x, batch, solve::<T>) }
}

/// # Safety
/// The triangle and its diagonal are allocated and initialised; x has as many elements as there are columns.
unsafe fn solve<T: Field>(triangle: &Triangle<T>, op: Op, unit: bool, mut x: Vec<T>) -> Vec<T> {
    let triangle = &Triangle { diagonal: false, ..*triangle };
    let n = x.len();
    let forwards = triangle.lower != op.transposed;
    for step in 0..n {
        let column = if forwards { step } else { n - 1 - step };
        let start = triangle.start(column);
        // SAFETY: S2: the caller vouches for the triangle.
        let at = |row: usize| unsafe { start.wrapping_add(row).read() }.conj_if(op.conjugated);
        if op.transposed {
            let known: &[T] = &x;
            let sum = part(triangle.rows(column), &|row| at(row) * known[row]);
            x[column] = x[column] - sum;
        }
        if !unit {
            x[column] = x[column].over(at(column));
        }
        if !op.transposed {
            let (rows, solved) = (triangle.rows(column), x[column]);
            for (row, x) in rows.clone().zip(&mut x[rows]) {
                *x = *x - at(row) * solved;
            }
        }
    }
    x
}
