//! swap: exchanges x and y.

use super::super::c::forms::forms;
use super::super::check::{Outcome, POINTER, ensure, vector};
use super::super::handle::{Call, begin, status};
use super::super::operand::{Operand, Plan, Vector};
use super::super::scalar::{Element, Field, Int};
use super::zip_both;
use hip_sys::rocblas::{rocblas_handle, rocblas_status};

forms! { "swap", "" [T: Element<Value: Field>] [T::Value]
swap(n: int, [x: out T, incx, stride_x], [y: out T, incy, stride_y], batch) }

unsafe fn swap<T: Field>(call: Call, n: i64, x: Operand, y: Operand, batch: i64) -> Outcome {
    if n <= 0 || batch <= 0 {
        return Ok(());
    }
    ensure(!x.is_null() && !y.is_null(), POINTER)?;
    let n = n as usize;
    let mut plan = Plan::new(call, batch as usize);
    let x = plan.write::<T>(x, vector(n, x.step))?;
    let y = plan.write::<T>(y, vector(n, y.step))?;
    let body = move |index| {
        // SAFETY: S2: named above.
        unsafe {
            let x = Vector::new(x.at(index), n, x.step());
            let y = Vector::new(y.at(index), n, y.step());
            zip_both::<T>(n, x, y, |x, y| (y, x));
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(2.0 * n as f64, body) }
}
