//! axpy: y += alpha x.

use super::super::c::forms::forms;
use super::super::check::{NOT_IMPLEMENTED, Outcome, POINTER, ensure, vector};
use super::super::handle::{Call, begin, status, there};
use super::super::operand::{Operand, Plan, Vector};
use super::super::scalar::{Element, Field, Int, Scalar};
use super::zip;
use half::{bf16, f16};
use hip_sys::rocblas::{rocblas_handle, rocblas_status};
use num_complex::{Complex32, Complex64};

forms! { "axpy", "" [T: Element] [T::Value, T::Value]
axpy(n: int, alpha: *const T, [x: in T, incx, stride_x], [y: out T, incy, stride_y], batch) }

/// Untyped: the types are arguments.
pub(crate) mod ex {
    use super::*;
    use hip_sys::rocblas::rocblas_datatype;
    use std::ffi::c_void;

    forms! { "axpy", "_ex" [] []
    axpy_ex(n: int, alpha: *const c_void, alpha_type: rocblas_datatype, [x: from x_type, incx, stride_x],
        [y: into y_type, incy, stride_y], batch, execution_type: rocblas_datatype) }

    unsafe fn axpy_ex(
        call: Call,
        n: i64,
        alpha: *const c_void,
        alpha_type: rocblas_datatype,
        x: Operand,
        x_type: rocblas_datatype,
        y: Operand,
        y_type: rocblas_datatype,
        batch: i64,
        execution_type: rocblas_datatype,
    ) -> Outcome {
        use rocblas_datatype as t;
        if n <= 0 || batch <= 0 {
            return Ok(());
        }
        there(alpha)?;
        ensure(x_type == y_type, NOT_IMPLEMENTED)?;
        // SAFETY: S11: the C function's contract.
        unsafe {
            match (alpha_type, x_type, execution_type) {
                (t::rocblas_datatype_f16_r, t::rocblas_datatype_f16_r, t::rocblas_datatype_f32_r)
                | (t::rocblas_datatype_f16_r, t::rocblas_datatype_f16_r, t::rocblas_datatype_f16_r) => {
                    axpy::<f16, f16>(call, n, alpha, x, y, batch)
                }
                (t::rocblas_datatype_f32_r, t::rocblas_datatype_f16_r, t::rocblas_datatype_f32_r) => {
                    axpy::<f32, f16>(call, n, alpha, x, y, batch)
                }
                (t::rocblas_datatype_bf16_r, t::rocblas_datatype_bf16_r, t::rocblas_datatype_f32_r) => {
                    axpy::<bf16, bf16>(call, n, alpha, x, y, batch)
                }
                (t::rocblas_datatype_f32_r, t::rocblas_datatype_bf16_r, t::rocblas_datatype_f32_r) => {
                    axpy::<f32, bf16>(call, n, alpha, x, y, batch)
                }
                (t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r) => {
                    axpy::<f32, f32>(call, n, alpha, x, y, batch)
                }
                (t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_r) => {
                    axpy::<f64, f64>(call, n, alpha, x, y, batch)
                }
                (t::rocblas_datatype_f32_c, t::rocblas_datatype_f32_c, t::rocblas_datatype_f32_c) => {
                    axpy::<Complex32, Complex32>(call, n, alpha, x, y, batch)
                }
                (t::rocblas_datatype_f64_c, t::rocblas_datatype_f64_c, t::rocblas_datatype_f64_c) => {
                    axpy::<Complex64, Complex64>(call, n, alpha, x, y, batch)
                }
                _ => Err(NOT_IMPLEMENTED),
            }
        }
    }
}

unsafe fn axpy<A: Scalar<Wide = X::Wide>, X: Scalar>(
    call: Call,
    n: i64,
    alpha: *const impl Sized,
    x: Operand,
    y: Operand,
    batch: i64,
) -> Outcome {
    if n <= 0 || batch <= 0 {
        return Ok(());
    }
    let n = n as usize;
    let mut plan = Plan::new(call, batch as usize);
    // SAFETY: S11: the C function's contract; the types have the same layout.
    let alpha = unsafe { plan.scalar(alpha.cast::<A>())? };
    if alpha.is(A::narrow(X::Wide::ZERO)) {
        return Ok(());
    }
    ensure(!x.is_null() && !y.is_null(), POINTER)?;
    let x = plan.read::<X>(x, vector(n, x.step))?;
    let y = plan.write::<X>(y, vector(n, y.step))?;
    let body = move |index| {
        let alpha = alpha.value().wide();
        // SAFETY: S2: named above.
        unsafe {
            let x = Vector::new(x.at(index), n, x.step());
            let y = Vector::new(y.at(index), n, y.step());
            zip(n, x, y, |x, y| alpha * x + y);
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(4.0 * n as f64, body) }
}
