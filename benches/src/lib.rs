//! Shared code of the benchmarks: hip-host in a few calls, clocks, and the table that compares results with
//! targets; also [`throughput`], which measures operations on a device alternating with PyTorch, and
//! [`plot`], which draws its results, and [`libraries`], which measures the safe crates of ROCm's libraries.
//!
//! `cargo bench -p benches` measures the host and prints the results; docs/BENCHMARKING.md describes what is
//! measured and how.

pub mod clock;
pub mod graphs;
pub mod hip;
pub mod libraries;
pub mod overhead;
pub mod plot;
pub mod table;
pub mod throughput;
