//! From our values to C's and back.

use crate::{Diagonal, Side, Triangle};
use hip_sys::rocblas::{rocblas_diagonal, rocblas_fill, rocblas_side, rocblas_status};

pub(crate) fn fill(triangle: Triangle) -> rocblas_fill {
    match triangle {
        Triangle::Upper => rocblas_fill::rocblas_fill_upper,
        Triangle::Lower => rocblas_fill::rocblas_fill_lower,
    }
}

pub(crate) fn diagonal(diagonal: Diagonal) -> rocblas_diagonal {
    match diagonal {
        Diagonal::Stored => rocblas_diagonal::rocblas_diagonal_non_unit,
        Diagonal::Unit => rocblas_diagonal::rocblas_diagonal_unit,
    }
}

pub(crate) fn side(side: Side) -> rocblas_side {
    match side {
        Side::Left => rocblas_side::rocblas_side_left,
        Side::Right => rocblas_side::rocblas_side_right,
    }
}

/// A size as C takes it. Sizes of views fit; others were checked when the operand was created.
pub(crate) fn size(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The name of a status.
pub(crate) fn status_name(status: rocblas_status) -> &'static str {
    hip_sys::layout::ROCBLAS.status_name("rocblas_status_", status.0)
}
