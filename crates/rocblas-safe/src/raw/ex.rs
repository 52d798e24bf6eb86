//! The functions that take their types as arguments: those for 16-bit floats, computed in `f32`, and products of other combinations.

use super::call::{Call, Operand, Result, invoke};
use super::level1::ElementCalls;
use super::level3::GemmCalls;
use half::{bf16, f16};
use hip_sys::rocblas::{rocblas_datatype, rocblas_gemm_algo, rocblas_operation};
use std::ffi::c_void;

const F16: rocblas_datatype = rocblas_datatype::rocblas_datatype_f16_r;
const BF16: rocblas_datatype = rocblas_datatype::rocblas_datatype_bf16_r;
const F32: rocblas_datatype = rocblas_datatype::rocblas_datatype_f32_r;

/// The types of a product: of its inputs, of its result, and of its sums and scalars.
#[derive(Debug, Clone, Copy)]
pub struct ProductTypes {
    pub(crate) input: rocblas_datatype,
    pub(crate) output: rocblas_datatype,
    pub(crate) compute: rocblas_datatype,
}

/// `d = alpha a b + beta c`, of the types given.
#[allow(clippy::too_many_arguments)]
pub(crate) unsafe fn gemm(
    call: &Call<'_>,
    types: ProductTypes,
    (ta, tb): (rocblas_operation, rocblas_operation),
    (m, n, k): (i64, i64, i64),
    (alpha, beta): (*const c_void, *const c_void),
    (a, b): (Operand, Operand),
    c: Operand,
    d: Operand,
) -> Result<()> {
    let ProductTypes { input, output, compute } = types;
    let algo = rocblas_gemm_algo::rocblas_gemm_algo_standard;
    invoke!(call, [rocblas_gemm_ex rocblas_gemm_batched_ex rocblas_gemm_strided_batched_ex
            rocblas_gemm_ex_64 rocblas_gemm_batched_ex_64 rocblas_gemm_strided_batched_ex_64],
        val(ta) val(tb) size(m) size(n) size(k) val(alpha) typed(a, input) typed(b, input) val(beta) typed(c, output)
        typed(d, output) count val(compute) val(algo) val(0) val(0))
}

macro_rules! sixteen_bits {
    ($T:ty, $type:ident) => {
        impl ElementCalls for $T {
            unsafe fn axpy(call: &Call<'_>, n: i64, alpha: *const c_void, x: Operand, y: Operand) -> Result<()> {
                invoke!(call, [rocblas_axpy_ex rocblas_axpy_batched_ex rocblas_axpy_strided_batched_ex
                    rocblas_axpy_ex_64 rocblas_axpy_batched_ex_64 rocblas_axpy_strided_batched_ex_64],
                    size(n) val(alpha) val(F32) typed(x, $type) typed(y, $type) count val(F32))
            }

            unsafe fn dot(call: &Call<'_>, n: i64, x: Operand, y: Operand, result: *mut c_void) -> Result<()> {
                invoke!(call, [rocblas_dot_ex rocblas_dot_batched_ex rocblas_dot_strided_batched_ex
                    rocblas_dot_ex_64 rocblas_dot_batched_ex_64 rocblas_dot_strided_batched_ex_64],
                    size(n) typed(x, $type) typed(y, $type) count val(result) val($type) val(F32))
            }

            unsafe fn dotc(call: &Call<'_>, n: i64, x: Operand, y: Operand, result: *mut c_void) -> Result<()> {
                invoke!(call, [rocblas_dotc_ex rocblas_dotc_batched_ex rocblas_dotc_strided_batched_ex
                    rocblas_dotc_ex_64 rocblas_dotc_batched_ex_64 rocblas_dotc_strided_batched_ex_64],
                    size(n) typed(x, $type) typed(y, $type) count val(result) val($type) val(F32))
            }

            unsafe fn nrm2(call: &Call<'_>, n: i64, x: Operand, result: *mut c_void) -> Result<()> {
                invoke!(call, [rocblas_nrm2_ex rocblas_nrm2_batched_ex rocblas_nrm2_strided_batched_ex
                    rocblas_nrm2_ex_64 rocblas_nrm2_batched_ex_64 rocblas_nrm2_strided_batched_ex_64],
                    size(n) typed(x, $type) count val(result) val($type) val(F32))
            }

            unsafe fn scal(call: &Call<'_>, n: i64, alpha: *const c_void, x: Operand) -> Result<()> {
                invoke!(call, [rocblas_scal_ex rocblas_scal_batched_ex rocblas_scal_strided_batched_ex
                    rocblas_scal_ex_64 rocblas_scal_batched_ex_64 rocblas_scal_strided_batched_ex_64],
                    size(n) val(alpha) val(F32) typed(x, $type) count val(F32))
            }

            unsafe fn rot(
                call: &Call<'_>,
                n: i64,
                x: Operand,
                y: Operand,
                c: *const c_void,
                s: *const c_void,
            ) -> Result<()> {
                invoke!(call, [rocblas_rot_ex rocblas_rot_batched_ex rocblas_rot_strided_batched_ex
                    rocblas_rot_ex_64 rocblas_rot_batched_ex_64 rocblas_rot_strided_batched_ex_64],
                    size(n) typed(x, $type) typed(y, $type) val(c) val(s) val($type) count val(F32))
            }
        }

        impl GemmCalls for $T {
            unsafe fn gemm(
                call: &Call<'_>,
                trans: (rocblas_operation, rocblas_operation),
                size: (i64, i64, i64),
                alpha: *const c_void,
                a: Operand,
                b: Operand,
                beta: *const c_void,
                c: Operand,
            ) -> Result<()> {
                let types = ProductTypes { input: $type, output: $type, compute: F32 };
                // SAFETY: S1, S2, S3: the caller vouches for the arguments.
                unsafe { gemm(call, types, trans, size, (alpha, beta), (a, b), c, c) }
            }
        }
    };
}

sixteen_bits!(f16, F16);
sixteen_bits!(bf16, BF16);
