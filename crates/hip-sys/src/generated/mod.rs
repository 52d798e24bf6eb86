//! What `cargo xtask codegen` made of ROCm's headers and of `functions.toml`.

/// HIP: types, constants and [`hip::HipTable`].
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs, dead_code, unreachable_pub)]
#[allow(clippy::all, clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc, unsafe_op_in_unsafe_fn)]
#[rustfmt::skip]
pub mod hip;

/// hiprtc: types and [`rtc::RtcTable`].
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs, dead_code, unreachable_pub)]
#[allow(clippy::all, clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc, unsafe_op_in_unsafe_fn)]
#[rustfmt::skip]
pub mod rtc;

/// rocRAND: types and [`rocrand::RocrandTable`].
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs, dead_code, unreachable_pub)]
#[allow(clippy::all, clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc, unsafe_op_in_unsafe_fn)]
#[rustfmt::skip]
pub mod rocrand;

/// rocBLAS: types and [`rocblas::RocblasTable`].
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs, dead_code, unreachable_pub)]
#[allow(clippy::all, clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc, unsafe_op_in_unsafe_fn)]
#[rustfmt::skip]
pub mod rocblas;

/// MIOpen: types and [`miopen::MiopenTable`].
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs, dead_code, unreachable_pub)]
#[allow(clippy::all, clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc, unsafe_op_in_unsafe_fn)]
#[rustfmt::skip]
pub mod miopen;

/// The lists of [`crate::layout`], a library each.
#[allow(missing_docs, unreachable_pub)]
#[rustfmt::skip]
pub mod layout;
