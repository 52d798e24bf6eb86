//! From our values to C's.

use crate::{Error, Lapack, Problem, Result, Transpose, Vectors};
use hip_sys::rocblas::{rocblas_fill, rocblas_operation, rocblas_side};
use hip_sys::rocsolver::{rocblas_eform, rocblas_evect};
use rocblas_safe::{Side, Triangle};

pub(crate) fn fill(triangle: Triangle) -> rocblas_fill {
    match triangle {
        Triangle::Upper => rocblas_fill::rocblas_fill_upper,
        Triangle::Lower => rocblas_fill::rocblas_fill_lower,
    }
}

pub(crate) fn side(side: Side) -> rocblas_side {
    match side {
        Side::Left => rocblas_side::rocblas_side_left,
        Side::Right => rocblas_side::rocblas_side_right,
    }
}

pub(crate) fn operation<T: Lapack>(transpose: Transpose) -> rocblas_operation {
    match transpose {
        Transpose::No => rocblas_operation::rocblas_operation_none,
        Transpose::Conjugate if T::COMPLEX => rocblas_operation::rocblas_operation_conjugate_transpose,
        Transpose::Yes | Transpose::Conjugate => rocblas_operation::rocblas_operation_transpose,
    }
}

/// As `operation`, where complex matrices are transposed and conjugated or neither.
pub(crate) fn adjoint<T: Lapack>(op: &'static str, transpose: Transpose) -> Result<rocblas_operation> {
    if transpose == Transpose::Yes && T::COMPLEX {
        let remedy = "LAPACK has Transpose::Conjugate";
        return Err(Error::not_supported(op, "a complex matrix transposed without being conjugated", remedy));
    }
    Ok(operation::<T>(transpose))
}

pub(crate) fn vectors(vectors: Vectors) -> rocblas_evect {
    match vectors {
        Vectors::No => rocblas_evect::rocblas_evect_none,
        Vectors::InPlace => rocblas_evect::rocblas_evect_original,
    }
}

pub(crate) fn problem(problem: Problem) -> rocblas_eform {
    match problem {
        Problem::Ax => rocblas_eform::rocblas_eform_ax,
        Problem::Abx => rocblas_eform::rocblas_eform_abx,
        Problem::Bax => rocblas_eform::rocblas_eform_bax,
    }
}
