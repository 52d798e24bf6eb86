//! symv: y = alpha a x + beta y, of a symmetric matrix with one triangle in memory.

use super::super::c::forms::forms;
use super::super::check::{Outcome, POINTER, SIZE, counts, ensure, is_lower, matrix, vector};
use super::super::handle::{Call, begin, status};
use super::super::operand::{Operand, Plan, Vector};
use super::super::scalar::{Element, Field, Int};
use super::columns::{times, transposed_times};
use super::gemv::finish;
use super::triangle::Triangle;
use hip_sys::rocblas::{rocblas_fill, rocblas_handle, rocblas_status};

forms! { "symv", "" [T: Element<Value: Field>] [T::Value]
symv(uplo: rocblas_fill, n: int, alpha: *const T, [a: in T, lda, stride_a], [x: in T, incx, stride_x], beta: *const T,
    [y: out T, incy, stride_y], batch) }

unsafe fn symv<T: Field>(
    call: Call,
    uplo: rocblas_fill,
    n: i64,
    alpha: *const impl Sized,
    a: Operand,
    x: Operand,
    beta: *const impl Sized,
    y: Operand,
    batch: i64,
) -> Outcome {
    let lower = is_lower(uplo)?;
    ensure(a.step >= n && a.step >= 1 && x.step != 0 && y.step != 0, SIZE)?;
    let [n, batch] = counts([n, batch])?;
    if n == 0 || batch == 0 {
        return Ok(());
    }
    ensure(!alpha.is_null() && !beta.is_null(), POINTER)?;
    let mut plan = Plan::new(call, batch);
    // SAFETY: S11: the C function's contract; the types have the same layout.
    let (alpha, beta) = unsafe { (plan.scalar(alpha.cast::<T>())?, plan.scalar(beta.cast::<T>())?) };
    if alpha.is(T::ZERO) && beta.is(T::ONE) {
        return Ok(());
    }
    let used = usize::from(!alpha.is(T::ZERO));
    ensure(!y.is_null() && (used == 0 || !a.is_null() && !x.is_null()), POINTER)?;
    let a = plan.read::<T>(a, used * matrix(n, n, a.step))?;
    let x = plan.read::<T>(x, used * vector(n, x.step))?;
    let y = plan.write::<T>(y, vector(n, y.step))?;
    let body = move |index| {
        let (alpha, beta) = (alpha.value(), beta.value());
        // SAFETY: S2: named above; what has no part in the result is not followed.
        unsafe {
            let y = Vector::<T>::new(y.at(index), n, y.step());
            if alpha == T::ZERO {
                return finish(n, y, alpha, &[], beta);
            }
            let x = Vector::<T>::new(x.at(index), n, x.step()).to_vec(n);
            let (start, leading) = (a.at(index).cast_const(), a.step() as isize);
            let triangle = |diagonal| Triangle { start, leading, n, lower, diagonal };
            let mut sums = times(&triangle(false), n, &x);
            let others = transposed_times(&triangle(true), n, &x, false);
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum = *sum + other;
            }
            finish(n, y, alpha, &sums, beta);
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(2.0 * n as f64 * n as f64, body) }
}
