//! rocBLAS's C functions over this runtime.

use hip_sys::{LoadError, Rocblas, RocblasTable, Version};

/// The version of rocBLAS whose behaviour this follows.
const VERSION: Version = Version { major: 4, minor: 4, patch: 0 };

/// The library: what it does not do answers that it is not implemented.
pub(crate) fn library() -> Result<Rocblas, LoadError> {
    let table = RocblasTable::not_implemented();
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    Ok(unsafe { Rocblas::from_table(VERSION, "hip-host".into(), table) })
}
