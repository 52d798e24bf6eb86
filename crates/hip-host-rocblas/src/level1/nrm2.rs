//! nrm2: the square root of the sum of squares.

use super::super::c::forms::forms;
use super::super::check::{NOT_IMPLEMENTED, Outcome, vector};
use super::super::handle::{Call, begin, status, there};
use super::super::operand::{Operand, Plan, Vector};
use super::super::scalar::{Element, Field, Int, Real, Scalar};
use super::reduce::sum;
use half::{bf16, f16};
use hip_sys::rocblas::{rocblas_handle, rocblas_status};
use num_complex::{Complex32, Complex64};

forms! { "nrm2", "" [T: Element, R: Element<Value = <T::Value as Scalar>::Real>] [T::Value]
nrm2(n: int, [x: in T, incx, stride_x], batch, result: *mut R) }

/// Untyped: the types are arguments.
pub(crate) mod ex {
    use super::*;
    use hip_sys::rocblas::rocblas_datatype;
    use std::ffi::c_void;

    forms! { "nrm2", "_ex" [] []
    nrm2_ex(n: int, [x: from x_type, incx, stride_x], batch, result: *mut c_void, result_type: rocblas_datatype,
        execution_type: rocblas_datatype) }

    unsafe fn nrm2_ex(
        call: Call,
        n: i64,
        x: Operand,
        x_type: rocblas_datatype,
        batch: i64,
        result: *mut c_void,
        result_type: rocblas_datatype,
        execution_type: rocblas_datatype,
    ) -> Outcome {
        use rocblas_datatype as t;
        // SAFETY: S11: the C function's contract.
        unsafe {
            match (x_type, result_type, execution_type) {
                (t::rocblas_datatype_f16_r, t::rocblas_datatype_f16_r, t::rocblas_datatype_f32_r) => {
                    nrm2::<f16>(call, n, x, batch, result)
                }
                (t::rocblas_datatype_bf16_r, t::rocblas_datatype_bf16_r, t::rocblas_datatype_f32_r) => {
                    nrm2::<bf16>(call, n, x, batch, result)
                }
                (t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r) => {
                    nrm2::<f32>(call, n, x, batch, result)
                }
                (t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_r) => {
                    nrm2::<f64>(call, n, x, batch, result)
                }
                (t::rocblas_datatype_f32_c, t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r) => {
                    nrm2::<Complex32>(call, n, x, batch, result)
                }
                (t::rocblas_datatype_f64_c, t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_r) => {
                    nrm2::<Complex64>(call, n, x, batch, result)
                }
                _ => Err(NOT_IMPLEMENTED),
            }
        }
    }
}

unsafe fn nrm2<X: Scalar>(call: Call, n: i64, x: Operand, batch: i64, result: *mut impl Sized) -> Outcome {
    let result = result.cast::<X::Real>();
    there(result)?;
    let mut plan = Plan::new(call, batch.max(0) as usize);
    if n <= 0 || x.step <= 0 || batch <= 0 {
        // SAFETY: S11: the C function's contract; the types have the same layout.
        return if batch > 0 { unsafe { plan.zero(result) } } else { Ok(()) };
    }
    let n = n as usize;
    let x = plan.read::<X>(x, vector(n, x.step))?;
    let body = move |index| {
        // SAFETY: S2: named above.
        let x = unsafe { Vector::<X>::new(x.at(index), n, x.step()) };
        let parts = |value: X::Wide| [value.real().to_f64(), value.imaginary().to_f64()];
        // SAFETY: S2: as above.
        let norm = unsafe {
            if x.step == 1 {
                let x = x.dense();
                norm(n, |i| parts(x.get(i)))
            } else {
                norm(n, |i| parts(x.get(i)))
            }
        };
        <X::Real as Scalar>::narrow(<<X::Wide as Field>::Part as Real>::of_f64(norm))
    };
    // SAFETY: S11: all of it is named; the caller vouches for the result's address.
    unsafe { plan.reduce(result, 4.0 * n as f64, body) }
}

/// Between these bounds a sum of squares has full precision. Sums of f32's squares always are.
const SAFE: std::ops::Range<f64> = 1e-280..f64::INFINITY;

/// The norm. If squares leave f64's range, the values are scaled first.
#[inline(always)]
fn norm(n: usize, value: impl Fn(usize) -> [f64; 2] + Sync) -> f64 {
    let squares = |scale: f64| {
        sum(n, |i| {
            let [re, im] = value(i).map(|part| part * scale);
            re * re + im * im
        })
    };
    let plain = squares(1.0);
    if SAFE.contains(&plain) || plain.is_nan() {
        return plain.sqrt();
    }
    let largest = (0..n).flat_map(&value).map(f64::abs).fold(0.0, f64::max);
    if largest == 0.0 || largest.is_infinite() {
        return largest;
    }
    // A power of two, so that scaling is exact. Its inverse is finite.
    let power = largest.log2().floor().clamp(-1000.0, 1000.0) as i32;
    squares(2f64.powi(-power)).sqrt() * 2f64.powi(power)
}
