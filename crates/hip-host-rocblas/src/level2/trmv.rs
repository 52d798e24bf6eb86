//! trmv: x = op(a) x, of a triangular matrix.

use super::super::c::forms::forms;
use super::super::check::{
    Outcome, POINTER, SIZE, counts, ensure, is_lower, is_unit, matrix, operation, vector,
};
use super::super::handle::{Call, begin, status};
use super::super::operand::{Operand, Plan, Vector};
use super::super::scalar::{Element, Field, Int};
use super::columns::{times, transposed_times};
use super::triangle::Triangle;
use hip_sys::rocblas::{rocblas_diagonal, rocblas_fill, rocblas_handle, rocblas_operation, rocblas_status};

forms! { "trmv", "" [T: Element<Value: Field>] [T::Value]
trmv(uplo: rocblas_fill, trans: rocblas_operation, diag: rocblas_diagonal, n: int, [a: in T, lda, stride_a],
    [x: out T, incx, stride_x], batch) }

unsafe fn trmv<T: Field>(
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
            let x = place.to_vec(n);
            let (start, leading) = (a.at(index).cast_const(), a.step() as isize);
            let triangle = Triangle { start, leading, n, lower, diagonal: !unit };
            let sums = if op.transposed {
                transposed_times(&triangle, n, &x, op.conjugated)
            } else {
                times(&triangle, n, &x)
            };
            for (index, (sum, x)) in sums.into_iter().zip(x).enumerate() {
                place.set(index, if unit { sum + x } else { sum });
            }
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(n as f64 * n as f64, body) }
}
