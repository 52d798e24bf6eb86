//! Argument checks that calls share, and their statuses.

pub(super) use hip_sys::provider::ensure;

use hip_sys::hip::hipError_t;
use hip_sys::rocblas::{
    rocblas_diagonal, rocblas_fill, rocblas_operation, rocblas_side, rocblas_status as status,
};

pub(super) type Status = status;

/// The outcome of a call: success, or another status.
pub(super) type Outcome<T = ()> = Result<T, Status>;

pub(super) const SUCCESS: Status = status::rocblas_status_success;
pub(super) const HANDLE: Status = status::rocblas_status_invalid_handle;
pub(super) const NOT_IMPLEMENTED: Status = status::rocblas_status_not_implemented;
pub(super) const POINTER: Status = status::rocblas_status_invalid_pointer;
pub(super) const SIZE: Status = status::rocblas_status_invalid_size;
pub(super) const MEMORY: Status = status::rocblas_status_memory_error;
pub(super) const INTERNAL: Status = status::rocblas_status_internal_error;
pub(super) const MISMATCH: Status = status::rocblas_status_size_query_mismatch;
pub(super) const UNCHANGED: Status = status::rocblas_status_size_unchanged;
pub(super) const VALUE: Status = status::rocblas_status_invalid_value;

/// HIP's error as rocBLAS's status.
pub(super) fn failure(error: hipError_t) -> Status {
    match error {
        hipError_t::hipErrorOutOfMemory | hipError_t::hipErrorLaunchOutOfResources => MEMORY,
        hipError_t::hipErrorInvalidHandle | hipError_t::hipErrorContextIsDestroyed => HANDLE,
        _ => INTERNAL,
    }
}

/// The operation on a matrix before it is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Op {
    pub(super) transposed: bool,
    pub(super) conjugated: bool,
}

pub(super) fn operation(op: rocblas_operation) -> Outcome<Op> {
    let (transposed, conjugated) = match op {
        rocblas_operation::rocblas_operation_none => (false, false),
        rocblas_operation::rocblas_operation_transpose => (true, false),
        rocblas_operation::rocblas_operation_conjugate_transpose => (true, true),
        _ => return Err(VALUE),
    };
    Ok(Op { transposed, conjugated })
}

/// Whether it is the lower triangle.
pub(super) fn is_lower(fill: rocblas_fill) -> Outcome<bool> {
    match fill {
        rocblas_fill::rocblas_fill_lower => Ok(true),
        rocblas_fill::rocblas_fill_upper => Ok(false),
        _ => Err(VALUE),
    }
}

/// Whether it is the left side.
pub(super) fn is_left(side: rocblas_side) -> Outcome<bool> {
    match side {
        rocblas_side::rocblas_side_left => Ok(true),
        rocblas_side::rocblas_side_right => Ok(false),
        _ => Err(VALUE),
    }
}

/// Whether the diagonal is taken as ones.
pub(super) fn is_unit(diagonal: rocblas_diagonal) -> Outcome<bool> {
    match diagonal {
        rocblas_diagonal::rocblas_diagonal_unit => Ok(true),
        rocblas_diagonal::rocblas_diagonal_non_unit => Ok(false),
        _ => Err(VALUE),
    }
}

/// Sizes as counts; none may be negative.
pub(super) fn counts<const N: usize>(sizes: [i64; N]) -> Outcome<[usize; N]> {
    let mut counts = [0; N];
    for (count, size) in counts.iter_mut().zip(sizes) {
        *count = usize::try_from(size).map_err(|_| SIZE)?;
    }
    Ok(counts)
}

/// The extent of a matrix in elements of memory, for so many rows and columns.
pub(super) fn matrix(rows: usize, columns: usize, leading: i64) -> usize {
    if rows == 0 || columns == 0 {
        return 0;
    }
    let leading = usize::try_from(leading).unwrap_or(usize::MAX);
    (columns - 1).saturating_mul(leading).saturating_add(rows)
}

/// The extent of a vector of `n` elements in memory.
pub(super) fn vector(n: usize, increment: i64) -> usize {
    if n == 0 {
        return 0;
    }
    let increment = usize::try_from(increment.unsigned_abs()).unwrap_or(usize::MAX);
    (n - 1).saturating_mul(increment).saturating_add(1)
}
