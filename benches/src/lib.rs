//! What the benchmarks share: hip-host in a few calls, clocks, and the table that holds figures against their bars.
//!
//! `cargo bench -p benches` measures and prints; docs/BENCHMARKING.md says what and how.

pub mod clock;
pub mod hip;
pub mod table;
