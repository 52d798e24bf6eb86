//! The functions that change descriptors of matrices, and ask them.

use super::objects::address;
use super::{ensure, lock, matrix, status};
use crate::rocsparse::{
    rocsparse_const_spmat_descr, rocsparse_diag_type, rocsparse_fill_mode,
    rocsparse_spmat_attribute as Attribute, rocsparse_spmat_descr, rocsparse_status as Status,
};
use std::ffi::c_void;

pub(super) unsafe extern "C" fn set_attribute(
    descriptor: rocsparse_spmat_descr,
    attribute: Attribute,
    data: *const c_void,
    bytes: usize,
) -> Status {
    let set = || {
        ensure(!data.is_null(), Status::rocsparse_status_invalid_pointer)?;
        ensure(bytes == size_of::<u32>(), Status::rocsparse_status_invalid_size)?;
        // SAFETY: S11: the caller's value of so many bytes.
        let value = unsafe { data.cast::<u32>().read_unaligned() };
        ensure(value <= 1, Status::rocsparse_status_invalid_value)?;
        let matrix = matrix(descriptor)?;
        let mut matrix = lock(&matrix);
        match attribute {
            Attribute::rocsparse_spmat_fill_mode if value == 0 => {
                matrix.fill = rocsparse_fill_mode::rocsparse_fill_mode_lower;
            }
            Attribute::rocsparse_spmat_fill_mode => {
                matrix.fill = rocsparse_fill_mode::rocsparse_fill_mode_upper;
            }
            Attribute::rocsparse_spmat_diag_type if value == 0 => {
                matrix.diagonal = rocsparse_diag_type::rocsparse_diag_type_non_unit;
            }
            Attribute::rocsparse_spmat_diag_type => {
                matrix.diagonal = rocsparse_diag_type::rocsparse_diag_type_unit;
            }
            _ => return Err(Status::rocsparse_status_not_implemented),
        }
        Ok(())
    };
    status(set())
}

pub(super) unsafe extern "C" fn set_values(descriptor: rocsparse_spmat_descr, values: *mut c_void) -> Status {
    status(matrix(descriptor).and_then(|matrix| {
        let mut matrix = lock(&matrix);
        matrix.values = address(values, matrix.stored)?;
        Ok(())
    }))
}

pub(super) unsafe extern "C" fn get_stored(
    descriptor: rocsparse_const_spmat_descr,
    stored: *mut i64,
) -> Status {
    status(matrix(descriptor).and_then(|matrix| {
        ensure(!stored.is_null(), Status::rocsparse_status_invalid_pointer)?;
        // SAFETY: S11: the caller's pointer to the result.
        unsafe { stored.write(lock(&matrix).stored as i64) };
        Ok(())
    }))
}

/// The offsets or row indices, the other indices, and the values.
pub(super) unsafe extern "C" fn set_pointers(
    descriptor: rocsparse_spmat_descr,
    outer: *mut c_void,
    inner: *mut c_void,
    values: *mut c_void,
) -> Status {
    status(matrix(descriptor).and_then(|matrix| {
        let mut matrix = lock(&matrix);
        let stored = matrix.stored;
        (matrix.inner, matrix.values) = (address(inner, stored)?, address(values, stored)?);
        matrix.outer = outer as usize;
        Ok(())
    }))
}
