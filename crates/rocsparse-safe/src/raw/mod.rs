//! One unsafe function for each C function: statuses become results. Nothing else here touches the table.
//!
//! # Safety
//! Every function asks of its caller what the C functions ask: live descriptors, a live handle that no other thread uses at the same time,
//! memory of the handle's device, and that device current (docs/SAFETY.md S1 to S3).

mod convert;
mod descriptor;
mod operation;

pub(crate) use convert::{
    Sorted, Transposed, ccsr2csc, coo2csr, coosort, csr2coo, csr2csc_buffer_size, csrsort, dcsr2csc,
    dense_to_sparse, identity, scsr2csc, sparse_to_dense, zcsr2csc,
};
pub(crate) use descriptor::{
    DenseDescription, Description, Kind, VectorDescription, create_dnmat, create_dnvec, create_spmat,
    create_spvec, destroy_spmat, set_pointers, set_triangle, set_values, spmat, stored,
};
pub(crate) use operation::{axpby, gather, scatter, sddmm, spgemm, spmm, spmv, spsm, spsv};

use hip_sys::RocsparseTable;
use hip_sys::hip::hipStream_t;
use hip_sys::rocsparse::{rocsparse_handle, rocsparse_index_base, rocsparse_status};
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
        $crate::raw::done(stringify!($function), unsafe { ($table.$function)($($argument),*) })
    };
}
use call;

pub(crate) unsafe fn create_handle(table: &RocsparseTable) -> Result<rocsparse_handle> {
    let mut handle = null_mut();
    call!(table, rocsparse_create_handle(&mut handle))?;
    Ok(handle)
}

pub(crate) unsafe fn set_stream(api: Api<'_>, stream: hipStream_t) -> Result {
    call!(api.table, rocsparse_set_stream(api.handle, stream))
}

/// The version as C's number: 400200 is 4.2.0.
pub(crate) unsafe fn version(api: Api<'_>) -> Result<i32> {
    let mut version = 0;
    call!(api.table, rocsparse_get_version(api.handle, &mut version))?;
    Ok(version)
}

pub(crate) unsafe fn destroy_handle(api: Api<'_>) -> Result {
    call!(api.table, rocsparse_destroy_handle(api.handle))
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
fn size_and_work(stage: Stage<'_>) -> (*mut usize, *mut c_void) {
    match stage {
        Stage::Size(bytes) => (bytes, null_mut()),
        Stage::Preprocess(work) | Stage::Compute(work) => (null_mut(), work),
    }
}
