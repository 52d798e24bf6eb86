//! One suite of cases for every implementation of HIP's C functions: AMD's library, and each platform of ours. It has not run
//! on AMD's library with a card yet: its expectations come from HIP's tests and documentation, and from AMD's sources.
//!
//! A [`Case`] calls HIP through the tables of a [`hip_sys::Platform`] and compares the results with values found by other
//! means. A [`Suite`] runs cases on one platform. `differences.toml` lists known differences of platforms with a reason; a
//! listed difference that does not occur is an error too.
//!
//! ```
//! use conformance::{Suite, Verdict};
//!
//! let suite = Suite::new("host", None)?;
//! let jobs = suite.jobs(Some("memory/allocate/*"), None)?;
//! let good = |verdict| matches!(verdict, Verdict::Passed | Verdict::Known { .. });
//! assert!(jobs.iter().all(|job| good(suite.run(job))));
//! # Ok::<(), String>(())
//! ```
//!
//! # Adding a case
//! Add a function to a file in `src/cases/`, and its name to the `cases!` list at the top of that file:
//!
//! ```text
//! pub(crate) const CASES: &[Case] = cases!("memory/allocate": zero_bytes);
//!
//! /// Zero bytes are a null pointer and no error.
//! fn zero_bytes(b: &Bench) -> Outcome {
//!     let mut pointer = dangling();
//!     expect!(b, hipMalloc(&mut pointer, 0) => SUCCESS);
//!     same("the pointer", pointer, null_mut())
//! }
//! ```
//!
//! Kernels are HIP text in `kernels/`, which the platform's own hiprtc compiles when a case asks for them.
//! `HIPSTACK_CONFORMANCE_RTC_OPTIONS` holds more options for it, with spaces between, for an installation that needs them.

#[macro_use]
mod macros;

mod bench;
mod case;
mod cases;
pub mod cli;
mod codes;
mod compile;
mod differences;
mod filter;
mod isolate;
mod report;
mod suite;

pub use bench::Bench;
pub use case::{Case, Failure, Group, Outcome, Scope};
pub use cases::GROUPS;
pub use differences::{Difference, known as known_differences};
pub use isolate::{CHILD_FLAG, child, child_with};
pub use report::{Entry, Report};
pub use suite::{Device, Job, PLATFORMS, Suite, Verdict, open};
