//! What the benchmarks share: hip-host in a few calls, clocks, and the table that holds figures against their bars; and
//! [`throughput`], the program that measures operations on a device beside PyTorch, with [`plot`], which draws its figures.
//!
//! `cargo bench -p benches` measures the host and prints; docs/BENCHMARKING.md says what is measured and how.

pub mod clock;
pub mod graphs;
pub mod hip;
pub mod overhead;
pub mod plot;
pub mod table;
pub mod throughput;
