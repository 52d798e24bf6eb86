//! The memory throughput of operations, alternating with PyTorch, and the host time of one launch.
//!
//! `throughput --help` has examples; docs/BENCHMARKING.md describes what is measured and how. A row is one
//! operation on one shape for one dtype. [`rows`] lists them; [`memory`], [`select`], [`attention`] and
//! [`products`] have their inputs. [`check`] compares each with the reference before [`measure`] times it
//! against the [`peer`]. [`targets`] has the targets, and [`audit`] checks that results are complete.

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
