//! The functions that make and end descriptors.

use super::objects::{DenseMatrix, Index, Scalar, SparseMatrix, SparseVector, Vector, address, size};
use super::{DENSE, DESCRIPTIONS, MATRICES, Outcome, SPARSE_VECTORS, VECTORS, change, ensure, status};
use crate::RocsparseTable;
use crate::provider::Handles;
use crate::rocsparse::{
    rocsparse_const_dnmat_descr, rocsparse_const_dnvec_descr, rocsparse_const_spmat_descr,
    rocsparse_const_spvec_descr, rocsparse_datatype, rocsparse_diag_type, rocsparse_direction,
    rocsparse_dnmat_descr, rocsparse_dnvec_descr, rocsparse_fill_mode, rocsparse_format as Format,
    rocsparse_index_base, rocsparse_indextype, rocsparse_mat_descr, rocsparse_order, rocsparse_spmat_descr,
    rocsparse_spvec_descr, rocsparse_status as Status,
};
use std::ffi::c_void;
use std::sync::{Arc, Mutex};

/// Puts these functions into a table.
pub(super) fn fill(table: RocsparseTable) -> RocsparseTable {
    RocsparseTable {
        rocsparse_create_csr_descr,
        rocsparse_create_csc_descr,
        rocsparse_create_coo_descr,
        rocsparse_create_bsr_descr,
        rocsparse_create_ell_descr,
        rocsparse_create_dnvec_descr,
        rocsparse_create_dnmat_descr,
        rocsparse_create_spvec_descr,
        rocsparse_destroy_spmat_descr,
        rocsparse_destroy_dnvec_descr,
        rocsparse_destroy_dnmat_descr,
        rocsparse_destroy_spvec_descr,
        rocsparse_spmat_set_attribute: change::set_attribute,
        rocsparse_spmat_set_values: change::set_values,
        rocsparse_spmat_get_nnz: change::get_stored,
        rocsparse_csr_set_pointers: change::set_pointers,
        rocsparse_csc_set_pointers: change::set_pointers,
        rocsparse_coo_set_pointers: change::set_pointers,
        rocsparse_create_mat_descr,
        rocsparse_destroy_mat_descr,
        ..table
    }
}

/// Keeps an object, and writes its handle to `out`.
///
/// # Safety
/// `out` is null or writable.
unsafe fn give<T, H>(out: *mut *mut H, handles: &Handles<T>, make: impl FnOnce() -> Outcome<T>) -> Status {
    let given = || {
        ensure(!out.is_null(), Status::rocsparse_status_invalid_pointer)?;
        let handle = handles.insert(Arc::new(make()?));
        // SAFETY: S11: the caller's pointer to the result.
        unsafe { out.write(handle as *mut H) };
        Ok(())
    };
    status(given())
}

fn end<T>(handles: &Handles<T>, handle: usize) -> Status {
    status(handles.remove(handle).map(drop).map_err(|_| Status::rocsparse_status_invalid_pointer))
}

/// C's arguments of a sparse matrix.
struct Arguments {
    format: Format,
    /// Rows, columns and stored entries.
    sizes: [i64; 3],
    /// The offsets or row indices, and how many there are for these sizes.
    outer: (*mut c_void, fn([usize; 3]) -> usize),
    inner: *mut c_void,
    values: *mut c_void,
    index: [rocsparse_indextype; 2],
    base: rocsparse_index_base,
    scalar: rocsparse_datatype,
    block: i64,
    direction: rocsparse_direction,
}

fn sparse(given: Arguments) -> Outcome<Mutex<SparseMatrix>> {
    let [rows, cols, stored] = given.sizes.map(size);
    let (rows, cols, stored, block) = (rows?, cols?, stored?, size(given.block)?);
    ensure(block > 0, Status::rocsparse_status_invalid_size)?;
    let base = given.base == rocsparse_index_base::rocsparse_index_base_zero;
    // One width for all indices, which start at zero.
    ensure(base && given.index[0] == given.index[1], Status::rocsparse_status_not_implemented)?;
    Ok(Mutex::new(SparseMatrix {
        format: given.format,
        rows,
        cols,
        stored,
        outer: address(given.outer.0, (given.outer.1)([rows, cols, stored]))?,
        inner: address(given.inner, stored)?,
        values: address(given.values, stored)?,
        index: Index::of(given.index[0])?,
        scalar: Scalar::of(given.scalar)?,
        block,
        direction: given.direction,
        fill: rocsparse_fill_mode::rocsparse_fill_mode_lower,
        diagonal: rocsparse_diag_type::rocsparse_diag_type_non_unit,
        attached: None,
    }))
}

const BY_ROW: rocsparse_direction = rocsparse_direction::rocsparse_direction_row;

unsafe extern "C" fn rocsparse_create_csr_descr(
    descriptor: *mut rocsparse_spmat_descr,
    rows: i64,
    cols: i64,
    stored: i64,
    offsets: *mut c_void,
    indices: *mut c_void,
    values: *mut c_void,
    offset_type: rocsparse_indextype,
    index_type: rocsparse_indextype,
    base: rocsparse_index_base,
    scalar: rocsparse_datatype,
) -> Status {
    let given = Arguments {
        format: Format::rocsparse_format_csr,
        sizes: [rows, cols, stored],
        // A matrix without rows may come without offsets.
        outer: (offsets, |[rows, ..]| rows),
        inner: indices,
        values,
        index: [offset_type, index_type],
        base,
        scalar,
        block: 1,
        direction: BY_ROW,
    };
    // SAFETY: S11: the caller's pointer to the result.
    unsafe { give(descriptor, &MATRICES, || sparse(given)) }
}

unsafe extern "C" fn rocsparse_create_csc_descr(
    descriptor: *mut rocsparse_spmat_descr,
    rows: i64,
    cols: i64,
    stored: i64,
    offsets: *mut c_void,
    indices: *mut c_void,
    values: *mut c_void,
    offset_type: rocsparse_indextype,
    index_type: rocsparse_indextype,
    base: rocsparse_index_base,
    scalar: rocsparse_datatype,
) -> Status {
    let given = Arguments {
        format: Format::rocsparse_format_csc,
        sizes: [rows, cols, stored],
        outer: (offsets, |[_, cols, _]| cols),
        inner: indices,
        values,
        index: [offset_type, index_type],
        base,
        scalar,
        block: 1,
        direction: BY_ROW,
    };
    // SAFETY: S11: the caller's pointer to the result.
    unsafe { give(descriptor, &MATRICES, || sparse(given)) }
}

unsafe extern "C" fn rocsparse_create_coo_descr(
    descriptor: *mut rocsparse_spmat_descr,
    rows: i64,
    cols: i64,
    stored: i64,
    row_indices: *mut c_void,
    col_indices: *mut c_void,
    values: *mut c_void,
    index_type: rocsparse_indextype,
    base: rocsparse_index_base,
    scalar: rocsparse_datatype,
) -> Status {
    let given = Arguments {
        format: Format::rocsparse_format_coo,
        sizes: [rows, cols, stored],
        outer: (row_indices, |[.., stored]| stored),
        inner: col_indices,
        values,
        index: [index_type; 2],
        base,
        scalar,
        block: 1,
        direction: BY_ROW,
    };
    // SAFETY: S11: the caller's pointer to the result.
    unsafe { give(descriptor, &MATRICES, || sparse(given)) }
}

unsafe extern "C" fn rocsparse_create_bsr_descr(
    descriptor: *mut rocsparse_spmat_descr,
    rows: i64,
    cols: i64,
    stored: i64,
    direction: rocsparse_direction,
    block: i64,
    offsets: *mut c_void,
    indices: *mut c_void,
    values: *mut c_void,
    offset_type: rocsparse_indextype,
    index_type: rocsparse_indextype,
    base: rocsparse_index_base,
    scalar: rocsparse_datatype,
) -> Status {
    let given = Arguments {
        format: Format::rocsparse_format_bsr,
        sizes: [rows, cols, stored],
        outer: (offsets, |[rows, ..]| rows),
        inner: indices,
        values,
        index: [offset_type, index_type],
        base,
        scalar,
        block,
        direction,
    };
    // SAFETY: S11: the caller's pointer to the result.
    unsafe { give(descriptor, &MATRICES, || sparse(given)) }
}

unsafe extern "C" fn rocsparse_create_ell_descr(
    descriptor: *mut rocsparse_spmat_descr,
    rows: i64,
    cols: i64,
    indices: *mut c_void,
    values: *mut c_void,
    width: i64,
    index_type: rocsparse_indextype,
    base: rocsparse_index_base,
    scalar: rocsparse_datatype,
) -> Status {
    let Some(stored) = rows.checked_mul(width) else { return Status::rocsparse_status_invalid_size };
    let given = Arguments {
        format: Format::rocsparse_format_ell,
        sizes: [rows, cols, stored],
        outer: (std::ptr::null_mut(), |_| 0),
        inner: indices,
        values,
        index: [index_type; 2],
        base,
        scalar,
        block: 1,
        direction: BY_ROW,
    };
    // SAFETY: S11: the caller's pointer to the result.
    unsafe { give(descriptor, &MATRICES, || sparse(given)) }
}

unsafe extern "C" fn rocsparse_create_dnvec_descr(
    descriptor: *mut rocsparse_dnvec_descr,
    elements: i64,
    values: *mut c_void,
    scalar: rocsparse_datatype,
) -> Status {
    let make = || {
        let elements = size(elements)?;
        Ok(Vector { size: elements, values: address(values, elements)?, scalar: Scalar::of(scalar)? })
    };
    // SAFETY: S11: the caller's pointer to the result.
    unsafe { give(descriptor, &VECTORS, make) }
}

unsafe extern "C" fn rocsparse_create_dnmat_descr(
    descriptor: *mut rocsparse_dnmat_descr,
    rows: i64,
    cols: i64,
    leading: i64,
    values: *mut c_void,
    scalar: rocsparse_datatype,
    order: rocsparse_order,
) -> Status {
    let make = || {
        let (rows, cols, leading) = (size(rows)?, size(cols)?, size(leading)?);
        let contiguous = if order == rocsparse_order::rocsparse_order_row { cols } else { rows };
        ensure(leading >= contiguous, Status::rocsparse_status_invalid_size)?;
        let scalar = Scalar::of(scalar)?;
        let mut made = DenseMatrix { rows, cols, leading, values: 0, scalar, order };
        made.values = address(values, made.extent()?)?;
        Ok(made)
    };
    // SAFETY: S11: the caller's pointer to the result.
    unsafe { give(descriptor, &DENSE, make) }
}

unsafe extern "C" fn rocsparse_create_spvec_descr(
    descriptor: *mut rocsparse_spvec_descr,
    elements: i64,
    stored: i64,
    indices: *mut c_void,
    values: *mut c_void,
    index: rocsparse_indextype,
    base: rocsparse_index_base,
    scalar: rocsparse_datatype,
) -> Status {
    let make = || {
        let (elements, stored) = (size(elements)?, size(stored)?);
        ensure(stored <= elements, Status::rocsparse_status_invalid_size)?;
        let zero = base == rocsparse_index_base::rocsparse_index_base_zero;
        ensure(zero, Status::rocsparse_status_not_implemented)?;
        let (indices, values) = (address(indices, stored)?, address(values, stored)?);
        let (index, scalar) = (Index::of(index)?, Scalar::of(scalar)?);
        Ok(SparseVector { size: elements, stored, indices, values, index, scalar })
    };
    // SAFETY: S11: the caller's pointer to the result.
    unsafe { give(descriptor, &SPARSE_VECTORS, make) }
}

unsafe extern "C" fn rocsparse_destroy_spmat_descr(descriptor: rocsparse_const_spmat_descr) -> Status {
    end(&MATRICES, descriptor as usize)
}

unsafe extern "C" fn rocsparse_destroy_dnvec_descr(descriptor: rocsparse_const_dnvec_descr) -> Status {
    end(&VECTORS, descriptor as usize)
}

unsafe extern "C" fn rocsparse_destroy_dnmat_descr(descriptor: rocsparse_const_dnmat_descr) -> Status {
    end(&DENSE, descriptor as usize)
}

unsafe extern "C" fn rocsparse_destroy_spvec_descr(descriptor: rocsparse_const_spvec_descr) -> Status {
    end(&SPARSE_VECTORS, descriptor as usize)
}

unsafe extern "C" fn rocsparse_create_mat_descr(descriptor: *mut rocsparse_mat_descr) -> Status {
    // SAFETY: S11: the caller's pointer to the result.
    unsafe { give(descriptor, &DESCRIPTIONS, || Ok(())) }
}

unsafe extern "C" fn rocsparse_destroy_mat_descr(descriptor: rocsparse_mat_descr) -> Status {
    end(&DESCRIPTIONS, descriptor as usize)
}
