//! Descriptors. See the [module](super) for what the unsafe functions ask.

use super::{Api, Result, ZERO, call};
use hip_sys::RocsparseTable;
use hip_sys::rocsparse::{
    rocsparse_datatype, rocsparse_diag_type, rocsparse_direction, rocsparse_dnmat_descr,
    rocsparse_dnvec_descr, rocsparse_fill_mode, rocsparse_indextype, rocsparse_order,
    rocsparse_spmat_attribute, rocsparse_spmat_descr, rocsparse_spvec_descr,
};
use std::ffi::c_void;
use std::ptr::null_mut;

/// A descriptor that lives as long as a call.
pub(crate) struct Descriptor<'a, H: Copy> {
    pub(super) table: &'a RocsparseTable,
    pub(crate) raw: H,
    pub(super) destroy: unsafe fn(&RocsparseTable, H) -> Result,
}

impl<H: Copy> Drop for Descriptor<'_, H> {
    fn drop(&mut self) {
        // SAFETY: S1, S4: nobody else has it. It refuses only descriptors that are not live.
        let _ = unsafe { (self.destroy)(self.table, self.raw) };
    }
}

pub(crate) unsafe fn create_dnvec<'a>(
    api: Api<'a>,
    elements: usize,
    values: *mut c_void,
    kind: rocsparse_datatype,
) -> Result<Descriptor<'a, rocsparse_dnvec_descr>> {
    let (table, mut raw) = (api.table, null_mut());
    call!(table, rocsparse_create_dnvec_descr(&mut raw, elements as i64, values, kind))?;
    Ok(Descriptor { table, raw, destroy: |table, raw| call!(table, rocsparse_destroy_dnvec_descr(raw)) })
}

/// A dense matrix: rows, columns, leading dimension, and how they lie.
#[derive(Clone, Copy)]
pub(crate) struct DenseDescription {
    pub(crate) sizes: [usize; 3],
    pub(crate) values: *mut c_void,
    pub(crate) kind: rocsparse_datatype,
    pub(crate) order: rocsparse_order,
}

pub(crate) unsafe fn create_dnmat<'a>(
    api: Api<'a>,
    of: &DenseDescription,
) -> Result<Descriptor<'a, rocsparse_dnmat_descr>> {
    let (table, mut raw) = (api.table, null_mut());
    let [rows, cols, leading] = of.sizes.map(|size| size as i64);
    call!(table, rocsparse_create_dnmat_descr(&mut raw, rows, cols, leading, of.values, of.kind, of.order))?;
    Ok(Descriptor { table, raw, destroy: |table, raw| call!(table, rocsparse_destroy_dnmat_descr(raw)) })
}

/// A sparse vector: its elements, and the stored ones.
#[derive(Clone, Copy)]
pub(crate) struct VectorDescription {
    pub(crate) sizes: [usize; 2],
    pub(crate) indices: *mut c_void,
    pub(crate) values: *mut c_void,
    pub(crate) index: rocsparse_indextype,
    pub(crate) kind: rocsparse_datatype,
}

pub(crate) unsafe fn create_spvec<'a>(
    api: Api<'a>,
    of: &VectorDescription,
) -> Result<Descriptor<'a, rocsparse_spvec_descr>> {
    let (table, mut raw) = (api.table, null_mut());
    let [elements, stored] = of.sizes.map(|size| size as i64);
    let &VectorDescription { indices, values, index, kind, .. } = of;
    call!(
        table,
        rocsparse_create_spvec_descr(&mut raw, elements, stored, indices, values, index, ZERO, kind)
    )?;
    Ok(Descriptor { table, raw, destroy: |table, raw| call!(table, rocsparse_destroy_spvec_descr(raw)) })
}

/// The format of a sparse matrix.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Csr,
    Csc,
    Coo,
    Bsr(usize, rocsparse_direction),
    Ell(usize),
}

/// A sparse matrix as C's functions take it: rows, columns, stored entries; of a matrix in blocks all counted in blocks.
#[derive(Clone, Copy)]
pub(crate) struct Description {
    pub(crate) format: Kind,
    pub(crate) sizes: [usize; 3],
    pub(crate) outer: *mut c_void,
    pub(crate) inner: *mut c_void,
    pub(crate) values: *mut c_void,
    pub(crate) index: rocsparse_indextype,
    pub(crate) kind: rocsparse_datatype,
}

pub(crate) unsafe fn create_spmat(table: &RocsparseTable, of: &Description) -> Result<rocsparse_spmat_descr> {
    let mut raw = null_mut();
    let [rows, cols, stored] = of.sizes.map(|size| size as i64);
    let &Description { outer, inner, values, index, kind, .. } = of;
    match of.format {
        Kind::Csr => call!(
            table,
            rocsparse_create_csr_descr(
                &mut raw, rows, cols, stored, outer, inner, values, index, index, ZERO, kind
            )
        ),
        Kind::Csc => call!(
            table,
            rocsparse_create_csc_descr(
                &mut raw, rows, cols, stored, outer, inner, values, index, index, ZERO, kind
            )
        ),
        Kind::Coo => call!(
            table,
            rocsparse_create_coo_descr(&mut raw, rows, cols, stored, outer, inner, values, index, ZERO, kind)
        ),
        Kind::Bsr(block, direction) => call!(
            table,
            rocsparse_create_bsr_descr(
                &mut raw,
                rows,
                cols,
                stored,
                direction,
                block as i64,
                outer,
                inner,
                values,
                index,
                index,
                ZERO,
                kind
            )
        ),
        Kind::Ell(width) => call!(
            table,
            rocsparse_create_ell_descr(&mut raw, rows, cols, inner, values, width as i64, index, ZERO, kind)
        ),
    }?;
    Ok(raw)
}

pub(crate) unsafe fn destroy_spmat(table: &RocsparseTable, raw: rocsparse_spmat_descr) -> Result {
    call!(table, rocsparse_destroy_spmat_descr(raw))
}

/// A sparse matrix for the length of a call.
pub(crate) unsafe fn spmat<'a>(
    api: Api<'a>,
    of: &Description,
) -> Result<Descriptor<'a, rocsparse_spmat_descr>> {
    // SAFETY: S1, S2: as the caller vouches.
    let raw = unsafe { create_spmat(api.table, of) }?;
    Ok(Descriptor { table: api.table, raw, destroy: destroy_spmat })
}

pub(crate) unsafe fn set_triangle(
    api: Api<'_>,
    matrix: rocsparse_spmat_descr,
    fill: rocsparse_fill_mode,
    diagonal: rocsparse_diag_type,
) -> Result {
    let (by_fill, by_diagonal) = (
        rocsparse_spmat_attribute::rocsparse_spmat_fill_mode,
        rocsparse_spmat_attribute::rocsparse_spmat_diag_type,
    );
    let (fill, fill_bytes) = ((&raw const fill).cast(), size_of_val(&fill));
    let (diagonal, diagonal_bytes) = ((&raw const diagonal).cast(), size_of_val(&diagonal));
    call!(api.table, rocsparse_spmat_set_attribute(matrix, by_fill, fill, fill_bytes))?;
    call!(api.table, rocsparse_spmat_set_attribute(matrix, by_diagonal, diagonal, diagonal_bytes))
}

pub(crate) unsafe fn set_values(api: Api<'_>, matrix: rocsparse_spmat_descr, values: *mut c_void) -> Result {
    call!(api.table, rocsparse_spmat_set_values(matrix, values))
}

pub(crate) unsafe fn stored(api: Api<'_>, matrix: rocsparse_spmat_descr) -> Result<i64> {
    let mut stored = 0;
    call!(api.table, rocsparse_spmat_get_nnz(matrix, &mut stored))?;
    Ok(stored)
}

/// Sets the offsets or row indices, the other indices, and the values.
pub(crate) unsafe fn set_pointers(
    api: Api<'_>,
    matrix: rocsparse_spmat_descr,
    format: Kind,
    [outer, inner, values]: [*mut c_void; 3],
) -> Result {
    match format {
        Kind::Csc => call!(api.table, rocsparse_csc_set_pointers(matrix, outer, inner, values)),
        Kind::Coo => call!(api.table, rocsparse_coo_set_pointers(matrix, outer, inner, values)),
        _ => call!(api.table, rocsparse_csr_set_pointers(matrix, outer, inner, values)),
    }
}
