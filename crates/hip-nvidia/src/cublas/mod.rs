//! rocBLAS's C functions over cuBLAS.

mod adapt;
mod check;
mod convert;
mod functions;
mod gemm;
mod gemm_ex;
mod gemv;
mod half;
mod handle;
mod hgemm;
mod level1;
mod level2;
mod level3;
mod library;
mod move_matrix;
mod proof;
mod rotg;
mod settings;
mod table;

pub(crate) use handle::forget_device;

use hip_sys::{LoadError, Rocblas, RocblasTable, Version};

/// The version of rocBLAS whose behaviour this follows.
const VERSION: Version = Version { major: 4, minor: 4, patch: 0 };

/// The library: what it does not do answers that it is not implemented.
pub(crate) fn library() -> Result<Rocblas, LoadError> {
    let file = library::open()?.file().to_path_buf();
    // SAFETY: S1, S11: the functions are this crate's, and check what a library checks.
    Ok(unsafe { Rocblas::from_table(VERSION, file, functions()) })
}

fn functions() -> RocblasTable {
    let mut table = RocblasTable::not_implemented();
    settings::fill(&mut table);
    gemm::fill(&mut table);
    gemm_ex::fill(&mut table);
    hgemm::fill(&mut table);
    level1::fill(&mut table);
    rotg::fill(&mut table);
    level2::fill(&mut table);
    gemv::fill(&mut table);
    level3::fill(&mut table);
    table
}
