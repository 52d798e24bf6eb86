//! rocBLAS's C functions over this runtime.
//!
//! A function checks its arguments as rocBLAS does, looks its operands' memory up, and makes one operation of its handle's
//! stream. Addresses in arrays of a batch are looked up when the operation runs: one that leads nowhere breaks the device, as
//! on a GPU. Sums of f16 and bf16 are made in f32 and rounded once.
#![allow(clippy::too_many_arguments, reason = "BLAS's arguments")]

mod c;
mod check;
mod handle;
mod level1;
mod level2;
mod level3;
mod operand;
mod parallel;
mod scalar;

use hip_sys::{LoadError, Rocblas, RocblasTable, Version};

/// The version of rocBLAS whose behaviour this follows.
const VERSION: Version = Version { major: 4, minor: 4, patch: 0 };

/// The library: what it does not do answers that it is not implemented.
pub(crate) fn library() -> Result<Rocblas, LoadError> {
    let mut table = RocblasTable::not_implemented();
    c::fill(&mut table);
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    Ok(unsafe { Rocblas::from_table(VERSION, "hip-host".into(), table) })
}
