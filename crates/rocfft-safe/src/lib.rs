//! Fourier transforms on hip-safe's memory, by rocFFT or by its replacement on other platforms.
//!
//! ```
//! use rocfft_safe::{Complex, Direction, Plan, Spec};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = hip_safe::Device::new(&hip_host::platform(), 0)?;
//! let stream = device.new_stream()?;
//!
//! // Four complex numbers, forward and back. A transform is not normalised unless it is scaled.
//! let forward = Plan::<f32>::new(&device, &Spec::complex(Direction::Forward, &[4]))?;
//! let back = Plan::<f32>::new(&device, &Spec::complex(Direction::Inverse, &[4]).scale(0.25).in_place())?;
//! let numbers = [1.0, 2.0, 3.0, 4.0].map(|x| Complex::new(x, 0.0_f32));
//! let x = stream.upload(&numbers)?;
//! let mut y = stream.alloc_zeros::<Complex<f32>>(4)?;
//! forward.complex(&stream, &x, &mut y)?;
//! assert_eq!(stream.download(&y)?[..2], [Complex::new(10.0, 0.0), Complex::new(-2.0, 2.0)]);
//! back.in_place(&stream, &mut y)?;
//! assert_eq!(stream.download(&y)?, numbers);
//!
//! // Two images of 3 x 4 real numbers. Of each row of 4 there are 3 results: the others are their conjugates.
//! let images = Plan::<f64>::new(&device, &Spec::real_forward(&[3, 4]).batch(2))?;
//! let mut x = stream.upload(&[1.0_f64; 24])?;
//! let mut y = stream.alloc_zeros::<Complex<f64>>(18)?;
//! images.real_forward(&stream, &mut x, &mut y)?;
//! assert_eq!(stream.download(&y)?[9], Complex::new(12.0, 0.0));
//!
//! // Memory that is too short is an error before any call.
//! let error = images.real_forward(&stream, &mut x, &mut y.slice_mut(..17)?).unwrap_err();
//! assert_eq!(error.to_string(), "the output reaches over 18 elements, and the memory has 17");
//! # Ok(())
//! # }
//! ```
//!
//! What holds everywhere:
//! - A [`Spec`] says what is transformed: the lengths of one to three directions, the last of which is the fastest in memory, a number of transforms,
//!   strides, and a factor. A [`Plan`] is made of it, and executes it on any stream of its device.
//! - Executions return once they are submitted, and may be captured into a graph. They are ordered after conflicting uses of their memory on any
//!   stream or thread. Executions of one plan come one after the other, whichever streams they are on.
//! - Work memory comes from the device's pool, for each execution.
//! - A real transform may overwrite its input, gaps between elements included, and borrows it exclusively. What lies in the gaps of any output
//!   may be overwritten. A complex transform leaves its input as it is.
//! - A [`PlanCache`] keeps plans that are used again.
//!
//! # Platforms
//! rocFFT itself is found at run time. Its replacements are crates, one for each cargo feature, and both are on by default: `host` for
//! hip-host's threads of the CPU, `nvidia` for cuFFT on hip-nvidia. [`library()`] says what a platform has.
//!
//! `COVERAGE.md` lists each C function and what wraps it.

mod cache;
mod convert;
mod error;
mod extent;
mod library;
#[cfg(doctest)]
mod misuse;
mod ops;
mod plan;
mod raw;
mod real;
mod spec;

pub use cache::PlanCache;
pub use error::{Error, Result};
pub use library::library;
pub use num_complex::Complex;
pub use plan::Plan;
pub use real::Real;
pub use spec::{Direction, Layout, Spec, Transform};
