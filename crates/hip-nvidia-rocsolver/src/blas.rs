//! rocBLAS's functions, as hip-nvidia-rocblas has them, with factors of the host.

use crate::call::{INTERNAL, Outcome, Status, Work, ensure};
use crate::functions::Element;
use hip_sys::RocblasTable;
use hip_sys::rocblas::{
    rocblas_diagonal, rocblas_fill, rocblas_operation, rocblas_pointer_mode, rocblas_side,
};
use std::sync::OnceLock;

/// A matrix by its address and its leading dimension.
pub(crate) type At<T> = (*mut T, i32);

pub(crate) const PLAIN: rocblas_operation = rocblas_operation::rocblas_operation_none;
pub(crate) const ADJOINT: rocblas_operation = rocblas_operation::rocblas_operation_conjugate_transpose;

fn table() -> Outcome<&'static RocblasTable> {
    static TABLE: OnceLock<Option<RocblasTable>> = OnceLock::new();
    let open = || hip_nvidia_rocblas::library().ok().map(|library| library.table().clone());
    TABLE.get_or_init(open).as_ref().ok_or(INTERNAL)
}

fn done(status: Status) -> Outcome {
    ensure(status == Status::rocblas_status_success, status)
}

/// Calls something while the handle takes factors from the host, whatever the program has set.
fn with_host_factors(work: &Work, body: impl FnOnce(&RocblasTable) -> Status) -> Outcome {
    let (table, host) = (table()?, rocblas_pointer_mode::rocblas_pointer_mode_host);
    let mut mode = host;
    // SAFETY: S1: a live handle and variable.
    done(unsafe { (table.rocblas_get_pointer_mode)(work.handle, &mut mode) })?;
    if mode == host {
        return done(body(table));
    }
    // SAFETY: S1: a live handle.
    done(unsafe { (table.rocblas_set_pointer_mode)(work.handle, host) })?;
    let answer = done(body(table));
    // SAFETY: S1: as above.
    answer.and(done(unsafe { (table.rocblas_set_pointer_mode)(work.handle, mode) }))
}

/// `to = fromᴴ`, which has so many rows and columns.
///
/// # Safety
/// Both are memory of the device with these sizes, and do not overlap.
pub(crate) unsafe fn adjoint<T: Element>(
    work: &Work,
    [rows, cols]: [i32; 2],
    from: At<T>,
    to: At<T>,
) -> Outcome {
    with_host_factors(work, |table| {
        // SAFETY: S11: as the caller vouches; the second matrix has the factor 0.
        unsafe {
            T::geam(table)(
                work.handle,
                ADJOINT,
                ADJOINT,
                rows,
                cols,
                &T::ONE,
                from.0,
                from.1,
                &T::ZERO,
                from.0,
                from.1,
                to.0,
                to.1,
            )
        }
    })
}

/// `b = op(R)⁻¹ b` of an upper triangle R, for so many rows and columns of b.
///
/// # Safety
/// Both are memory of the device with these sizes.
pub(crate) unsafe fn solve<T: Element>(
    work: &Work,
    op: rocblas_operation,
    [rows, cols]: [i32; 2],
    triangle: At<T>,
    b: At<T>,
) -> Outcome {
    with_host_factors(work, |table| {
        // SAFETY: S11: as the caller vouches.
        unsafe {
            T::trsm(table)(
                work.handle,
                rocblas_side::rocblas_side_left,
                rocblas_fill::rocblas_fill_upper,
                op,
                rocblas_diagonal::rocblas_diagonal_non_unit,
                rows,
                cols,
                &T::ONE,
                triangle.0,
                triangle.1,
                b.0,
                b.1,
            )
        }
    })
}
