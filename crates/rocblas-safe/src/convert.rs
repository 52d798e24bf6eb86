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

macro_rules! names {
    ($status:expr; $($name:ident),* $(,)?) => {
        match $status {
            $(rocblas_status::$name => stringify!($name),)*
            _ => "a status without a name",
        }
    };
}

/// The name of a status.
pub(crate) fn status_name(status: rocblas_status) -> &'static str {
    names!(status;
        rocblas_status_success, rocblas_status_invalid_handle, rocblas_status_not_implemented,
        rocblas_status_invalid_pointer, rocblas_status_invalid_size, rocblas_status_memory_error,
        rocblas_status_internal_error, rocblas_status_perf_degraded, rocblas_status_size_query_mismatch,
        rocblas_status_size_increased, rocblas_status_size_unchanged, rocblas_status_invalid_value,
        rocblas_status_continue, rocblas_status_check_numerics_fail, rocblas_status_excluded_from_build,
        rocblas_status_arch_mismatch,
    )
}
