//! rot: x = c x + s y and y = c y − conj(s) x.

use super::super::c::forms::forms;
use super::super::check::{NOT_IMPLEMENTED, Outcome, POINTER, ensure, vector};
use super::super::handle::{Call, begin, status};
use super::super::operand::{Operand, Plan, Vector};
use super::super::scalar::{Element, Field, Int, Scalar, Scale};
use super::zip_both;
use half::{bf16, f16};
use hip_sys::rocblas::{rocblas_handle, rocblas_status};
use num_complex::{Complex32, Complex64};

forms! { "rot", "" [
    T: Element,
    C: Element<Value: Scalar<Wide: Field<Part: Scale<<T::Value as Scalar>::Wide>>>>,
    S: Element<Value: Scalar<Wide: Scale<<T::Value as Scalar>::Wide>>>
] [T::Value, C::Value, S::Value]
rot(n: int, [x: out T, incx, stride_x], [y: out T, incy, stride_y], c: *const C, s: *const S, batch) }

/// Untyped: the types are arguments.
pub(crate) mod ex {
    use super::*;
    use hip_sys::rocblas::rocblas_datatype;
    use std::ffi::c_void;

    forms! { "rot", "_ex" [] []
    rot_ex(n: int, [x: into x_type, incx, stride_x], [y: into y_type, incy, stride_y], c: *const c_void,
        s: *const c_void, cs_type: rocblas_datatype, batch, execution_type: rocblas_datatype) }

    unsafe fn rot_ex(
        call: Call,
        n: i64,
        x: Operand,
        x_type: rocblas_datatype,
        y: Operand,
        y_type: rocblas_datatype,
        c: *const c_void,
        s: *const c_void,
        cs_type: rocblas_datatype,
        batch: i64,
        execution_type: rocblas_datatype,
    ) -> Outcome {
        use rocblas_datatype as t;
        ensure(x_type == y_type, NOT_IMPLEMENTED)?;
        // SAFETY: S11: the C function's contract.
        unsafe {
            match (x_type, cs_type, execution_type) {
                (t::rocblas_datatype_bf16_r, t::rocblas_datatype_bf16_r, t::rocblas_datatype_f32_r) => {
                    rot::<bf16, bf16, bf16>(call, n, x, y, c, s, batch)
                }
                (t::rocblas_datatype_f16_r, t::rocblas_datatype_f16_r, t::rocblas_datatype_f32_r) => {
                    rot::<f16, f16, f16>(call, n, x, y, c, s, batch)
                }
                (t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r) => {
                    rot::<f32, f32, f32>(call, n, x, y, c, s, batch)
                }
                (t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_r) => {
                    rot::<f64, f64, f64>(call, n, x, y, c, s, batch)
                }
                (t::rocblas_datatype_f32_c, t::rocblas_datatype_f32_c, t::rocblas_datatype_f32_c) => {
                    rot::<Complex32, Complex32, Complex32>(call, n, x, y, c, s, batch)
                }
                (t::rocblas_datatype_f32_c, t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_c) => {
                    rot::<Complex32, f32, f32>(call, n, x, y, c, s, batch)
                }
                (t::rocblas_datatype_f64_c, t::rocblas_datatype_f64_c, t::rocblas_datatype_f64_c) => {
                    rot::<Complex64, Complex64, Complex64>(call, n, x, y, c, s, batch)
                }
                (t::rocblas_datatype_f64_c, t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_c) => {
                    rot::<Complex64, f64, f64>(call, n, x, y, c, s, batch)
                }
                _ => Err(NOT_IMPLEMENTED),
            }
        }
    }
}

/// Of a complex `c` only the real part is used.
unsafe fn rot<X, C, S>(
    call: Call,
    n: i64,
    x: Operand,
    y: Operand,
    c: *const impl Sized,
    s: *const impl Sized,
    batch: i64,
) -> Outcome
where
    X: Scalar,
    C: Scalar<Wide: Field<Part: Scale<X::Wide>>>,
    S: Scalar<Wide: Scale<X::Wide>>,
{
    if n <= 0 || batch <= 0 {
        return Ok(());
    }
    ensure(!x.is_null() && !y.is_null(), POINTER)?;
    let n = n as usize;
    let mut plan = Plan::new(call, batch as usize);
    // SAFETY: S11: the C function's contract; the types have the same layout.
    let (c, s) = unsafe { (plan.scalar(c.cast::<C>())?, plan.scalar(s.cast::<S>())?) };
    let x = plan.write::<X>(x, vector(n, x.step))?;
    let y = plan.write::<X>(y, vector(n, y.step))?;
    let body = move |index| {
        let (c, s) = (c.value().wide().real(), s.value().wide());
        // SAFETY: S2: named above.
        unsafe {
            let x = Vector::new(x.at(index), n, x.step());
            let y = Vector::new(y.at(index), n, y.step());
            zip_both::<X>(n, x, y, |x, y| (c.scale(x) + s.scale(y), c.scale(y) - s.conj().scale(x)));
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(8.0 * n as f64, body) }
}
