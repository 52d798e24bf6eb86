//! MIOpen's functions on the threads of the CPU: raw calls, with values computed by hand.

#[macro_use]
#[path = "../../../hip-host/tests/common/mod.rs"]
mod common;
#[macro_use]
mod library;

mod attention;
mod bad_arguments;
mod convolutions;
mod elementwise;
mod fusions;
mod layers;
mod losses;
mod networks;
mod norms;
mod reductions;
mod sizes;
mod streams;
mod training;
