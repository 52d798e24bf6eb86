//! How much memory operations move a second, beside PyTorch in turns, and what one launch costs the host.
//!
//! `throughput --help` has examples; docs/BENCHMARKING.md says what is measured and how. A row is one operation on one shape for one
//! dtype: [`rows`] lists them, [`memory`], [`select`], [`attention`] and [`products`] have their inputs; [`check`] holds each against the
//! reference before [`measure`] takes its time beside the [`peer`]. [`targets`] says what each has to reach, and [`audit`] whether
//! figures are whole.

pub mod attention;
pub mod audit;
pub mod check;
pub mod copy;
pub mod data;
pub mod host_time;
pub mod measure;
pub mod memory;
pub mod peer;
pub mod products;
pub mod replay;
pub mod report;
pub mod results;
pub mod rows;
pub mod run;
pub mod select;
pub mod targets;
