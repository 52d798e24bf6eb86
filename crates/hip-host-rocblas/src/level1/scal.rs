//! scal: x *= alpha.

use super::super::c::forms::forms;
use super::super::check::{NOT_IMPLEMENTED, Outcome, POINTER, ensure, vector};
use super::super::handle::{Call, begin, status, there};
use super::super::operand::{Operand, Plan, Vector};
use super::super::scalar::{Element, Field, Int, Scalar, Scale};
use super::zip;
use half::{bf16, f16};
use hip_sys::rocblas::{rocblas_handle, rocblas_status};
use num_complex::{Complex32, Complex64};

forms! { "scal", "" [A: Element<Value: Scalar<Wide: Scale<<T::Value as Scalar>::Wide>>>, T: Element] [A::Value, T::Value]
scal(n: int, alpha: *const A, [x: out T, incx, stride_x], batch) }

/// Untyped: the types are arguments.
pub(crate) mod ex {
    use super::*;
    use hip_sys::rocblas::rocblas_datatype;
    use std::ffi::c_void;

    forms! { "scal", "_ex" [] []
    scal_ex(n: int, alpha: *const c_void, alpha_type: rocblas_datatype, [x: into x_type, incx, stride_x], batch,
        execution_type: rocblas_datatype) }

    unsafe fn scal_ex(
        call: Call,
        n: i64,
        alpha: *const c_void,
        alpha_type: rocblas_datatype,
        x: Operand,
        x_type: rocblas_datatype,
        batch: i64,
        execution_type: rocblas_datatype,
    ) -> Outcome {
        use rocblas_datatype as t;
        if n <= 0 || x.step <= 0 || batch <= 0 {
            return Ok(());
        }
        // SAFETY: S11: the C function's contract.
        unsafe {
            match (alpha_type, x_type, execution_type) {
                (t::rocblas_datatype_f16_r, t::rocblas_datatype_f16_r, t::rocblas_datatype_f32_r)
                | (t::rocblas_datatype_f16_r, t::rocblas_datatype_f16_r, t::rocblas_datatype_f16_r) => {
                    scal::<f16, f16>(call, n, alpha, x, batch)
                }
                (t::rocblas_datatype_f32_r, t::rocblas_datatype_f16_r, t::rocblas_datatype_f32_r) => {
                    scal::<f32, f16>(call, n, alpha, x, batch)
                }
                (t::rocblas_datatype_bf16_r, t::rocblas_datatype_bf16_r, t::rocblas_datatype_f32_r) => {
                    scal::<bf16, bf16>(call, n, alpha, x, batch)
                }
                (t::rocblas_datatype_f32_r, t::rocblas_datatype_bf16_r, t::rocblas_datatype_f32_r) => {
                    scal::<f32, bf16>(call, n, alpha, x, batch)
                }
                (t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r) => {
                    scal::<f32, f32>(call, n, alpha, x, batch)
                }
                (t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_r) => {
                    scal::<f64, f64>(call, n, alpha, x, batch)
                }
                (t::rocblas_datatype_f32_c, t::rocblas_datatype_f32_c, t::rocblas_datatype_f32_c) => {
                    scal::<Complex32, Complex32>(call, n, alpha, x, batch)
                }
                (t::rocblas_datatype_f64_c, t::rocblas_datatype_f64_c, t::rocblas_datatype_f64_c) => {
                    scal::<Complex64, Complex64>(call, n, alpha, x, batch)
                }
                (t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_c, t::rocblas_datatype_f32_c) => {
                    scal::<f32, Complex32>(call, n, alpha, x, batch)
                }
                (t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_c, t::rocblas_datatype_f64_c) => {
                    scal::<f64, Complex64>(call, n, alpha, x, batch)
                }
                _ => Err(NOT_IMPLEMENTED),
            }
        }
    }
}

unsafe fn scal<A, X>(call: Call, n: i64, alpha: *const impl Sized, x: Operand, batch: i64) -> Outcome
where
    A: Scalar,
    X: Scalar,
    A::Wide: Scale<X::Wide>,
{
    if n <= 0 || x.step <= 0 || batch <= 0 {
        return Ok(());
    }
    ensure(!x.is_null(), POINTER)?;
    there(alpha)?;
    let n = n as usize;
    let mut plan = Plan::new(call, batch as usize);
    // SAFETY: S11: the C function's contract; the types have the same layout.
    let alpha = unsafe { plan.scalar(alpha.cast::<A>())? };
    if alpha.is(A::narrow(A::Wide::ONE)) {
        return Ok(());
    }
    let x = plan.write::<X>(x, vector(n, x.step))?;
    let body = move |index| {
        let alpha = alpha.value().wide();
        // SAFETY: S2: named above.
        unsafe {
            let x = Vector::new(x.at(index), n, x.step());
            zip(n, x, x, |_, x| alpha.scale(x));
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(2.0 * n as f64, body) }
}
