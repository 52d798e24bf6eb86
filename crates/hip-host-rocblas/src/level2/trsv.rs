//! trsv: x = op(a)⁻¹ x, of a triangular matrix.

use super::super::c::forms::forms;
use super::super::check::{
    Op, Outcome, POINTER, SIZE, counts, ensure, is_lower, is_unit, matrix, operation, vector,
};
use super::super::handle::{Call, begin, status};
use super::super::level1::reduce::part;
use super::super::operand::{Operand, Plan, Vector};
use super::super::scalar::{Element, Field, Int};
use super::columns::Columns;
use super::triangle::Triangle;
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
    let (lower, op, unit) = (is_lower(uplo)?, operation(trans)?, is_unit(diag)?);
    ensure(a.step >= n && a.step >= 1 && x.step != 0, SIZE)?;
    let [n, batch] = counts([n, batch])?;
    if n == 0 || batch == 0 {
        return Ok(());
    }
    ensure(!a.is_null() && !x.is_null(), POINTER)?;
    let mut plan = Plan::new(call, batch);
    let a = plan.read::<T>(a, matrix(n, n, a.step))?;
    let x = plan.write::<T>(x, vector(n, x.step))?;
    let body = move |index| {
        // SAFETY: S2: named above.
        unsafe {
            let place = Vector::<T>::new(x.at(index), n, x.step());
            let mut x = place.to_vec(n);
            let (start, leading) = (a.at(index).cast_const(), a.step() as isize);
            solve(&Triangle { start, leading, n, lower, diagonal: false }, op, unit, &mut x);
            for (index, x) in x.into_iter().enumerate() {
                place.set(index, x);
            }
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(n as f64 * n as f64, body) }
}

/// # Safety
/// The triangle and its diagonal are allocated and initialised; x has as many elements as there are columns.
unsafe fn solve<T: Field>(triangle: &Triangle<T>, op: Op, unit: bool, x: &mut [T]) {
    let n = x.len();
    let forwards = triangle.lower != op.transposed;
    for step in 0..n {
        let column = if forwards { step } else { n - 1 - step };
        let start = triangle.start(column);
        // SAFETY: S2: the caller vouches for the triangle.
        let at = |row: usize| unsafe { start.wrapping_add(row).read() }.conj_if(op.conjugated);
        if op.transposed {
            let known: &[T] = x;
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
}
