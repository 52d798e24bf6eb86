//! The C functions: arguments are checked as rocSOLVER does, and the work is submitted.

mod linear;
mod orthogonal;
mod spectra;

use crate::call::{Outcome, Status, VALUE, status};
use crate::matrix::{Op, Triangle};
use crate::scalar::{Element, Scalar};
use hip_sys::provider::{Batched, Context, Solver};
use hip_sys::rocblas::{rocblas_fill, rocblas_operation, rocblas_side};
use hip_sys::rocsolver::{rocblas_eform, rocblas_evect, rocblas_svect};
use linear::{getrf, getri, getrs, posv, potrf, potrs};
use orthogonal::{gels, geqrf, orgqr, ormqr};
use spectra::{gesvd, syevd, sygvd};

/// This crate's functions.
pub(crate) enum Host {}

fn triangle(uplo: rocblas_fill) -> Outcome<Triangle> {
    match uplo {
        rocblas_fill::rocblas_fill_upper => Ok(Triangle::Upper),
        rocblas_fill::rocblas_fill_lower => Ok(Triangle::Lower),
        _ => Err(VALUE),
    }
}

fn operation(trans: rocblas_operation) -> Outcome<Op> {
    match trans {
        rocblas_operation::rocblas_operation_none => Ok(Op::Plain),
        rocblas_operation::rocblas_operation_transpose => Ok(Op::Transposed),
        rocblas_operation::rocblas_operation_conjugate_transpose => Ok(Op::Adjoint),
        _ => Err(VALUE),
    }
}

/// Whether Q is used as its adjoint. Complex ones have no transposed form, real ones no conjugated one.
fn is_adjoint<T: Scalar>(trans: rocblas_operation) -> Outcome<bool> {
    match operation(trans)? {
        Op::Plain => Ok(false),
        Op::Transposed if !T::COMPLEX => Ok(true),
        Op::Adjoint if T::COMPLEX => Ok(true),
        _ => Err(VALUE),
    }
}

fn wants_vectors(evect: rocblas_evect) -> Outcome<bool> {
    match evect {
        rocblas_evect::rocblas_evect_original => Ok(true),
        rocblas_evect::rocblas_evect_none => Ok(false),
        _ => Err(VALUE),
    }
}

/// The functions of one type, in the trait's order.
macro_rules! solver {
    ($($op:ident($($argument:ident: $type:ty),*);)*) => {
        // SAFETY: S11: each checks its operands and uses no more of them than the C function does.
        unsafe impl<C: Element> Solver<C> for Host {
            $(unsafe fn $op(context: Context, $($argument: $type),*) -> Status {
                // SAFETY: S11: the C function's contract.
                status(unsafe { $op::<C>(context, $($argument),*) })
            })*
        }
    };
}

solver! {
    getrf(m: i32, n: i32, a: Batched<C>, ipiv: Batched<i32>, info: *mut i32);
    getrs(trans: rocblas_operation, n: i32, nrhs: i32, a: Batched<C>, ipiv: Batched<i32>, b: Batched<C>);
    getri(n: i32, a: Batched<C>, ipiv: Batched<i32>, info: *mut i32);
    potrf(uplo: rocblas_fill, n: i32, a: Batched<C>, info: *mut i32);
    potrs(uplo: rocblas_fill, n: i32, nrhs: i32, a: Batched<C>, b: Batched<C>);
    posv(uplo: rocblas_fill, n: i32, nrhs: i32, a: Batched<C>, b: Batched<C>, info: *mut i32);
    geqrf(m: i32, n: i32, a: Batched<C>, tau: Batched<C>);
    orgqr(m: i32, n: i32, k: i32, a: Batched<C>, tau: Batched<C>);
    ormqr(side: rocblas_side, trans: rocblas_operation, m: i32, n: i32, k: i32, a: Batched<C>, tau: Batched<C>, c: Batched<C>);
    gels(trans: rocblas_operation, m: i32, n: i32, nrhs: i32, a: Batched<C>, b: Batched<C>, info: *mut i32);
    gesvd(left: rocblas_svect, right: rocblas_svect, m: i32, n: i32, a: Batched<C>, s: Batched<C::Real>, u: Batched<C>,
        v: Batched<C>, e: Batched<C::Real>, info: *mut i32);
    syevd(evect: rocblas_evect, uplo: rocblas_fill, n: i32, a: Batched<C>, d: Batched<C::Real>, e: Batched<C::Real>, info: *mut i32);
    sygvd(itype: rocblas_eform, evect: rocblas_evect, uplo: rocblas_fill, n: i32, a: Batched<C>, b: Batched<C>,
        d: Batched<C::Real>, e: Batched<C::Real>, info: *mut i32);
}
