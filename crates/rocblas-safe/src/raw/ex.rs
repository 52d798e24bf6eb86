//! The functions that take their types as arguments: those for 16-bit floats, computed in `f32`, and products of other combinations.

use super::call::{Call, Form, Operand, Result, invoke, wide};
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

/// Products of a matrix and a vector whose result may have another type, computed in `f32`.
pub trait VectorProductCalls<Out> {
    unsafe fn gemv(
        call: &Call<'_>,
        trans: rocblas_operation,
        size: (i64, i64),
        scalars: (*const c_void, *const c_void),
        a: Operand,
        x: Operand,
        y: Operand,
    ) -> Result<()>;
}

/// C has these for batches alone, so one is a batch of one. A library that has none of that form and size multiplies rows: `yᵀ` is `xᵀ` times
/// the matrix, transposed, where the vectors go forward.
macro_rules! vector_product {
    ($In:ty, $Out:ty, $input:ident, $output:ident, [$batched:ident $strided:ident $batched64:ident $strided64:ident]) => {
        impl VectorProductCalls<$Out> for $In {
            unsafe fn gemv(
                call: &Call<'_>,
                trans: rocblas_operation,
                (m, n): (i64, i64),
                (alpha, beta): (*const c_void, *const c_void),
                a: Operand,
                x: Operand,
                y: Operand,
            ) -> Result<()> {
                let narrow = call.is_narrow(&[m, n, a.ld, x.ld, y.ld]);
                let given = call;
                let call = &match given.form {
                    Form::Single => given.with(Form::Strided, 1),
                    form => given.with(form, given.count),
                };
                let (alpha, beta) = (alpha.cast(), beta.cast());
                let done = match (call.form, narrow) {
                    (Form::Pointers, true) => wide!(call, $batched, Pointers,
                        val(trans) size(m) size(n) val(alpha) op(a) op(x) val(beta) op(y) count),
                    (Form::Pointers, false) => wide!(call, $batched64, Pointers,
                        val(trans) size(m) size(n) val(alpha) op(a) op(x) val(beta) op(y) count),
                    (_, true) => wide!(call, $strided, Strided,
                        val(trans) size(m) size(n) val(alpha) op(a) op(x) val(beta) op(y) count),
                    (_, false) => wide!(call, $strided64, Strided,
                        val(trans) size(m) size(n) val(alpha) op(a) op(x) val(beta) op(y) count),
                };
                match done {
                    Err(failure) if failure.is_missing() && x.ld > 0 && y.ld > 0 => {
                        let types = ProductTypes { input: $input, output: $output, compute: F32 };
                        let none = rocblas_operation::rocblas_operation_none;
                        let (other, rows, inner) = if trans == none {
                            (rocblas_operation::rocblas_operation_transpose, m, n)
                        } else {
                            (none, n, m)
                        };
                        let scalars = (alpha.cast(), beta.cast());
                        // SAFETY: S1, S2, S3: the caller vouches for the arguments; a row has a vector's elements.
                        unsafe { gemm(given, types, (none, other), (1, rows, inner), scalars, (x, a), y, y) }
                    }
                    done => done,
                }
            }
        }
    };
}

vector_product!(f16, f16, F16, F16, [rocblas_hshgemv_batched rocblas_hshgemv_strided_batched
    rocblas_hshgemv_batched_64 rocblas_hshgemv_strided_batched_64]);
vector_product!(f16, f32, F16, F32, [rocblas_hssgemv_batched rocblas_hssgemv_strided_batched
    rocblas_hssgemv_batched_64 rocblas_hssgemv_strided_batched_64]);
vector_product!(bf16, bf16, BF16, BF16, [rocblas_tstgemv_batched rocblas_tstgemv_strided_batched
    rocblas_tstgemv_batched_64 rocblas_tstgemv_strided_batched_64]);
vector_product!(bf16, f32, BF16, F32, [rocblas_tssgemv_batched rocblas_tssgemv_strided_batched
    rocblas_tssgemv_batched_64 rocblas_tssgemv_strided_batched_64]);
