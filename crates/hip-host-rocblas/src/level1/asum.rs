//! asum: the sum of |re| + |im|.

use super::super::c::forms::forms;
use super::super::check::{Outcome, POINTER, ensure, vector};
use super::super::handle::{Call, begin, status, there};
use super::super::operand::{Operand, Plan, Vector};
use super::super::scalar::{Element, Field, Int, Scalar};
use super::reduce::sum;
use hip_sys::rocblas::{rocblas_handle, rocblas_status};

forms! { "asum", "" [T: Element<Value: Field>, R: Element<Value = <T::Value as Field>::Part>] [T::Value]
asum(n: int, [x: in T, incx, stride_x], batch, result: *mut R) }

unsafe fn asum<T: Field>(call: Call, n: i64, x: Operand, batch: i64, result: *mut impl Sized) -> Outcome {
    let result = result.cast::<T::Part>();
    there(result)?;
    let mut plan = Plan::new(call, batch.max(0) as usize);
    if n <= 0 || x.step <= 0 || batch <= 0 {
        // SAFETY: S11: the C function's contract; the types have the same layout.
        return if batch > 0 { unsafe { plan.zero(result) } } else { Ok(()) };
    }
    ensure(!x.is_null(), POINTER)?;
    let n = n as usize;
    let x = plan.read::<T>(x, vector(n, x.step))?;
    let body = move |index| {
        // SAFETY: S2: named above.
        let x = unsafe { Vector::<T>::new(x.at(index), n, x.step()) };
        // SAFETY: S2: as above.
        let all = unsafe {
            if x.step == 1 {
                let x = x.dense();
                sum(n, |i| x.get(i).taxicab())
            } else {
                sum(n, |i| x.get(i).taxicab())
            }
        };
        <T::Part as Scalar>::narrow(all)
    };
    // SAFETY: S11: all of it is named; the caller vouches for the result's address.
    unsafe { plan.reduce(result, 2.0 * n as f64, body) }
}
