//! What platforms with a rocSOLVER share: its functions as one trait, and the table made of that.

mod forms;
mod table;

pub use table::table;

use crate::rocblas::{
    rocblas_double_complex, rocblas_fill, rocblas_float_complex, rocblas_handle, rocblas_operation,
    rocblas_side, rocblas_status,
};
use crate::rocsolver::{rocblas_eform, rocblas_evect, rocblas_svect};

/// What matrices are made of: `f32`, `f64` and rocBLAS's complex numbers.
pub trait Element: Copy + 'static {
    /// Singular values and eigenvalues are of this type.
    type Real: Copy + 'static;
}

impl Element for f32 {
    type Real = f32;
}

impl Element for f64 {
    type Real = f64;
}

impl Element for rocblas_float_complex {
    type Real = f32;
}

impl Element for rocblas_double_complex {
    type Real = f64;
}

/// A matrix or a vector in each member of a batch, as the program gave it: nothing is checked.
#[derive(Debug, Clone, Copy)]
pub struct Batched<T> {
    /// That of the first member.
    pub address: *mut T,
    /// The leading dimension of a matrix; 1 for a vector.
    pub ld: i32,
    /// The elements from one member to the next; 0 where there is one member only.
    pub stride: i64,
}

/// What all functions get, beside their operands.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// rocBLAS's handle.
    pub handle: rocblas_handle,
    /// The members of the batch: 1 in a function without one. It may be negative, as the program gave it.
    pub batch: i32,
}

const NOT_IMPLEMENTED: rocblas_status = rocblas_status::rocblas_status_not_implemented;

/// rocSOLVER's functions on one type of element, each for the plain one and the one at equal distances. A function that is not overridden
/// answers `rocblas_status_not_implemented`.
///
/// The arguments are C's, in C's order, with a matrix's leading dimension and its stride in a [`Batched`]. `info` has a number for each
/// member.
///
/// # Safety
/// Each function asks what the C function of that name asks, and an implementation does what that does.
#[allow(
    clippy::too_many_arguments,
    unused_variables,
    clippy::missing_safety_doc,
    reason = "C's, as said above"
)]
pub unsafe trait Solver<T: Element> {
    /// `rocsolver_sgetrf` and its like.
    unsafe fn getrf(
        context: Context,
        m: i32,
        n: i32,
        a: Batched<T>,
        ipiv: Batched<i32>,
        info: *mut i32,
    ) -> rocblas_status {
        NOT_IMPLEMENTED
    }

    /// `rocsolver_sgetrs` and its like.
    unsafe fn getrs(
        context: Context,
        trans: rocblas_operation,
        n: i32,
        nrhs: i32,
        a: Batched<T>,
        ipiv: Batched<i32>,
        b: Batched<T>,
    ) -> rocblas_status {
        NOT_IMPLEMENTED
    }

    /// `rocsolver_sgetri` and its like.
    unsafe fn getri(
        context: Context,
        n: i32,
        a: Batched<T>,
        ipiv: Batched<i32>,
        info: *mut i32,
    ) -> rocblas_status {
        NOT_IMPLEMENTED
    }

    /// `rocsolver_spotrf` and its like.
    unsafe fn potrf(
        context: Context,
        uplo: rocblas_fill,
        n: i32,
        a: Batched<T>,
        info: *mut i32,
    ) -> rocblas_status {
        NOT_IMPLEMENTED
    }

    /// `rocsolver_spotrs` and its like.
    unsafe fn potrs(
        context: Context,
        uplo: rocblas_fill,
        n: i32,
        nrhs: i32,
        a: Batched<T>,
        b: Batched<T>,
    ) -> rocblas_status {
        NOT_IMPLEMENTED
    }

    /// `rocsolver_sposv` and its like.
    unsafe fn posv(
        context: Context,
        uplo: rocblas_fill,
        n: i32,
        nrhs: i32,
        a: Batched<T>,
        b: Batched<T>,
        info: *mut i32,
    ) -> rocblas_status {
        NOT_IMPLEMENTED
    }

    /// `rocsolver_sgeqrf` and its like.
    unsafe fn geqrf(context: Context, m: i32, n: i32, a: Batched<T>, tau: Batched<T>) -> rocblas_status {
        NOT_IMPLEMENTED
    }

    /// `rocsolver_sorgqr`, `rocsolver_cungqr` and their like.
    unsafe fn orgqr(
        context: Context,
        m: i32,
        n: i32,
        k: i32,
        a: Batched<T>,
        tau: Batched<T>,
    ) -> rocblas_status {
        NOT_IMPLEMENTED
    }

    /// `rocsolver_sormqr`, `rocsolver_cunmqr` and their like.
    unsafe fn ormqr(
        context: Context,
        side: rocblas_side,
        trans: rocblas_operation,
        m: i32,
        n: i32,
        k: i32,
        a: Batched<T>,
        tau: Batched<T>,
        c: Batched<T>,
    ) -> rocblas_status {
        NOT_IMPLEMENTED
    }

    /// `rocsolver_sgels` and its like.
    unsafe fn gels(
        context: Context,
        trans: rocblas_operation,
        m: i32,
        n: i32,
        nrhs: i32,
        a: Batched<T>,
        b: Batched<T>,
        info: *mut i32,
    ) -> rocblas_status {
        NOT_IMPLEMENTED
    }

    /// `rocsolver_sgesvd` and its like, without `fast_alg`, which is about memory alone.
    unsafe fn gesvd(
        context: Context,
        left: rocblas_svect,
        right: rocblas_svect,
        m: i32,
        n: i32,
        a: Batched<T>,
        s: Batched<T::Real>,
        u: Batched<T>,
        v: Batched<T>,
        e: Batched<T::Real>,
        info: *mut i32,
    ) -> rocblas_status {
        NOT_IMPLEMENTED
    }

    /// `rocsolver_ssyevd`, `rocsolver_cheevd` and their like.
    unsafe fn syevd(
        context: Context,
        evect: rocblas_evect,
        uplo: rocblas_fill,
        n: i32,
        a: Batched<T>,
        d: Batched<T::Real>,
        e: Batched<T::Real>,
        info: *mut i32,
    ) -> rocblas_status {
        NOT_IMPLEMENTED
    }

    /// `rocsolver_ssygvd`, `rocsolver_chegvd` and their like.
    unsafe fn sygvd(
        context: Context,
        itype: rocblas_eform,
        evect: rocblas_evect,
        uplo: rocblas_fill,
        n: i32,
        a: Batched<T>,
        b: Batched<T>,
        d: Batched<T::Real>,
        e: Batched<T::Real>,
        info: *mut i32,
    ) -> rocblas_status {
        NOT_IMPLEMENTED
    }
}
