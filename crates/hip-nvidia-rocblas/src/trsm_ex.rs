//! `trsm_ex`: the type is an argument. The optional inverses of the diagonal blocks are not used.
#![allow(non_snake_case, reason = "BLAS's names")]

use super::check::NOT_IMPLEMENTED;
use super::handle::with;
use super::level3::{trsm, trsm_batched, trsm_strided};
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_datatype, rocblas_diagonal, rocblas_double_complex, rocblas_fill};
use hip_sys::rocblas::{rocblas_float_complex, rocblas_handle, rocblas_int, rocblas_operation};
use hip_sys::rocblas::{rocblas_side, rocblas_status, rocblas_stride};
use std::ffi::c_void;

pub(super) fn fill(table: &mut RocblasTable) {
    table.rocblas_trsm_ex = trsm_ex;
    table.rocblas_trsm_strided_batched_ex = trsm_strided_ex;
    table.rocblas_trsm_batched_ex = trsm_batched_ex;
}

/// Calls with `T` for each type that `trsm` has.
macro_rules! typed {
    ($handle:expr, $data:expr, $T:ident => $call:expr) => {{
        use rocblas_datatype as R;
        match $data {
            R::rocblas_datatype_f32_r => {
                type $T = f32;
                $call
            }
            R::rocblas_datatype_f64_r => {
                type $T = f64;
                $call
            }
            R::rocblas_datatype_f32_c => {
                type $T = rocblas_float_complex;
                $call
            }
            R::rocblas_datatype_f64_c => {
                type $T = rocblas_double_complex;
                $call
            }
            _ => with($handle, |_| Err(NOT_IMPLEMENTED)),
        }
    }};
}

unsafe extern "C" fn trsm_ex(
    handle: rocblas_handle,
    side: rocblas_side,
    uplo: rocblas_fill,
    transA: rocblas_operation,
    diag: rocblas_diagonal,
    m: rocblas_int,
    n: rocblas_int,
    alpha: *const c_void,
    A: *const c_void,
    lda: rocblas_int,
    B: *mut c_void,
    ldb: rocblas_int,
    _inverses: *const c_void,
    _inverses_size: rocblas_int,
    data: rocblas_datatype,
) -> rocblas_status {
    // SAFETY: S11: the caller's arguments, which are of the type.
    typed!(handle, data, T => unsafe {
        trsm::<i32, T>(handle, side, uplo, transA, diag, m, n, alpha.cast(), A.cast(), lda, B.cast(), ldb)
    })
}

unsafe extern "C" fn trsm_strided_ex(
    handle: rocblas_handle,
    side: rocblas_side,
    uplo: rocblas_fill,
    transA: rocblas_operation,
    diag: rocblas_diagonal,
    m: rocblas_int,
    n: rocblas_int,
    alpha: *const c_void,
    A: *const c_void,
    lda: rocblas_int,
    stride_a: rocblas_stride,
    B: *mut c_void,
    ldb: rocblas_int,
    stride_b: rocblas_stride,
    count: rocblas_int,
    _inverses: *const c_void,
    _inverses_size: rocblas_int,
    _inverses_stride: rocblas_stride,
    data: rocblas_datatype,
) -> rocblas_status {
    // SAFETY: S11: the caller's arguments, which are of the type.
    typed!(handle, data, T => unsafe {
        let (alpha, A, B) = (alpha.cast(), A.cast(), B.cast());
        trsm_strided::<i32, T>(
            handle, side, uplo, transA, diag, m, n, alpha, A, lda, stride_a, B, ldb, stride_b, count,
        )
    })
}

unsafe extern "C" fn trsm_batched_ex(
    handle: rocblas_handle,
    side: rocblas_side,
    uplo: rocblas_fill,
    transA: rocblas_operation,
    diag: rocblas_diagonal,
    m: rocblas_int,
    n: rocblas_int,
    alpha: *const c_void,
    A: *const c_void,
    lda: rocblas_int,
    B: *mut c_void,
    ldb: rocblas_int,
    count: rocblas_int,
    _inverses: *const c_void,
    _inverses_size: rocblas_int,
    data: rocblas_datatype,
) -> rocblas_status {
    // SAFETY: S11: the caller's arguments, which are arrays of addresses of the type.
    typed!(handle, data, T => unsafe {
        let (alpha, A, B) = (alpha.cast(), A.cast(), B.cast_const().cast());
        trsm_batched::<i32, T>(handle, side, uplo, transA, diag, m, n, alpha, A, lda, B, ldb, count)
    })
}
