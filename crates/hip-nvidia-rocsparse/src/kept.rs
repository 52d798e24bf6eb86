//! What cuSPARSE keeps with a matrix from one stage of an operation to the next.

use crate::descriptor::Descriptor;
use hip_sys::provider::sparse::{self, Outcome, lock};
use hip_sys::rocsparse::{rocsparse_const_spmat_descr, rocsparse_status as Status};
use std::sync::Arc;

/// cuSPARSE's descriptor of a matrix, and that of the operation, if it has one. Both end with the matrix' own descriptor.
pub(super) struct Kept {
    /// Destroyed before the matrix.
    pub(super) operation: Option<Descriptor>,
    pub(super) matrix: Descriptor,
}

/// Keeps it with the matrix, in place of what an earlier operation kept.
pub(super) fn keep<K: Send + Sync + 'static>(
    matrix: rocsparse_const_spmat_descr,
    kept: K,
) -> Outcome<Arc<K>> {
    let kept = Arc::new(kept);
    lock(&*sparse::matrix(matrix)?).attached = Some(Arc::clone(&kept) as _);
    Ok(kept)
}

/// What the first stage kept.
///
/// # Errors
/// `rocsparse_status_invalid_value` without a first stage.
pub(super) fn kept<K: Send + Sync + 'static>(matrix: rocsparse_const_spmat_descr) -> Outcome<Arc<K>> {
    let attached = lock(&*sparse::matrix(matrix)?).attached.clone();
    let kept = attached.and_then(|attached| attached.downcast::<K>().ok());
    kept.ok_or(Status::rocsparse_status_invalid_value)
}
