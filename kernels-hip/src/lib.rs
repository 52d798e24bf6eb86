//! HIP kernels as text for every compiler, with their list, their arguments and their build for the CPU.
//!
//! The kernels are plain HIP C++ ([`HEADERS`] and one source for each [`Family`]) that hipcc, hiprtc, nvcc, NVRTC and a
//! C++ compiler of the CPU build alike. A [`Unit`] is a family compiled for one dtype; its kernels have `extern "C"`
//! names such as `elementwise_exp_f16`. The list is `kernels.toml`; this crate holds it as tables.
//!
//! What a caller needs beside a compiled unit: the structs that kernels take by value ([`args`]), and how many threads to
//! launch ([`launch`]). With the feature `host` (default) the units are compiled for the threads of this CPU and linked
//! in; `register_host` makes them known to `hip-host`.
//!
//! ```
//! use kernels_hip::{HEADERS, options, unit};
//!
//! let unit = unit("elementwise", "f16").expect("the unit exists");
//! assert_eq!(unit.name(), "elementwise_f16");
//! assert!(unit.kernels().contains(&"elementwise_cast_f16_f32".to_string()));
//!
//! // What a run-time compiler is given: the source, the headers under their names, and the options.
//! let (name, text) = HEADERS[0];
//! assert!(unit.family.source.contains(&format!("#include \"{name}\"")));
//! assert!(text.contains("HIPHOST_KERNEL"));
//! assert_eq!(unit.options(options::AMD, 64).last().map(String::as_str), Some("-DWAVE_SIZE=64"));
//! ```
//!
//! # Pointers that kernels take
//! They include the offset of the view. Inputs that are tight may lie at any address; 16-byte accesses are used where the
//! address allows them. An output overlaps an input only where both are tight, have one dtype and begin at one address.

pub mod args;
mod hash;
#[cfg(feature = "host")]
mod host;
pub mod launch;
pub mod options;
mod unit;

pub use hash::{hash_bytes, hash_parts};
#[cfg(feature = "host")]
pub use host::{host_entries, register_host};
pub use unit::{Family, Unit, Waves, families, unit, units};

/// The files that the kernels include, by name, with their texts. They include nothing themselves under hiprtc and NVRTC.
pub const HEADERS: [(&str, &str); 23] = [
    ("portable.hpp", include_str!("../portable.hpp")),
    ("activations.hpp", include_str!("../activations.hpp")),
    ("block_join.hpp", include_str!("../block_join.hpp")),
    ("packs_gfx9.hpp", include_str!("../packs_gfx9.hpp")),
    ("pairs_amd.hpp", include_str!("../pairs_amd.hpp")),
    ("erf_amd.hpp", include_str!("../erf_amd.hpp")),
    ("rows.hpp", include_str!("../rows.hpp")),
    ("rows_gfx9.hpp", include_str!("../rows_gfx9.hpp")),
    ("softmax_gfx9.hpp", include_str!("../softmax_gfx9.hpp")),
    ("norm_gfx9.hpp", include_str!("../norm_gfx9.hpp")),
    ("exp_amd.hpp", include_str!("../exp_amd.hpp")),
    ("reductions.hpp", include_str!("../reductions.hpp")),
    ("reduce_lean.hpp", include_str!("../reduce_lean.hpp")),
    ("reduce_gfx11.hpp", include_str!("../reduce_gfx11.hpp")),
    ("columns_lean.hpp", include_str!("../columns_lean.hpp")),
    ("half_rows.hpp", include_str!("../half_rows.hpp")),
    ("transpose_gfx9.hpp", include_str!("../transpose_gfx9.hpp")),
    ("digits.hpp", include_str!("../digits.hpp")),
    ("attention.hpp", include_str!("../attention.hpp")),
    ("mma.hpp", include_str!("../mma.hpp")),
    ("conv.hpp", include_str!("../conv.hpp")),
    ("conv_tiles.hpp", include_str!("../conv_tiles.hpp")),
    ("conv_wide.hpp", include_str!("../conv_wide.hpp")),
];

/// The most threads a block of any kernel may have. All kernels take one-dimensional grids and blocks.
pub const MAX_BLOCK: u32 = 256;

/// The most dimensions that the maps in [`args`] hold.
pub const MAX_RANK: usize = 8;
