//! `gemm` of one type: plain, strided and batched by addresses.
#![allow(non_snake_case, reason = "BLAS's names")]

use super::check::{Choice, Int, Outcome, Scalar, done_if, leading, sizes, there};
use super::convert::Pass;
use super::functions::{Cublas, Gemm, GemmBatched, GemmStrided};
use super::handle::{Handle, done, with};
use super::held::{aligned, hold_both};
use super::library::cublas;
use super::table::put;
use hip_sys::RocblasTable;
use hip_sys::rocblas::{rocblas_double_complex as C64, rocblas_float_complex as C32, rocblas_handle};
use hip_sys::rocblas::{rocblas_operation, rocblas_status, rocblas_stride};

#[rustfmt::skip]
pub(super) fn fill(table: &mut RocblasTable) {
    put! { table;
        gemm gemm_strided gemm_batched<f32>: rocblas_sgemm rocblas_sgemm_64, rocblas_sgemm_strided_batched rocblas_sgemm_strided_batched_64, rocblas_sgemm_batched rocblas_sgemm_batched_64;
        gemm gemm_strided gemm_batched<f64>: rocblas_dgemm rocblas_dgemm_64, rocblas_dgemm_strided_batched rocblas_dgemm_strided_batched_64, rocblas_dgemm_batched rocblas_dgemm_batched_64;
        gemm gemm_strided gemm_batched<C32>: rocblas_cgemm rocblas_cgemm_64, rocblas_cgemm_strided_batched rocblas_cgemm_strided_batched_64, rocblas_cgemm_batched rocblas_cgemm_batched_64;
        gemm gemm_strided gemm_batched<C64>: rocblas_zgemm rocblas_zgemm_64, rocblas_zgemm_strided_batched rocblas_zgemm_strided_batched_64, rocblas_zgemm_batched rocblas_zgemm_batched_64;
    }
}

/// The shape of a product: `m` by `k` times `k` by `n`, after the operations.
#[derive(Clone, Copy)]
pub(super) struct Shape<I> {
    pub(super) operations: [rocblas_operation; 2],
    pub(super) m: I,
    pub(super) n: I,
    pub(super) k: I,
    pub(super) lda: I,
    pub(super) ldb: I,
    pub(super) ldc: I,
    pub(super) count: I,
}

impl<I: Int> Shape<I> {
    /// Checks the operations and sizes, and whether the result has elements. With `k` zero it has: `beta C`.
    pub(super) fn check(&self) -> Outcome {
        let [a, b] = self.operations;
        a.valid()?;
        b.valid()?;
        let zero = I::of(0);
        let plain = rocblas_operation::rocblas_operation_none;
        let rows_a = if a == plain { self.m } else { self.k };
        let rows_b = if b == plain { self.k } else { self.n };
        sizes(self.m >= zero && self.n >= zero && self.k >= zero && self.count >= zero)?;
        sizes(self.lda >= rows_a && self.ldb >= rows_b && self.ldc >= self.m)?;
        done_if(self.m == zero || self.n == zero || self.count == zero)
    }
}

/// The arguments for cuBLAS, after rocBLAS's checks.
pub(super) struct Operands<I, T, P> {
    pub(super) k: I,
    pub(super) alpha: *const T,
    pub(super) a: *const P,
    pub(super) b: *const P,
}

/// Checks the scalars and pointers. `is` tells whether a scalar is known to have a value. If the product is zero, its matrices may be
/// null: then `k` becomes 0, and a valid pointer replaces each null one.
pub(super) fn operands<I: Int, T, P>(
    k: I,
    (alpha, beta): (*const T, *const T),
    (a, b): (*const P, *const P),
    c: *const P,
    is: impl Fn(*const T, u8) -> bool,
) -> Outcome<Operands<I, T, P>> {
    let zero = I::of(0);
    there(beta)?;
    if k > zero {
        there(alpha)?;
    }
    let nothing = k == zero || is(alpha, 0);
    done_if(nothing && is(beta, 1))?;
    there(c)?;
    if nothing && (k == zero || a.is_null() || b.is_null()) {
        return Ok(Operands { k: zero, alpha: beta, a: c, b: c });
    }
    there(a)?;
    there(b)?;
    Ok(Operands { k, alpha, a, b })
}

/// [`operands`] with scalars of a given type.
///
/// # Safety
/// Scalars are null or live if they are on the host.
pub(super) unsafe fn typed<I: Int, T: Scalar, P>(
    handle: &Handle,
    k: I,
    scalars: (*const T, *const T),
    factors: (*const P, *const P),
    c: *const P,
) -> Outcome<Operands<I, T, P>> {
    // SAFETY: S11: as promised above; they are checked for null before they are asked for.
    operands(k, scalars, factors, c, |scalar, number| unsafe { handle.is(scalar, number) })
}

unsafe extern "C" fn gemm<I: Int, T: Scalar>(
    handle: rocblas_handle,
    transA: rocblas_operation,
    transB: rocblas_operation,
    m: I,
    n: I,
    k: I,
    alpha: *const T,
    A: *const T,
    lda: I,
    B: *const T,
    ldb: I,
    beta: *const T,
    C: *mut T,
    ldc: I,
) -> rocblas_status
where
    Cublas: Gemm<I, T>,
{
    with(handle, |handle| {
        Shape { operations: [transA, transB], m, n, k, lda, ldb, ldc, count: I::of(1) }.check()?;
        // SAFETY: S2, S11: the caller's arguments; a live handle with its context current.
        unsafe {
            let with = typed(handle, k, (alpha, beta), (A, B), C.cast_const())?;
            let [alpha, beta] = hold_both(handle, (with.alpha, beta))?;
            [with.a, with.b, C].into_iter().try_for_each(aligned)?;
            done(cublas().gemm()(
                handle.raw,
                transA.pass(),
                transB.pass(),
                m,
                n,
                with.k,
                alpha.pointer(),
                with.a,
                leading(lda),
                with.b,
                leading(ldb),
                beta.pointer(),
                C,
                ldc,
            ))
        }
    })
}

unsafe extern "C" fn gemm_strided<I: Int, T: Scalar>(
    handle: rocblas_handle,
    transA: rocblas_operation,
    transB: rocblas_operation,
    m: I,
    n: I,
    k: I,
    alpha: *const T,
    A: *const T,
    lda: I,
    stride_a: rocblas_stride,
    B: *const T,
    ldb: I,
    stride_b: rocblas_stride,
    beta: *const T,
    C: *mut T,
    ldc: I,
    stride_c: rocblas_stride,
    count: I,
) -> rocblas_status
where
    Cublas: GemmStrided<I, T>,
{
    with(handle, |handle| {
        Shape { operations: [transA, transB], m, n, k, lda, ldb, ldc, count }.check()?;
        // SAFETY: S2, S11: the caller's arguments; a live handle with its context current.
        unsafe {
            let with = typed(handle, k, (alpha, beta), (A, B), C.cast_const())?;
            let [alpha, beta] = hold_both(handle, (with.alpha, beta))?;
            [with.a, with.b, C].into_iter().try_for_each(aligned)?;
            done(cublas().gemm_strided()(
                handle.raw,
                transA.pass(),
                transB.pass(),
                m,
                n,
                with.k,
                alpha.pointer(),
                with.a,
                leading(lda),
                stride_a,
                with.b,
                leading(ldb),
                stride_b,
                beta.pointer(),
                C,
                ldc,
                stride_c,
                count,
            ))
        }
    })
}

unsafe extern "C" fn gemm_batched<I: Int, T: Scalar>(
    handle: rocblas_handle,
    transA: rocblas_operation,
    transB: rocblas_operation,
    m: I,
    n: I,
    k: I,
    alpha: *const T,
    A: *const *const T,
    lda: I,
    B: *const *const T,
    ldb: I,
    beta: *const T,
    C: *const *mut T,
    ldc: I,
    count: I,
) -> rocblas_status
where
    Cublas: GemmBatched<I, T>,
{
    with(handle, |handle| {
        Shape { operations: [transA, transB], m, n, k, lda, ldb, ldc, count }.check()?;
        // SAFETY: S2, S11: the caller's arguments; a live handle with its context current.
        unsafe {
            let with = typed(handle, k, (alpha, beta), (A, B), C.cast())?;
            let [alpha, beta] = hold_both(handle, (with.alpha, beta))?;
            done(cublas().gemm_batched()(
                handle.raw,
                transA.pass(),
                transB.pass(),
                m,
                n,
                with.k,
                alpha.pointer(),
                with.a,
                leading(lda),
                with.b,
                leading(ldb),
                beta.pointer(),
                C,
                ldc,
                count,
            ))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::check::{POINTER, SIZE, SUCCESS, VALUE};
    use super::*;
    use std::ptr::null;

    const NONE: rocblas_operation = rocblas_operation::rocblas_operation_none;
    const TRANSPOSE: rocblas_operation = rocblas_operation::rocblas_operation_transpose;

    fn shape() -> Shape<i32> {
        Shape { operations: [NONE, NONE], m: 2, n: 3, k: 4, lda: 2, ldb: 4, ldc: 2, count: 1 }
    }

    #[test]
    fn sizes_are_checked_after_operations_and_before_empty_results() {
        assert_eq!(shape().check(), Ok(()));
        assert_eq!(Shape { operations: [rocblas_operation(0), NONE], m: -1, ..shape() }.check(), Err(VALUE));
        assert_eq!(Shape { k: -1, ..shape() }.check(), Err(SIZE));
        assert_eq!(Shape { count: -1, ..shape() }.check(), Err(SIZE));
        assert_eq!(Shape { lda: 1, ..shape() }.check(), Err(SIZE));
        assert_eq!(Shape { operations: [TRANSPOSE, NONE], ..shape() }.check(), Err(SIZE));
        assert_eq!(Shape { operations: [TRANSPOSE, TRANSPOSE], lda: 4, ldb: 3, ..shape() }.check(), Ok(()));
        assert_eq!(Shape { n: 0, lda: 1, ..shape() }.check(), Err(SIZE));
        assert_eq!(Shape { n: 0, ..shape() }.check(), Err(SUCCESS));
        assert_eq!(Shape { count: 0, ..shape() }.check(), Err(SUCCESS));
        assert_eq!(Shape { k: 0, ldb: 0, ..shape() }.check(), Ok(()));
    }

    #[test]
    fn pointers_are_needed_where_they_are_read() {
        let (zero, one, two) = (0_f32, 1_f32, 2_f32);
        let (zero, one, two): (*const f32, *const f32, *const f32) = (&zero, &one, &two);
        let data = [0_f32; 3];
        let [a, b, c] = [&raw const data[0], &raw const data[1], &raw const data[2]];
        // SAFETY: S11: live scalars.
        let is = |scalar: *const f32, number| unsafe { *scalar }.is(number);
        let ask = |k, alpha, beta, a, b, c| {
            operands(k, (alpha, beta), (a, b), c, is).map(|with| (with.k, with.alpha, with.a, with.b))
        };
        assert_eq!(ask(4, two, two, a, b, c), Ok((4, two, a, b)));
        assert_eq!(ask(4, two, null(), a, b, c), Err(POINTER));
        assert_eq!(ask(4, null(), two, a, b, c), Err(POINTER));
        assert_eq!(ask(4, two, two, null(), b, c), Err(POINTER));
        assert_eq!(ask(4, two, two, a, null(), c), Err(POINTER));
        assert_eq!(ask(4, two, two, a, b, null()), Err(POINTER));
        // beta is 1 and the product is zero: nothing to do.
        assert_eq!(ask(4, zero, one, null(), null(), null()), Err(SUCCESS));
        assert_eq!(ask(0, null(), one, null(), null(), null()), Err(SUCCESS));
        // C is only scaled.
        assert_eq!(ask(0, null(), two, null(), null(), c), Ok((0, two, c, c)));
        assert_eq!(ask(4, zero, two, null(), b, c), Ok((0, two, c, c)));
        assert_eq!(ask(4, zero, two, a, b, c), Ok((4, zero, a, b)));
    }
}
