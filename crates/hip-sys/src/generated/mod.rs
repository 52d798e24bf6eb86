//! What `cargo xtask codegen` made of ROCm's headers and of `functions.toml`.

#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    missing_docs,
    dead_code,
    unreachable_pub
)]
#![allow(clippy::all, clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc, unsafe_op_in_unsafe_fn)]

/// HIP: types, constants and [`hip::HipTable`].
#[rustfmt::skip]
pub mod hip;

/// hiprtc: types and [`rtc::RtcTable`].
#[rustfmt::skip]
pub mod rtc;

/// rocRAND: types and [`rocrand::RocrandTable`].
#[rustfmt::skip]
pub mod rocrand;

/// rocFFT: types and [`rocfft::RocfftTable`].
#[rustfmt::skip]
pub mod rocfft;

/// hipBLASLt: types and [`hipblaslt::HipblasltTable`].
#[rustfmt::skip]
pub mod hipblaslt;

/// rocBLAS: types and [`rocblas::RocblasTable`].
#[rustfmt::skip]
pub mod rocblas;

/// rocSOLVER: types and [`rocsolver::RocsolverTable`].
#[rustfmt::skip]
pub mod rocsolver;

/// rocSPARSE: types and [`rocsparse::RocsparseTable`].
#[rustfmt::skip]
pub mod rocsparse;

/// MIOpen: types and [`miopen::MiopenTable`].
#[rustfmt::skip]
pub mod miopen;

/// AMD SMI: types and [`amdsmi::AmdsmiTable`].
#[rustfmt::skip]
pub mod amdsmi;

/// The lists of [`crate::layout`], a library each.
#[rustfmt::skip]
pub mod layout;
