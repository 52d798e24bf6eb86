//! MIOpen's C functions over cuDNN.

use hip_sys::{LoadError, Miopen, MiopenTable, Version};

/// The version of MIOpen whose behaviour this follows.
const VERSION: Version = Version { major: 3, minor: 4, patch: 0 };

/// The library: what it does not do answers that it is not implemented.
pub(crate) fn library() -> Result<Miopen, LoadError> {
    let table = MiopenTable::not_implemented();
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    Ok(unsafe { Miopen::from_table(VERSION, "libcudnn".into(), table) })
}
