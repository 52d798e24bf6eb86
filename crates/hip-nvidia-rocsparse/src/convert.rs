//! Conversions between sparse and dense matrices and between formats, and sorts.

use crate::descriptor::{self, Descriptor, ZERO, kind};
use crate::handle::{done, with};
use crate::kept::{Kept, keep, kept};
use crate::library::cusparse;
use crate::product::given;
use cudarc::cusparse::sys;
use hip_sys::provider::sparse::{self, Outcome, Scalar, ensure, lock};
use hip_sys::rocsparse::{
    rocsparse_action, rocsparse_const_dnmat_descr, rocsparse_const_spmat_descr,
    rocsparse_dense_to_sparse_alg, rocsparse_dnmat_descr, rocsparse_format as Format, rocsparse_handle,
    rocsparse_index_base, rocsparse_mat_descr, rocsparse_order, rocsparse_sparse_to_dense_alg,
    rocsparse_spmat_descr, rocsparse_status as Status,
};
use std::ffi::c_void;
use std::ptr::null_mut;

pub(super) unsafe extern "C" fn sparse_to_dense(
    handle: rocsparse_handle,
    from: rocsparse_const_spmat_descr,
    to: rocsparse_dnmat_descr,
    _algorithm: rocsparse_sparse_to_dense_alg,
    buffer_size: *mut usize,
    work: *mut c_void,
) -> Status {
    with(handle, |raw| {
        let from = descriptor::sparse(&sparse::matrix_now(from)?)?;
        let to = descriptor::dense(&*sparse::dense(to)?)?;
        let algorithm = sys::cusparseSparseToDenseAlg_t::CUSPARSE_SPARSETODENSE_ALG_DEFAULT as u32;
        if work.is_null() {
            let size = given(buffer_size)?;
            // SAFETY: S1, S11: live descriptors, and the caller's output pointer.
            return done(unsafe {
                (cusparse().cusparseSparseToDense_bufferSize)(raw, from.raw, to.raw, algorithm, size)
            });
        }
        // SAFETY: S1, S2, S11: live descriptors, and the caller's memory.
        done(unsafe { (cusparse().cusparseSparseToDense)(raw, from.raw, to.raw, algorithm, work) })
    })
}

pub(super) unsafe extern "C" fn dense_to_sparse(
    handle: rocsparse_handle,
    from: rocsparse_const_dnmat_descr,
    to: rocsparse_spmat_descr,
    _algorithm: rocsparse_dense_to_sparse_alg,
    buffer_size: *mut usize,
    work: *mut c_void,
) -> Status {
    with(handle, |raw| {
        let (functions, dense) = (cusparse(), sparse::dense(from)?);
        // Otherwise cuSPARSE leaves the entries of rows, or of columns, out of order.
        let by_columns = sparse::matrix_now(to)?.format == Format::rocsparse_format_csc;
        let along = (dense.order == rocsparse_order::rocsparse_order_row) != by_columns;
        ensure(along, Status::rocsparse_status_not_implemented)?;
        let from = descriptor::dense(&dense)?;
        let algorithm = sys::cusparseDenseToSparseAlg_t::CUSPARSE_DENSETOSPARSE_ALG_DEFAULT as u32;
        if work.is_null() {
            let matrix = descriptor::sparse(&sparse::matrix_now(to)?)?;
            let (made, size) = (keep(to, Kept { operation: None, matrix })?, given(buffer_size)?);
            // SAFETY: S1, S11: live descriptors, and the caller's output pointer.
            return done(unsafe {
                (functions.cusparseDenseToSparse_bufferSize)(raw, from.raw, made.matrix.raw, algorithm, size)
            });
        }
        let made = kept::<Kept>(to)?;
        let matrix = made.matrix.raw;
        if buffer_size.is_null() {
            let (mut rows, mut cols, mut stored) = (0, 0, 0);
            // SAFETY: S1, S2, S11: live descriptors and variables, and the caller's memory.
            unsafe {
                done((functions.cusparseDenseToSparse_analysis)(raw, from.raw, matrix, algorithm, work))?;
                done((functions.cusparseSpMatGetSize)(matrix, &mut rows, &mut cols, &mut stored))?;
            }
            let stored = usize::try_from(stored).map_err(|_| Status::rocsparse_status_invalid_size)?;
            lock(&*sparse::matrix(to)?).stored = stored;
            return Ok(());
        }
        let now = sparse::matrix_now(to)?;
        let [outer, inner, values] = [now.outer, now.inner, now.values].map(|address| address as *mut c_void);
        let set = match now.format {
            Format::rocsparse_format_csc => functions.cusparseCscSetPointers,
            Format::rocsparse_format_coo => functions.cusparseCooSetPointers,
            _ => functions.cusparseCsrSetPointers,
        };
        // SAFETY: S1, S2, S11: live descriptors, and the caller's memory.
        unsafe {
            done(set(matrix, outer, inner, values))?;
            done((functions.cusparseDenseToSparse_convert)(raw, from.raw, matrix, algorithm, work))
        }
    })
}

/// Indices of C's older functions start at zero here.
fn from_zero(base: rocsparse_index_base) -> Outcome {
    let zero = base == rocsparse_index_base::rocsparse_index_base_zero;
    ensure(zero, Status::rocsparse_status_not_implemented)
}

pub(super) unsafe extern "C" fn csr2coo(
    handle: rocsparse_handle,
    offsets: *const i32,
    stored: i32,
    rows: i32,
    indices: *mut i32,
    base: rocsparse_index_base,
) -> Status {
    with(handle, |raw| {
        from_zero(base)?;
        // SAFETY: S2, S11: the caller's memory.
        done(unsafe { (cusparse().cusparseXcsr2coo)(raw, offsets, stored, rows, indices, ZERO) })
    })
}

pub(super) unsafe extern "C" fn coo2csr(
    handle: rocsparse_handle,
    indices: *const i32,
    stored: i32,
    rows: i32,
    offsets: *mut i32,
    base: rocsparse_index_base,
) -> Status {
    with(handle, |raw| {
        from_zero(base)?;
        // SAFETY: S2, S11: the caller's memory.
        done(unsafe { (cusparse().cusparseXcoo2csr)(raw, indices, stored, rows, offsets, ZERO) })
    })
}

const NUMERIC: u32 = sys::cusparseAction_t::CUSPARSE_ACTION_NUMERIC as u32;
const TURN: u32 = sys::cusparseCsr2CscAlg_t::CUSPARSE_CSR2CSC_ALG_DEFAULT as u32;

/// C does not say the type of the numbers: the largest one's work memory is enough for all.
pub(super) unsafe extern "C" fn csr2csc_buffer_size(
    handle: rocsparse_handle,
    rows: i32,
    cols: i32,
    stored: i32,
    offsets: *const i32,
    indices: *const i32,
    _action: rocsparse_action,
    buffer_size: *mut usize,
) -> Status {
    with(handle, |raw| {
        let size = given(buffer_size)?;
        // C gives no addresses of the numbers and of the result here, and cuSPARSE refuses null. To tell a size it needs none of them.
        let unused = descriptor::pointer(0);
        // SAFETY: S1, S11: the caller's memory.
        done(unsafe {
            (cusparse().cusparseCsr2cscEx2_bufferSize)(
                raw,
                rows,
                cols,
                stored,
                unused.cast(),
                offsets,
                indices,
                unused.cast(),
                unused.cast(),
                unused.cast(),
                kind(Scalar::C64),
                NUMERIC,
                ZERO,
                TURN,
                size,
            )
        })
    })
}

/// A matrix by rows, and the memory for the same by columns.
pub(super) struct Turn {
    pub(super) sizes: [i32; 3],
    pub(super) offsets: *const i32,
    pub(super) indices: *const i32,
    pub(super) values: *const c_void,
    pub(super) to_offsets: *mut i32,
    pub(super) to_indices: *mut i32,
    pub(super) to_values: *mut c_void,
    pub(super) work: *mut c_void,
}

/// The body of the functions for one type of numbers each.
pub(super) fn csr2csc(
    handle: rocsparse_handle,
    scalar: Scalar,
    of: Turn,
    action: rocsparse_action,
    base: rocsparse_index_base,
) -> Status {
    with(handle, |raw| {
        from_zero(base)?;
        let numeric = action == rocsparse_action::rocsparse_action_numeric;
        ensure(numeric, Status::rocsparse_status_not_implemented)?;
        let ([rows, cols, stored], work) = (of.sizes, given(of.work)?);
        // SAFETY: S2, S11: the caller's memory.
        done(unsafe {
            (cusparse().cusparseCsr2cscEx2)(
                raw,
                rows,
                cols,
                stored,
                of.values,
                of.offsets,
                of.indices,
                of.to_values,
                of.to_offsets,
                of.to_indices,
                kind(scalar),
                NUMERIC,
                ZERO,
                TURN,
                work,
            )
        })
    })
}

pub(super) unsafe extern "C" fn identity(
    handle: rocsparse_handle,
    count: i32,
    permutation: *mut i32,
) -> Status {
    with(handle, |raw| {
        // SAFETY: S2, S11: the caller's memory.
        done(unsafe { (cusparse().cusparseCreateIdentityPermutation)(raw, count, permutation) })
    })
}

pub(super) unsafe extern "C" fn coosort_buffer_size(
    handle: rocsparse_handle,
    rows: i32,
    cols: i32,
    stored: i32,
    row_indices: *const i32,
    col_indices: *const i32,
    buffer_size: *mut usize,
) -> Status {
    with(handle, |raw| {
        let (size, function) = (given(buffer_size)?, cusparse().cusparseXcoosort_bufferSizeExt);
        // SAFETY: S1, S2, S11: the caller's memory and output pointers.
        done(unsafe { function(raw, rows, cols, stored, row_indices, col_indices, size) })
    })
}

pub(super) unsafe extern "C" fn coosort_by_row(
    handle: rocsparse_handle,
    rows: i32,
    cols: i32,
    stored: i32,
    row_indices: *mut i32,
    col_indices: *mut i32,
    permutation: *mut i32,
    work: *mut c_void,
) -> Status {
    with(handle, |raw| {
        let (work, function) = (given(work)?, cusparse().cusparseXcoosortByRow);
        // SAFETY: S2, S11: the caller's memory.
        done(unsafe { function(raw, rows, cols, stored, row_indices, col_indices, permutation, work) })
    })
}

pub(super) unsafe extern "C" fn csrsort_buffer_size(
    handle: rocsparse_handle,
    rows: i32,
    cols: i32,
    stored: i32,
    offsets: *const i32,
    col_indices: *const i32,
    buffer_size: *mut usize,
) -> Status {
    with(handle, |raw| {
        let (size, function) = (given(buffer_size)?, cusparse().cusparseXcsrsort_bufferSizeExt);
        // SAFETY: S1, S2, S11: the caller's memory and output pointers.
        done(unsafe { function(raw, rows, cols, stored, offsets, col_indices, size) })
    })
}

pub(super) unsafe extern "C" fn csrsort(
    handle: rocsparse_handle,
    rows: i32,
    cols: i32,
    stored: i32,
    _general: rocsparse_mat_descr,
    offsets: *const i32,
    col_indices: *mut i32,
    permutation: *mut i32,
    work: *mut c_void,
) -> Status {
    with(handle, |raw| {
        let (functions, work, mut general) = (cusparse(), given(work)?, null_mut());
        // SAFETY: S1: a live variable.
        done(unsafe { (functions.cusparseCreateMatDescr)(&mut general) })?;
        // A new one says what ours says: general, with indices from zero.
        let general = Descriptor::new(general, functions.cusparseDestroyMatDescr);
        let function = functions.cusparseXcsrsort;
        // SAFETY: S1, S2, S11: a live descriptor, and the caller's memory.
        done(unsafe {
            function(raw, rows, cols, stored, general.raw, offsets, col_indices, permutation, work)
        })
    })
}
