//! One unsafe function for each C function: statuses become results. Nothing else here touches the table.
//!
//! # Safety
//! Every function asks of its caller what the C functions ask: live descriptors, a live handle that no other thread uses at the same time,
//! memory of the handle's device, and that device current (docs/SAFETY.md S1 to S3).

use hip_sys::RocsparseTable;
use hip_sys::hip::hipStream_t;
use hip_sys::rocsparse::{
    rocsparse_action, rocsparse_const_dnmat_descr, rocsparse_const_dnvec_descr, rocsparse_const_spmat_descr,
    rocsparse_const_spvec_descr, rocsparse_datatype, rocsparse_dense_to_sparse_alg, rocsparse_diag_type,
    rocsparse_direction, rocsparse_dnmat_descr, rocsparse_dnvec_descr, rocsparse_fill_mode, rocsparse_handle,
    rocsparse_index_base, rocsparse_indextype, rocsparse_mat_descr, rocsparse_operation, rocsparse_order,
    rocsparse_sddmm_alg, rocsparse_sparse_to_dense_alg, rocsparse_spgemm_alg, rocsparse_spgemm_stage,
    rocsparse_spmat_attribute, rocsparse_spmat_descr, rocsparse_spmm_alg, rocsparse_spmm_stage,
    rocsparse_spmv_alg, rocsparse_spmv_stage, rocsparse_spsm_alg, rocsparse_spsm_stage, rocsparse_spsv_alg,
    rocsparse_spsv_stage, rocsparse_spvec_descr, rocsparse_status,
};
use std::ffi::c_void;
use std::ptr::null_mut;

/// A C call that did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    pub(crate) function: &'static str,
    pub(crate) status: rocsparse_status,
}

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

/// The functions, with the handle that they are called with.
#[derive(Clone, Copy)]
pub(crate) struct Api<'a> {
    pub(crate) table: &'a RocsparseTable,
    pub(crate) handle: rocsparse_handle,
}

const ZERO: rocsparse_index_base = rocsparse_index_base::rocsparse_index_base_zero;

fn done(function: &'static str, status: rocsparse_status) -> Result {
    match status {
        rocsparse_status::rocsparse_status_success => Ok(()),
        status => Err(Failure { function, status }),
    }
}

macro_rules! call {
    ($table:expr, $function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: S1, S2, S3: the caller vouches for the arguments; out-pointers are live.
        done(stringify!($function), unsafe { ($table.$function)($($argument),*) })
    };
}

pub(crate) unsafe fn create_handle(table: &RocsparseTable) -> Result<rocsparse_handle> {
    let mut handle = null_mut();
    call!(table, rocsparse_create_handle(&mut handle))?;
    Ok(handle)
}

pub(crate) unsafe fn set_stream(api: Api<'_>, stream: hipStream_t) -> Result {
    call!(api.table, rocsparse_set_stream(api.handle, stream))
}

pub(crate) unsafe fn destroy_handle(api: Api<'_>) -> Result {
    call!(api.table, rocsparse_destroy_handle(api.handle))
}

/// A descriptor that lives as long as a call.
pub(crate) struct Descriptor<'a, H: Copy> {
    table: &'a RocsparseTable,
    pub(crate) raw: H,
    destroy: unsafe fn(&RocsparseTable, H) -> Result,
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

/// What a call of an operation in stages does.
pub(crate) enum Stage<'a> {
    /// Asks for the bytes of work memory.
    Size(&'a mut usize),
    /// Looks at the matrix.
    Preprocess(*mut c_void),
    /// Computes.
    Compute(*mut c_void),
}

/// The arguments of C that say where a size goes and where the work memory is.
fn places(stage: Stage<'_>) -> (*mut usize, *mut c_void) {
    match stage {
        Stage::Size(bytes) => (bytes, null_mut()),
        Stage::Preprocess(work) | Stage::Compute(work) => (null_mut(), work),
    }
}

/// Factors of an operation, by their addresses.
pub(crate) type Factors = [*const c_void; 2];

pub(crate) unsafe fn spmv(
    api: Api<'_>,
    op: rocsparse_operation,
    [alpha, beta]: Factors,
    matrix: rocsparse_spmat_descr,
    (x, y): (rocsparse_dnvec_descr, rocsparse_dnvec_descr),
    kind: rocsparse_datatype,
    stage: Stage<'_>,
) -> Result {
    let number = match stage {
        Stage::Size(_) => rocsparse_spmv_stage::rocsparse_spmv_stage_buffer_size,
        Stage::Preprocess(_) => rocsparse_spmv_stage::rocsparse_spmv_stage_preprocess,
        Stage::Compute(_) => rocsparse_spmv_stage::rocsparse_spmv_stage_compute,
    };
    let algorithm = rocsparse_spmv_alg::rocsparse_spmv_alg_default;
    let (size, work) = places(stage);
    let (matrix, x): (rocsparse_const_spmat_descr, rocsparse_const_dnvec_descr) = (matrix, x);
    call!(
        api.table,
        rocsparse_spmv(api.handle, op, alpha, matrix, x, beta, y, kind, algorithm, number, size, work)
    )
}

pub(crate) unsafe fn spmm(
    api: Api<'_>,
    [op, op_b]: [rocsparse_operation; 2],
    [alpha, beta]: Factors,
    matrix: rocsparse_spmat_descr,
    (b, c): (rocsparse_dnmat_descr, rocsparse_dnmat_descr),
    kind: rocsparse_datatype,
    stage: Stage<'_>,
) -> Result {
    let number = match stage {
        Stage::Size(_) => rocsparse_spmm_stage::rocsparse_spmm_stage_buffer_size,
        Stage::Preprocess(_) => rocsparse_spmm_stage::rocsparse_spmm_stage_preprocess,
        Stage::Compute(_) => rocsparse_spmm_stage::rocsparse_spmm_stage_compute,
    };
    let algorithm = rocsparse_spmm_alg::rocsparse_spmm_alg_default;
    let (size, work) = places(stage);
    call!(
        api.table,
        rocsparse_spmm(api.handle, op, op_b, alpha, matrix, b, beta, c, kind, algorithm, number, size, work)
    )
}

pub(crate) unsafe fn spsv(
    api: Api<'_>,
    op: rocsparse_operation,
    alpha: *const c_void,
    matrix: rocsparse_spmat_descr,
    (x, y): (rocsparse_dnvec_descr, rocsparse_dnvec_descr),
    kind: rocsparse_datatype,
    stage: Stage<'_>,
) -> Result {
    let number = match stage {
        Stage::Size(_) => rocsparse_spsv_stage::rocsparse_spsv_stage_buffer_size,
        Stage::Preprocess(_) => rocsparse_spsv_stage::rocsparse_spsv_stage_preprocess,
        Stage::Compute(_) => rocsparse_spsv_stage::rocsparse_spsv_stage_compute,
    };
    let algorithm = rocsparse_spsv_alg::rocsparse_spsv_alg_default;
    let (size, work) = places(stage);
    call!(api.table, rocsparse_spsv(api.handle, op, alpha, matrix, x, y, kind, algorithm, number, size, work))
}

pub(crate) unsafe fn spsm(
    api: Api<'_>,
    [op, op_b]: [rocsparse_operation; 2],
    alpha: *const c_void,
    matrix: rocsparse_spmat_descr,
    (b, c): (rocsparse_dnmat_descr, rocsparse_dnmat_descr),
    kind: rocsparse_datatype,
    stage: Stage<'_>,
) -> Result {
    let number = match stage {
        Stage::Size(_) => rocsparse_spsm_stage::rocsparse_spsm_stage_buffer_size,
        Stage::Preprocess(_) => rocsparse_spsm_stage::rocsparse_spsm_stage_preprocess,
        Stage::Compute(_) => rocsparse_spsm_stage::rocsparse_spsm_stage_compute,
    };
    let algorithm = rocsparse_spsm_alg::rocsparse_spsm_alg_default;
    let (size, work) = places(stage);
    call!(
        api.table,
        rocsparse_spsm(api.handle, op, op_b, alpha, matrix, b, c, kind, algorithm, number, size, work)
    )
}

/// The product of two sparse matrices. Its preprocessing counts the entries of the result, and writes its offsets.
pub(crate) unsafe fn spgemm(
    api: Api<'_>,
    alpha: *const c_void,
    [a, b, none, c]: [rocsparse_spmat_descr; 4],
    kind: rocsparse_datatype,
    stage: Stage<'_>,
) -> Result {
    let number = match stage {
        Stage::Size(_) => rocsparse_spgemm_stage::rocsparse_spgemm_stage_buffer_size,
        Stage::Preprocess(_) => rocsparse_spgemm_stage::rocsparse_spgemm_stage_nnz,
        Stage::Compute(_) => rocsparse_spgemm_stage::rocsparse_spgemm_stage_compute,
    };
    let algorithm = rocsparse_spgemm_alg::rocsparse_spgemm_alg_default;
    let op = rocsparse_operation::rocsparse_operation_none;
    let beta = std::ptr::null();
    let (size, work) = places(stage);
    call!(
        api.table,
        rocsparse_spgemm(api.handle, op, op, alpha, a, b, beta, none, c, kind, algorithm, number, size, work)
    )
}

pub(crate) unsafe fn sddmm(
    api: Api<'_>,
    [op_a, op_b]: [rocsparse_operation; 2],
    [alpha, beta]: Factors,
    (a, b): (rocsparse_dnmat_descr, rocsparse_dnmat_descr),
    matrix: rocsparse_spmat_descr,
    kind: rocsparse_datatype,
    stage: Stage<'_>,
) -> Result {
    let algorithm = rocsparse_sddmm_alg::rocsparse_sddmm_alg_default;
    let (a, b): (rocsparse_const_dnmat_descr, rocsparse_const_dnmat_descr) = (a, b);
    match stage {
        Stage::Size(bytes) => call!(
            api.table,
            rocsparse_sddmm_buffer_size(
                api.handle, op_a, op_b, alpha, a, b, beta, matrix, kind, algorithm, bytes
            )
        ),
        Stage::Preprocess(work) => call!(
            api.table,
            rocsparse_sddmm_preprocess(
                api.handle, op_a, op_b, alpha, a, b, beta, matrix, kind, algorithm, work
            )
        ),
        Stage::Compute(work) => call!(
            api.table,
            rocsparse_sddmm(api.handle, op_a, op_b, alpha, a, b, beta, matrix, kind, algorithm, work)
        ),
    }
}

pub(crate) unsafe fn axpby(
    api: Api<'_>,
    [alpha, beta]: Factors,
    x: rocsparse_const_spvec_descr,
    y: rocsparse_dnvec_descr,
) -> Result {
    call!(api.table, rocsparse_axpby(api.handle, alpha, x, beta, y))
}

pub(crate) unsafe fn gather(
    api: Api<'_>,
    y: rocsparse_const_dnvec_descr,
    x: rocsparse_spvec_descr,
) -> Result {
    call!(api.table, rocsparse_gather(api.handle, y, x))
}

pub(crate) unsafe fn scatter(
    api: Api<'_>,
    x: rocsparse_const_spvec_descr,
    y: rocsparse_dnvec_descr,
) -> Result {
    call!(api.table, rocsparse_scatter(api.handle, x, y))
}

pub(crate) unsafe fn sparse_to_dense(
    api: Api<'_>,
    from: rocsparse_const_spmat_descr,
    to: rocsparse_dnmat_descr,
    stage: Stage<'_>,
) -> Result {
    let algorithm = rocsparse_sparse_to_dense_alg::rocsparse_sparse_to_dense_alg_default;
    let (size, work) = places(stage);
    call!(api.table, rocsparse_sparse_to_dense(api.handle, from, to, algorithm, size, work))
}

/// Its preprocessing counts the entries. To compute C wants both a place for a size and the work memory.
pub(crate) unsafe fn dense_to_sparse(
    api: Api<'_>,
    from: rocsparse_const_dnmat_descr,
    to: rocsparse_spmat_descr,
    stage: Stage<'_>,
) -> Result {
    let algorithm = rocsparse_dense_to_sparse_alg::rocsparse_dense_to_sparse_alg_default;
    let (mut unused, computes) = (0, matches!(stage, Stage::Compute(_)));
    let (size, work) = places(stage);
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
    let (size, work) = places(stage);
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
    let (size, work) = places(stage);
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
