//! dot, dotu and dotc: the sum of x y, of conj(x) y.

use super::super::c::forms::forms;
use super::super::check::{NOT_IMPLEMENTED, Outcome, POINTER, ensure, vector};
use super::super::handle::{Call, begin, status};
use super::super::operand::{Operand, Plan, Vector};
use super::super::scalar::{Element, Field, Int, Scalar};
use super::reduce::sum;
use half::{bf16, f16};
use hip_sys::rocblas::{rocblas_handle, rocblas_status};
use num_complex::{Complex32, Complex64};

forms! { "dot", "" [T: Element, const CONJ: bool] [T::Value, T::Value, CONJ]
dot(n: int, [x: in T, incx, stride_x], [y: in T, incy, stride_y], batch, result: *mut T) }

/// Untyped: the types are arguments.
pub(crate) mod ex {
    use super::*;
    use hip_sys::rocblas::rocblas_datatype;
    use std::ffi::c_void;

    forms! { "dot", "_ex" [const CONJ: bool] [CONJ]
    dot_ex(n: int, [x: from x_type, incx, stride_x], [y: from y_type, incy, stride_y], batch, result: *mut c_void,
        result_type: rocblas_datatype, execution_type: rocblas_datatype) }

    unsafe fn dot_ex<const CONJ: bool>(
        call: Call,
        n: i64,
        x: Operand,
        x_type: rocblas_datatype,
        y: Operand,
        y_type: rocblas_datatype,
        batch: i64,
        result: *mut c_void,
        result_type: rocblas_datatype,
        execution_type: rocblas_datatype,
    ) -> Outcome {
        use rocblas_datatype as t;
        ensure(x_type == y_type, NOT_IMPLEMENTED)?;
        // SAFETY: S11: the C function's contract.
        unsafe {
            match (x_type, result_type, execution_type) {
                (t::rocblas_datatype_f16_r, t::rocblas_datatype_f16_r, t::rocblas_datatype_f16_r)
                | (t::rocblas_datatype_f16_r, t::rocblas_datatype_f16_r, t::rocblas_datatype_f32_r) => {
                    dot::<f16, f16, CONJ>(call, n, x, y, batch, result)
                }
                (t::rocblas_datatype_bf16_r, t::rocblas_datatype_bf16_r, t::rocblas_datatype_f32_r) => {
                    dot::<bf16, bf16, CONJ>(call, n, x, y, batch, result)
                }
                (t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r) => {
                    dot::<f32, f32, CONJ>(call, n, x, y, batch, result)
                }
                (t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_r) => {
                    dot::<f64, f64, CONJ>(call, n, x, y, batch, result)
                }
                (t::rocblas_datatype_f32_c, t::rocblas_datatype_f32_c, t::rocblas_datatype_f32_c) => {
                    dot::<Complex32, Complex32, CONJ>(call, n, x, y, batch, result)
                }
                (t::rocblas_datatype_f64_c, t::rocblas_datatype_f64_c, t::rocblas_datatype_f64_c) => {
                    dot::<Complex64, Complex64, CONJ>(call, n, x, y, batch, result)
                }
                (t::rocblas_datatype_f32_r, t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_r) => {
                    dot::<f32, f64, CONJ>(call, n, x, y, batch, result)
                }
                _ => Err(NOT_IMPLEMENTED),
            }
        }
    }
}

unsafe fn dot<X, R, const CONJ: bool>(
    call: Call,
    n: i64,
    x: Operand,
    y: Operand,
    batch: i64,
    result: *mut impl Sized,
) -> Outcome
where
    X: Scalar,
    R: Scalar,
    R::Wide: From<X::Wide>,
{
    if batch <= 0 {
        return Ok(());
    }
    let mut plan = Plan::new(call, batch as usize);
    let result = result.cast::<R>();
    if n <= 0 {
        // SAFETY: S11: the C function's contract; the types have the same layout.
        return unsafe { plan.zero(result) };
    }
    ensure(!x.is_null() && !y.is_null() && !result.is_null(), POINTER)?;
    let n = n as usize;
    let x = plan.read::<X>(x, vector(n, x.step))?;
    let y = plan.read::<X>(y, vector(n, y.step))?;
    let body = move |index| {
        // SAFETY: S2: named above.
        let (x, y) = unsafe {
            (Vector::<X>::new(x.at(index), n, x.step()), Vector::<X>::new(y.at(index), n, y.step()))
        };
        let product = |x: X::Wide, y: X::Wide| R::Wide::from(x.conj_if(CONJ)) * R::Wide::from(y);
        // SAFETY: S2: as above.
        let all = unsafe {
            if x.step == 1 && y.step == 1 {
                let (x, y) = (x.dense(), y.dense());
                sum(n, |i| product(x.get(i), y.get(i)))
            } else {
                sum(n, |i| product(x.get(i), y.get(i)))
            }
        };
        R::narrow(all)
    };
    // SAFETY: S11: all of it is named; the caller vouches for the result's address.
    unsafe { plan.reduce(result, 4.0 * n as f64, body) }
}
