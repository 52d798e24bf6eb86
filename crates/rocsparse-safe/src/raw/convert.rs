//! Conversions and sorts. See the [module](super) for what the unsafe functions ask.

use super::descriptor::Descriptor;
use super::{Api, Result, Stage, ZERO, call, size_and_work};
use hip_sys::RocsparseTable;
use hip_sys::rocsparse::{
    rocsparse_action, rocsparse_const_dnmat_descr, rocsparse_const_spmat_descr,
    rocsparse_dense_to_sparse_alg, rocsparse_dnmat_descr, rocsparse_mat_descr, rocsparse_sparse_to_dense_alg,
    rocsparse_spmat_descr,
};
use std::ffi::c_void;
use std::ptr::null_mut;

pub(crate) unsafe fn sparse_to_dense(
    api: Api<'_>,
    from: rocsparse_const_spmat_descr,
    to: rocsparse_dnmat_descr,
    stage: Stage<'_>,
) -> Result {
    let algorithm = rocsparse_sparse_to_dense_alg::rocsparse_sparse_to_dense_alg_default;
    let (size, work) = size_and_work(stage);
    call!(api.table, rocsparse_sparse_to_dense(api.handle, from, to, algorithm, size, work))
}

/// Its preprocessing counts the entries. The call that computes wants a pointer for the size besides the work memory.
pub(crate) unsafe fn dense_to_sparse(
    api: Api<'_>,
    from: rocsparse_const_dnmat_descr,
    to: rocsparse_spmat_descr,
    stage: Stage<'_>,
) -> Result {
    let algorithm = rocsparse_dense_to_sparse_alg::rocsparse_dense_to_sparse_alg_default;
    let (mut unused, computes) = (0, matches!(stage, Stage::Compute(_)));
    let (size, work) = size_and_work(stage);
    let size = if computes { &raw mut unused } else { size };
    call!(api.table, rocsparse_dense_to_sparse(api.handle, from, to, algorithm, size, work))
}

pub(crate) unsafe fn csr2coo(
    api: Api<'_>,
    offsets: *const i32,
    stored: i32,
    rows: i32,
    indices: *mut i32,
) -> Result {
    call!(api.table, rocsparse_csr2coo(api.handle, offsets, stored, rows, indices, ZERO))
}

pub(crate) unsafe fn coo2csr(
    api: Api<'_>,
    indices: *const i32,
    stored: i32,
    rows: i32,
    offsets: *mut i32,
) -> Result {
    call!(api.table, rocsparse_coo2csr(api.handle, indices, stored, rows, offsets, ZERO))
}

/// A matrix by its offsets, indices and values, and the same by columns: rows, columns, stored entries.
#[derive(Clone, Copy)]
pub(crate) struct Transposed {
    pub(crate) sizes: [i32; 3],
    pub(crate) offsets: *const i32,
    pub(crate) indices: *const i32,
    pub(crate) values: *const c_void,
    pub(crate) to_offsets: *mut i32,
    pub(crate) to_indices: *mut i32,
    pub(crate) to_values: *mut c_void,
    pub(crate) work: *mut c_void,
}

const NUMERIC: rocsparse_action = rocsparse_action::rocsparse_action_numeric;

pub(crate) unsafe fn csr2csc_buffer_size(api: Api<'_>, of: &Transposed) -> Result<usize> {
    let ([rows, cols, stored], mut bytes) = (of.sizes, 0);
    let (offsets, indices) = (of.offsets, of.indices);
    call!(
        api.table,
        rocsparse_csr2csc_buffer_size(api.handle, rows, cols, stored, offsets, indices, NUMERIC, &mut bytes)
    )?;
    Ok(bytes)
}

macro_rules! transposes {
    ($($name:ident = $function:ident;)*) => {$(
        pub(crate) unsafe fn $name(api: Api<'_>, of: &Transposed) -> Result {
            let [rows, cols, stored] = of.sizes;
            call!(
                api.table,
                $function(
                    api.handle, rows, cols, stored, of.values.cast(), of.offsets, of.indices, of.to_values.cast(),
                    of.to_indices, of.to_offsets, NUMERIC, ZERO, of.work,
                )
            )
        }
    )*};
}

transposes! {
    scsr2csc = rocsparse_scsr2csc;
    dcsr2csc = rocsparse_dcsr2csc;
    ccsr2csc = rocsparse_ccsr2csc;
    zcsr2csc = rocsparse_zcsr2csc;
}

/// The identity permutation of so many numbers.
pub(crate) unsafe fn identity(api: Api<'_>, count: i32, permutation: *mut i32) -> Result {
    call!(api.table, rocsparse_create_identity_permutation(api.handle, count, permutation))
}

/// What a sort works on: rows, columns, stored entries; offsets or row indices, column indices, and the permutation that it applies too.
#[derive(Clone, Copy)]
pub(crate) struct Sorted {
    pub(crate) sizes: [i32; 3],
    pub(crate) outer: *mut i32,
    pub(crate) inner: *mut i32,
    pub(crate) permutation: *mut i32,
}

pub(crate) unsafe fn coosort(api: Api<'_>, of: &Sorted, stage: Stage<'_>) -> Result {
    let ([rows, cols, stored], &Sorted { outer, inner, permutation, .. }) = (of.sizes, of);
    let (size, work) = size_and_work(stage);
    if size.is_null() {
        call!(
            api.table,
            rocsparse_coosort_by_row(api.handle, rows, cols, stored, outer, inner, permutation, work)
        )
    } else {
        call!(api.table, rocsparse_coosort_buffer_size(api.handle, rows, cols, stored, outer, inner, size))
    }
}

pub(crate) unsafe fn csrsort(api: Api<'_>, of: &Sorted, stage: Stage<'_>) -> Result {
    let ([rows, cols, stored], &Sorted { outer, inner, permutation, .. }) = (of.sizes, of);
    let (size, work) = size_and_work(stage);
    if !size.is_null() {
        return call!(
            api.table,
            rocsparse_csrsort_buffer_size(api.handle, rows, cols, stored, outer, inner, size)
        );
    }
    let mut raw: rocsparse_mat_descr = null_mut();
    call!(api.table, rocsparse_create_mat_descr(&mut raw))?;
    let destroy = |table: &RocsparseTable, raw| call!(table, rocsparse_destroy_mat_descr(raw));
    let general = Descriptor { table: api.table, raw, destroy };
    call!(
        api.table,
        rocsparse_csrsort(api.handle, rows, cols, stored, general.raw, outer, inner, permutation, work)
    )
}
