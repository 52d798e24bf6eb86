//! Parity cases, their inputs, judging and reports: every device is compared with the reference, element by element.
//!
//! ```
//! use parity::{devices, filter, registry, run_cases, table};
//!
//! // A case is an operation on given dtypes, shapes and layouts. Its id describes and selects it.
//! let cases = filter::select(registry::all(), "gelu/f16/transposed");
//! assert_eq!(cases[0].id(), "gelu/f16/transposed/matrix/[37,129]");
//!
//! // Its inputs come from the seed, the expected results from the `reference` crate.
//! let report = run_cases(&cases, &[devices::cpu()], 7, &mut || ());
//! assert_eq!(report.totals.failures(), 0, "{}", table::render(&report, ""));
//! ```
//!
//! # Parts
//! - [`case`]: a [`Case`], its id and its stable hash; [`registry`]: all cases, one file per family; [`filter`]:
//!   selecting cases.
//! - [`operation`]: an operation that a file of the registry defines; [`custom`]: operations of one's own.
//!   [`tensors`]: comparing files of tensors.
//! - [`inputs`] and [`random`]: the contents of arrays; [`view`]: the elements of views.
//! - [`devices`] and [`execute`]: running a case through tensor-core; [`evaluate`]: evaluating it with the reference;
//!   [`mod@judge`]: comparing.
//! - [`export`]: exporting cases for another program; [`witness`]: judging that program's results.
//! - [`record`]: a device's results as a file, and comparing a run with it ([`run_against`]); [`comparison`]: comparing
//!   two such files; [`listed`]: comparing a run with known differences.
//! - [`report`], [`table`], [`html`]: the results. [`history`]: earlier runs. [`histogram`], [`worst`]: how far off a
//!   result is, and the inputs of its worst element. [`weights`]: parity on a checkpoint. [`sabotage`]: planted errors,
//!   which test the judge. [`cli`]: the command line of `cargo xtask parity`.
//!
//! # Invariants
//! - A case's inputs depend only on the seed and its id. The random numbers and the hash never change their meaning.
//! - The `reference` crate decides what is right, and does not depend on devices. Views are resolved here a second
//!   time, independently of tensor-core's layouts.
//! - A device's error or panic fails its case, not the run.
//!
//! # Limits
//! The crate does not depend on platforms or kernels. It knows devices by the names that tensor-core opens.

mod blocks;
pub mod case;
pub mod choice;
pub mod cli;
pub mod comparison;
pub mod compile;
pub mod custom;
pub mod devices;
mod error;
pub mod evaluate;
pub mod execute;
pub mod export;
pub mod filter;
pub mod histogram;
pub mod history;
pub mod html;
pub mod inputs;
pub mod judge;
#[cfg(test)]
mod judge_tests;
pub mod listed;
pub mod operation;
mod program;
pub mod random;
pub mod record;
pub mod registry;
pub mod report;
mod run;
pub mod sabotage;
pub mod table;
pub mod tensors;
pub mod view;
pub mod weights;
pub mod witness;
pub mod worst;

pub use case::Case;
pub use cli::ParityArgs;
pub use devices::NamedDevice;
pub use error::Error;
pub use report::Report;
pub use run::{Against, run_against, run_cases};
