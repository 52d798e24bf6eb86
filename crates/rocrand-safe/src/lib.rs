//! Random numbers on hip-safe's memory, by rocRAND or by its replacement on other platforms.
//!
//! ```
//! use rocrand_safe::{Generator, Kind};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = hip_safe::Device::new(&hip_host::platform(), 0)?;
//! let stream = device.new_stream()?;
//! let mut generator = Generator::new(&stream, Kind::Philox4x32x10)?;
//! generator.set_seed(42)?;
//!
//! // Uniform numbers are above 0 and at most 1.
//! let mut uniform = stream.alloc_zeros::<f32>(1000)?;
//! generator.fill_uniform(&mut uniform)?;
//! assert!(stream.download(&uniform)?.iter().all(|&x| 0.0 < x && x <= 1.0));
//!
//! let mut normal = stream.alloc_zeros::<f64>(1000)?;
//! generator.fill_normal(&mut normal, 5.0, 2.0)?;
//! let mut counts = stream.alloc_zeros::<u32>(1000)?;
//! generator.fill_poisson(&mut counts, 3.5)?;
//!
//! // The same seed gives the same numbers.
//! generator.set_seed(42)?;
//! let mut again = stream.alloc_zeros::<f32>(1000)?;
//! generator.fill_uniform(&mut again)?;
//! assert_eq!(stream.download(&again)?, stream.download(&uniform)?);
//!
//! // Numbers that no generator of a kind has are an error before any call.
//! let mut wide = stream.alloc_zeros::<u64>(1)?;
//! let error = generator.fill_bits(&mut wide).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "a generator of the kind Philox4x32x10 has no numbers of 64 bits: take Threefry2x64x20, Threefry4x64x20 or a Sobol64"
//! );
//! # Ok(())
//! # }
//! ```
//!
//! What holds everywhere:
//! - Operations are methods of a [`Generator`], which is bound to a stream. They return once they are submitted, and are ordered after
//!   conflicting uses of their outputs on any stream or thread, and after the generator's own earlier work.
//! - A call continues the sequence where the last one ended. The kinds Mtgp32, Mt19937 and Lfsr113 may leave out numbers between calls, and so
//!   does a call whose count does not fill the words that it takes.
//! - Seed, offset, ordering and dimensions start the sequence again.
//! - Pseudo-random kinds have independent numbers. Quasi-random ones have points that fill the space evenly: with [`Generator::set_dimensions`]
//!   a call fills the first coordinates of all points, then the second ones, and so on.
//! - Calls are not captured into graphs: a generator's state would not be the graph's. They are refused with
//!   [`Capturing`](hip_safe::Error::Capturing).
//!
//! # Platforms
//! rocRAND itself is found at run time. Its replacements are crates, one for each cargo feature, and both are on by default: `host` for
//! hip-host's threads of the CPU, `nvidia` for cuRAND on hip-nvidia. [`library()`] says what a platform has. hip-host has rocRAND's own
//! numbers, bit for bit for bits and uniform numbers. cuRAND's numbers are others for the same seed.
//!
//! `COVERAGE.md` lists each C function and what wraps it.

mod convert;
mod error;
mod generator;
mod kind;
mod library;
#[cfg(doctest)]
mod misuse;
mod ops;
mod raw;

pub use error::{Error, Result};
pub use generator::Generator;
pub use kind::{Kind, Ordering};
pub use library::library;
pub use ops::{Bits, Normal, Uniform};
