//! `hgemm`: a product of 16-bit elements. With scalars on the host it sums in 32 bits. Scalars in device memory cannot be
//! widened, so with them it sums in 16 bits.
#![allow(non_snake_case, reason = "BLAS's names")]

use super::check::{Int, Outcome};
use super::convert::{Compute, DataType};
use super::functions::{Cublas, GemmBatchedEx, GemmEx, GemmStridedEx};
use super::gemm::{Shape, typed};
use super::gemm_ex::Product;
use super::handle::{Handle, with};
use super::held::Held;
use super::scalar::widened;
use super::table::put;
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_half, rocblas_handle, rocblas_operation, rocblas_status, rocblas_stride};
use std::ffi::c_void;

#[rustfmt::skip]
pub(super) fn fill(table: &mut RocblasTable) {
    put! { table;
        hgemm hgemm_strided hgemm_batched: rocblas_hgemm rocblas_hgemm_64, rocblas_hgemm_strided_batched rocblas_hgemm_strided_batched_64, rocblas_hgemm_batched rocblas_hgemm_batched_64;
    }
}

/// Checks the arguments and converts them to a product.
///
/// # Safety
/// The arguments fulfil rocBLAS's contract.
unsafe fn product<I: Int, P>(
    handle: &Handle,
    shape: Shape<I>,
    (alpha, beta): (*const rocblas_half, *const rocblas_half),
    (a, b): (*const P, *const P),
    c: *const P,
    run: impl FnOnce(Product<I>) -> Outcome,
) -> Outcome {
    shape.check()?;
    // SAFETY: S11: as promised above.
    let with = unsafe { typed(handle, shape.k, (alpha, beta), (a, b), c) }?;
    let (alpha, beta): (*const c_void, *const c_void) = (with.alpha.cast(), beta.cast());
    // SAFETY: S11: as promised above, and the scalars were checked.
    let wide = unsafe { (widened(handle, alpha, DataType::F16), widened(handle, beta, DataType::F16)) };
    let (alpha, beta, compute) = match &wide {
        (Some(alpha), Some(beta)) => ((&raw const *alpha).cast(), (&raw const *beta).cast(), Compute::F32),
        _ => (alpha, beta, Compute::F16),
    };
    run(Product {
        shape: Shape { k: with.k, ..shape },
        a: with.a.cast(),
        b: with.b.cast(),
        alpha: Held::there(alpha),
        beta: Held::there(beta),
        d: c.cast_mut().cast(),
        types: [DataType::F16; 3],
        compute,
    })
}

unsafe extern "C" fn hgemm<I: Int>(
    handle: rocblas_handle,
    transA: rocblas_operation,
    transB: rocblas_operation,
    m: I,
    n: I,
    k: I,
    alpha: *const rocblas_half,
    A: *const rocblas_half,
    lda: I,
    B: *const rocblas_half,
    ldb: I,
    beta: *const rocblas_half,
    C: *mut rocblas_half,
    ldc: I,
) -> rocblas_status
where
    Cublas: GemmEx<I>,
{
    with(handle, |handle| {
        let shape = Shape { operations: [transA, transB], m, n, k, lda, ldb, ldc, count: I::of(1) };
        // SAFETY: S2, S11: the caller's arguments.
        unsafe { product(handle, shape, (alpha, beta), (A, B), C, |product| product.one(handle)) }
    })
}

unsafe extern "C" fn hgemm_strided<I: Int>(
    handle: rocblas_handle,
    transA: rocblas_operation,
    transB: rocblas_operation,
    m: I,
    n: I,
    k: I,
    alpha: *const rocblas_half,
    A: *const rocblas_half,
    lda: I,
    stride_a: rocblas_stride,
    B: *const rocblas_half,
    ldb: I,
    stride_b: rocblas_stride,
    beta: *const rocblas_half,
    C: *mut rocblas_half,
    ldc: I,
    stride_c: rocblas_stride,
    count: I,
) -> rocblas_status
where
    Cublas: GemmStridedEx<I>,
{
    with(handle, |handle| {
        let shape = Shape { operations: [transA, transB], m, n, k, lda, ldb, ldc, count };
        let strides = [stride_a, stride_b, stride_c];
        // SAFETY: S2, S11: the caller's arguments.
        unsafe {
            product(handle, shape, (alpha, beta), (A, B), C, |product| product.strided(handle, strides))
        }
    })
}

unsafe extern "C" fn hgemm_batched<I: Int>(
    handle: rocblas_handle,
    transA: rocblas_operation,
    transB: rocblas_operation,
    m: I,
    n: I,
    k: I,
    alpha: *const rocblas_half,
    A: *const *const rocblas_half,
    lda: I,
    B: *const *const rocblas_half,
    ldb: I,
    beta: *const rocblas_half,
    C: *const *mut rocblas_half,
    ldc: I,
    count: I,
) -> rocblas_status
where
    Cublas: GemmBatchedEx<I>,
{
    with(handle, |handle| {
        let shape = Shape { operations: [transA, transB], m, n, k, lda, ldb, ldc, count };
        // SAFETY: S2, S11: the caller's arguments.
        unsafe { product(handle, shape, (alpha, beta), (A, B), C.cast(), |product| product.batched(handle)) }
    })
}
