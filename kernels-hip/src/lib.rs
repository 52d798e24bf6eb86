//! Sources of the HIP kernels for every compiler, with their list, arguments and compiler options.
//!
//! The kernels are plain HIP C++ ([`HEADERS`] and one source for each [`Family`]) that hipcc, hiprtc, nvcc, NVRTC and a
//! C++ compiler of the CPU build alike. A [`Unit`] is a family compiled for one dtype; its kernels have `extern "C"`
//! names such as `elementwise_exp_f16`. The list is `kernels.toml`; this crate holds it as tables. The element-wise
//! operations and the reductions are rows of macros, such as [`unary_operations`], from which others make enums.
//!
//! What a caller needs beside a compiled unit: the structs that kernels take by value ([`args`]), and how many threads to
//! launch ([`launch`]). hip-host compiles units for the threads of this CPU at run time, as hiprtc does for AMD's GPUs.
//!
//! ```
//! use kernels_hip::{HEADERS, unit};
//!
//! let unit = unit("elementwise", "f16").expect("the unit exists");
//! assert_eq!(unit.name(), "elementwise_f16");
//! assert!(unit.kernels().contains(&"elementwise_cast_f16_f32".to_string()));
//!
//! // What a run-time compiler is given: the source, the headers under their names, and the options.
//! let (name, text) = HEADERS.iter().find(|(name, _)| *name == "portable.hpp").expect("it ships");
//! assert!(unit.family.source.contains(&format!("#include \"{name}\"")) && text.contains("#define DTYPE"));
//! let options = unit.options("amd", 64).expect("AMD's GPUs have a compiler");
//! assert_eq!(options.last().map(String::as_str), Some("-DWAVE_SIZE=64"));
//! ```
//!
//! # Pointers that kernels take
//! They include the offset of the view. Inputs that are tight may lie at any address; 16-byte accesses are used where the
//! address allows them. An output may overlap an input only if both are tight, have the same dtype and start at the same address.

pub mod args;
mod hash;
pub mod launch;
mod matrix_units;
mod operations;
pub mod options;
mod unit;

pub use hash::{hash_bytes, hash_parts};
pub use matrix_units::has_matrix_units;
pub use unit::{Family, Unit, Waves, families, unit, units, units_hash};

/// The folder of the sources in this crate: `FAMILIES/reduce.hip`.
pub const FAMILIES: &str = "families";

/// The include folders, for compilers that read files.
pub const HEADER_FOLDERS: [&str; 2] = ["headers", "platform"];

/// The headers: file name and text. With hiprtc and NVRTC the sources include nothing else.
pub const HEADERS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/headers.rs"));

/// Greatest block size of every kernel. All grids and blocks are one-dimensional.
pub const MAX_BLOCK: u32 = 256;

/// Most dimensions of the maps in [`args`].
pub const MAX_RANK: usize = 8;
