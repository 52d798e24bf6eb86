//! The C functions of each operation, generic over the type: they call a method of [`Solver`].

use super::{Batched, Context, Element, Solver};
use crate::rocblas::{rocblas_fill, rocblas_handle, rocblas_operation, rocblas_side, rocblas_status};
use crate::rocsolver::{rocblas_eform, rocblas_evect, rocblas_svect, rocblas_workmode};

/// Makes a module for each operation, with a function `plain` and a function `strided` from one list of C's arguments.
///
/// In brackets are a matrix (its type, leading dimension and stride) or a vector (its type and stride). `skip` is an argument that the
/// method does not get, `batch` the number of members.
macro_rules! forms {
    ($($op:ident($($args:tt)*);)*) => {
        $(pub(super) mod $op {
            use super::*;
            forms! { @go $op {} {} {} {} {1} $($args)*, }
        })*
    };
    (@go $op:ident {$($pp:tt)*} {$($pa:tt)*} {$($sp:tt)*} {$($sa:tt)*} $count:tt [const $n:ident: $t:ty, $stride:ident], $($rest:tt)*) => {
        forms! { @go $op
            {$($pp)* $n: *const $t,} {$($pa)* Batched { address: $n.cast_mut(), ld: 1, stride: 0 },}
            {$($sp)* $n: *const $t, $stride: i64,} {$($sa)* Batched { address: $n.cast_mut(), ld: 1, stride: $stride },}
            $count $($rest)* }
    };
    (@go $op:ident {$($pp:tt)*} {$($pa:tt)*} {$($sp:tt)*} {$($sa:tt)*} $count:tt [$n:ident: $t:ty, $stride:ident], $($rest:tt)*) => {
        forms! { @go $op
            {$($pp)* $n: *mut $t,} {$($pa)* Batched { address: $n, ld: 1, stride: 0 },}
            {$($sp)* $n: *mut $t, $stride: i64,} {$($sa)* Batched { address: $n, ld: 1, stride: $stride },}
            $count $($rest)* }
    };
    (@go $op:ident {$($pp:tt)*} {$($pa:tt)*} {$($sp:tt)*} {$($sa:tt)*} $count:tt [$n:ident: $t:ty, $ld:ident, $stride:ident], $($rest:tt)*) => {
        forms! { @go $op
            {$($pp)* $n: *mut $t, $ld: i32,} {$($pa)* Batched { address: $n, ld: $ld, stride: 0 },}
            {$($sp)* $n: *mut $t, $ld: i32, $stride: i64,} {$($sa)* Batched { address: $n, ld: $ld, stride: $stride },}
            $count $($rest)* }
    };
    (@go $op:ident {$($pp:tt)*} $pa:tt {$($sp:tt)*} $sa:tt $count:tt skip $t:ty, $($rest:tt)*) => {
        forms! { @go $op {$($pp)* _: $t,} $pa {$($sp)* _: $t,} $sa $count $($rest)* }
    };
    (@go $op:ident $pp:tt $pa:tt {$($sp:tt)*} $sa:tt $count:tt batch $n:ident, $($rest:tt)*) => {
        forms! { @go $op $pp $pa {$($sp)* $n: i32,} $sa {$n} $($rest)* }
    };
    (@go $op:ident {$($pp:tt)*} {$($pa:tt)*} {$($sp:tt)*} {$($sa:tt)*} $count:tt $n:ident: $t:ty, $($rest:tt)*) => {
        forms! { @go $op {$($pp)* $n: $t,} {$($pa)* $n,} {$($sp)* $n: $t,} {$($sa)* $n,} $count $($rest)* }
    };
    (@go $op:ident {$($pp:tt)*} {$($pa:tt)*} {$($sp:tt)*} {$($sa:tt)*} {$count:expr}) => {
        /// The plain function.
        pub(in crate::provider::rocsolver) unsafe extern "C" fn plain<S: Solver<T>, T: Element>(
            handle: rocblas_handle,
            $($pp)*
        ) -> rocblas_status {
            // SAFETY: S11: the C function's contract.
            unsafe { S::$op(Context { handle, batch: 1 }, $($pa)*) }
        }

        /// The function at equal distances.
        #[allow(dead_code, reason = "some operations have none")]
        pub(in crate::provider::rocsolver) unsafe extern "C" fn strided<S: Solver<T>, T: Element>(
            handle: rocblas_handle,
            $($sp)*
        ) -> rocblas_status {
            // SAFETY: S11: the C function's contract.
            unsafe { S::$op(Context { handle, batch: $count }, $($sa)*) }
        }
    };
}

forms! {
    getrf(m: i32, n: i32, [a: T, lda, stride_a], [ipiv: i32, stride_p], info: *mut i32, batch count);
    getrs(trans: rocblas_operation, n: i32, nrhs: i32, [a: T, lda, stride_a], [const ipiv: i32, stride_p], [b: T, ldb, stride_b],
        batch count);
    getri(n: i32, [a: T, lda, stride_a], [ipiv: i32, stride_p], info: *mut i32, batch count);
    potrf(uplo: rocblas_fill, n: i32, [a: T, lda, stride_a], info: *mut i32, batch count);
    potrs(uplo: rocblas_fill, n: i32, nrhs: i32, [a: T, lda, stride_a], [b: T, ldb, stride_b], batch count);
    posv(uplo: rocblas_fill, n: i32, nrhs: i32, [a: T, lda, stride_a], [b: T, ldb, stride_b], info: *mut i32, batch count);
    geqrf(m: i32, n: i32, [a: T, lda, stride_a], [tau: T, stride_p], batch count);
    orgqr(m: i32, n: i32, k: i32, [a: T, lda, stride_a], [tau: T, stride_p]);
    ormqr(side: rocblas_side, trans: rocblas_operation, m: i32, n: i32, k: i32, [a: T, lda, stride_a], [tau: T, stride_p],
        [c: T, ldc, stride_c]);
    gels(trans: rocblas_operation, m: i32, n: i32, nrhs: i32, [a: T, lda, stride_a], [b: T, ldb, stride_b], info: *mut i32,
        batch count);
    gesvd(left: rocblas_svect, right: rocblas_svect, m: i32, n: i32, [a: T, lda, stride_a], [s: T::Real, stride_s],
        [u: T, ldu, stride_u], [v: T, ldv, stride_v], [e: T::Real, stride_e], skip rocblas_workmode, info: *mut i32, batch count);
    syevd(evect: rocblas_evect, uplo: rocblas_fill, n: i32, [a: T, lda, stride_a], [d: T::Real, stride_d], [e: T::Real, stride_e],
        info: *mut i32, batch count);
    sygvd(itype: rocblas_eform, evect: rocblas_evect, uplo: rocblas_fill, n: i32, [a: T, lda, stride_a], [b: T, ldb, stride_b],
        [d: T::Real, stride_d], [e: T::Real, stride_e], info: *mut i32, batch count);
}
