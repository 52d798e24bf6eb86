//! Sorts of indices, and the permutation that goes with them.

use crate::convert::sizes;
use crate::handle::{self, failure};
use crate::operand::{no_work, slice, slice_mut};
use hip_host::library::Uses;
use hip_sys::provider::sparse::status;
use hip_sys::rocsparse::{
    rocsparse_handle, rocsparse_index_base, rocsparse_mat_descr, rocsparse_status as Status,
};
use std::ffi::c_void;

const ZERO: rocsparse_index_base = rocsparse_index_base::rocsparse_index_base_zero;

/// Both sorts need no work memory.
pub(crate) unsafe extern "C" fn buffer_size(
    handle: rocsparse_handle,
    _rows: i32,
    _cols: i32,
    _stored: i32,
    _outer: *const i32,
    _inner: *const i32,
    buffer_size: *mut usize,
) -> Status {
    // SAFETY: S11: the caller's out-pointer.
    status(handle::get(handle).and_then(|_| unsafe { no_work(buffer_size) }))
}

pub(crate) unsafe extern "C" fn identity(
    handle: rocsparse_handle,
    count: i32,
    permutation: *mut i32,
) -> Status {
    let run = || {
        let (handle, [count]) = (handle::get(handle)?, sizes([count], ZERO)?);
        let mut uses = Uses::default();
        uses.write(permutation, count).map_err(failure)?;
        let permutation = permutation as usize;
        let body = move || {
            // SAFETY: S11, S12: the call named this memory as written.
            let permutation = unsafe { slice_mut::<i32>(permutation, count) };
            permutation.iter_mut().zip(0..).for_each(|(slot, at)| *slot = at);
        };
        // SAFETY: S11: the body uses what was named.
        unsafe { handle.submit("rocsparse_create_identity_permutation", uses, body) }
    };
    status(run())
}

pub(crate) unsafe extern "C" fn coosort_by_row(
    handle: rocsparse_handle,
    _rows: i32,
    _cols: i32,
    stored: i32,
    row_indices: *mut i32,
    col_indices: *mut i32,
    permutation: *mut i32,
    _work: *mut c_void,
) -> Status {
    let run = || {
        let (handle, [stored]) = (handle::get(handle)?, sizes([stored], ZERO)?);
        let moved = if permutation.is_null() { 0 } else { stored };
        let mut uses = Uses::default();
        uses.write(row_indices, stored).map_err(failure)?;
        uses.write(col_indices, stored).map_err(failure)?;
        uses.write(permutation, moved).map_err(failure)?;
        let (rows, cols, permutation) = (row_indices as usize, col_indices as usize, permutation as usize);
        let body = move || {
            // SAFETY: S11, S12: the call named all of this memory as written.
            let (rows, cols, permutation) = unsafe {
                let rows = slice_mut::<i32>(rows, stored);
                (rows, slice_mut::<i32>(cols, stored), slice_mut::<i32>(permutation, moved))
            };
            let mut order: Vec<usize> = (0..stored).collect();
            order.sort_by_key(|&at| (rows[at], cols[at]));
            for list in [rows, cols, permutation] {
                apply(&order, list);
            }
        };
        // SAFETY: S11: the body uses what was named.
        unsafe { handle.submit("rocsparse_coosort_by_row", uses, body) }
    };
    status(run())
}

pub(crate) unsafe extern "C" fn csrsort(
    handle: rocsparse_handle,
    rows: i32,
    _cols: i32,
    stored: i32,
    _descriptor: rocsparse_mat_descr,
    offsets: *const i32,
    col_indices: *mut i32,
    permutation: *mut i32,
    _work: *mut c_void,
) -> Status {
    let run = || {
        let (handle, [rows, stored]) = (handle::get(handle)?, sizes([rows, stored], ZERO)?);
        let moved = if permutation.is_null() { 0 } else { stored };
        let mut uses = Uses::default();
        uses.read(offsets, rows + 1).map_err(failure)?;
        uses.write(col_indices, stored).map_err(failure)?;
        uses.write(permutation, moved).map_err(failure)?;
        let (offsets, cols, permutation) = (offsets as usize, col_indices as usize, permutation as usize);
        let body = move || {
            // SAFETY: S11, S12: the call named all of this memory, so nothing else uses what it writes while it runs.
            let (offsets, cols, permutation) = unsafe {
                let offsets = slice::<i32>(offsets, rows + 1);
                (offsets, slice_mut::<i32>(cols, stored), slice_mut::<i32>(permutation, moved))
            };
            let mut order: Vec<usize> = (0..stored).collect();
            for pair in offsets.windows(2) {
                order[pair[0] as usize..pair[1] as usize].sort_by_key(|&at| cols[at]);
            }
            apply(&order, cols);
            apply(&order, permutation);
        };
        // SAFETY: S11: the body uses what was named.
        unsafe { handle.submit("rocsparse_csrsort", uses, body) }
    };
    status(run())
}

/// Reorders a list: element i becomes the one at `order[i]`. An empty list stays empty.
fn apply(order: &[usize], list: &mut [i32]) {
    let former = list.to_vec();
    list.iter_mut().zip(order).for_each(|(slot, &at)| *slot = former[at]);
}
