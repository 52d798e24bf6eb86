//! syr: a += alpha x xᵀ, in one triangle.

use super::super::c::forms::forms;
use super::super::check::{Outcome, POINTER, SIZE, counts, ensure, is_lower, matrix, vector};
use super::super::handle::{Call, begin, status, there};
use super::super::operand::{Operand, Plan, Vector};
use super::super::scalar::{Element, Field, Int};
use super::ger::add;
use hip_sys::rocblas::{rocblas_fill, rocblas_handle, rocblas_status};

forms! { "syr", "" [T: Element<Value: Field>] [T::Value]
syr(uplo: rocblas_fill, n: int, alpha: *const T, [x: in T, incx, stride_x], [a: out T, lda, stride_a], batch) }

unsafe fn syr<T: Field>(
    call: Call,
    uplo: rocblas_fill,
    n: i64,
    alpha: *const impl Sized,
    x: Operand,
    a: Operand,
    batch: i64,
) -> Outcome {
    let lower = is_lower(uplo)?;
    ensure(x.step != 0 && a.step >= n && a.step >= 1, SIZE)?;
    let [n, batch] = counts([n, batch])?;
    if n == 0 || batch == 0 {
        return Ok(());
    }
    there(alpha)?;
    let mut plan = Plan::new(call, batch);
    // SAFETY: S11: the C function's contract; the types have the same layout.
    let alpha = unsafe { plan.scalar(alpha.cast::<T>())? };
    if alpha.is(T::ZERO) {
        return Ok(());
    }
    ensure(!a.is_null() && !x.is_null(), POINTER)?;
    let x = plan.read::<T>(x, vector(n, x.step))?;
    let a = plan.write::<T>(a, matrix(n, n, a.step))?;
    let body = move |index| {
        let alpha = alpha.value();
        if alpha == T::ZERO {
            return;
        }
        // SAFETY: S2: named above.
        unsafe {
            let x = Vector::<T>::new(x.at(index), n, x.step()).to_vec(n);
            let rows = |column: usize| if lower { column..n } else { 0..column + 1 };
            add(a.at(index), a.step() as isize, n, &x, |column| alpha * x[column], rows);
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(n as f64 * n as f64, body) }
}
