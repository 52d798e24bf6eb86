//! How much memory operations move a second, beside PyTorch, and what one launch costs the host.
//!
//! `throughput --help` has examples; docs/BENCHMARKING.md says what is measured and how. A row is one operation for one dtype:
//! [`rows`] lists them, and [`products`] those at the sizes of networks; [`check`] holds each against the reference before [`measure`] takes its time.

pub mod check;
pub mod data;
pub mod host_time;
pub mod measure;
pub mod products;
pub mod records;
pub mod replay;
pub mod report;
pub mod rows;
pub mod run;
