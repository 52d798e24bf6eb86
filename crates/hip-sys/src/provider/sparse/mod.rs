//! rocSPARSE's descriptors, for crates that replace rocSPARSE: plain values behind handles. What differs between the platforms is
//! what their operations do with them.

mod change;
mod create;
mod objects;

pub use super::ensure;
pub use objects::{DenseMatrix, Index, Scalar, SparseMatrix, SparseVector, Vector};

use super::Handles;
use crate::RocsparseTable;
use crate::rocsparse::{
    rocsparse_const_dnmat_descr, rocsparse_const_dnvec_descr, rocsparse_const_spmat_descr,
    rocsparse_const_spvec_descr, rocsparse_status as Status,
};
use std::ffi::c_int;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

static MATRICES: LazyLock<Handles<Mutex<SparseMatrix>>> = LazyLock::new(|| Handles::new(0x94));
static VECTORS: LazyLock<Handles<Vector>> = LazyLock::new(|| Handles::new(0x95));
static DENSE: LazyLock<Handles<DenseMatrix>> = LazyLock::new(|| Handles::new(0x96));
static SPARSE_VECTORS: LazyLock<Handles<SparseVector>> = LazyLock::new(|| Handles::new(0x97));
/// Descriptors of the older API, which say that a matrix is general with indices from zero.
static DESCRIPTIONS: LazyLock<Handles<()>> = LazyLock::new(|| Handles::new(0x98));

/// The outcome of a call: success, or another status.
pub type Outcome<T = ()> = Result<T, Status>;

/// Turns an outcome into the status that a function returns.
pub fn status(outcome: Outcome) -> Status {
    outcome.err().unwrap_or(Status::rocsparse_status_success)
}

/// The version of rocSPARSE whose behaviour the platforms follow, as `rocsparse_get_version` answers it.
pub const VERSION: c_int = 400_200;

/// A table whose functions of descriptors are those of this module. All others answer that they are not implemented: a platform fills in
/// its own.
pub fn table() -> RocsparseTable {
    create::fill(RocsparseTable::not_implemented())
}

/// The matrix of a descriptor.
///
/// # Errors
/// `rocsparse_status_invalid_pointer` for a descriptor that is not live.
pub fn matrix(descriptor: rocsparse_const_spmat_descr) -> Outcome<Arc<Mutex<SparseMatrix>>> {
    MATRICES.get(descriptor as usize).map_err(|_| Status::rocsparse_status_invalid_pointer)
}

/// Locks a matrix.
pub fn lock(matrix: &Mutex<SparseMatrix>) -> MutexGuard<'_, SparseMatrix> {
    matrix.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a descriptor says now.
///
/// # Errors
/// As [`matrix`].
pub fn matrix_now(descriptor: rocsparse_const_spmat_descr) -> Outcome<SparseMatrix> {
    matrix(descriptor).map(|matrix| lock(&matrix).clone())
}

/// The dense vector of a descriptor.
///
/// # Errors
/// As [`matrix`].
pub fn vector(descriptor: rocsparse_const_dnvec_descr) -> Outcome<Arc<Vector>> {
    VECTORS.get(descriptor as usize).map_err(|_| Status::rocsparse_status_invalid_pointer)
}

/// The dense matrix of a descriptor.
///
/// # Errors
/// As [`matrix`].
pub fn dense(descriptor: rocsparse_const_dnmat_descr) -> Outcome<Arc<DenseMatrix>> {
    DENSE.get(descriptor as usize).map_err(|_| Status::rocsparse_status_invalid_pointer)
}

/// The sparse vector of a descriptor.
///
/// # Errors
/// As [`matrix`].
pub fn sparse_vector(descriptor: rocsparse_const_spvec_descr) -> Outcome<Arc<SparseVector>> {
    SPARSE_VECTORS.get(descriptor as usize).map_err(|_| Status::rocsparse_status_invalid_pointer)
}
