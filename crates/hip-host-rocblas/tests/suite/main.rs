//! rocBLAS's C functions on this platform, called as from C. Each is compared with plain loops in f64, in its three forms, with scalars
//! and results in host and in device memory.

#[path = "../../../hip-host/tests/common/mod.rs"]
#[macro_use]
mod common;
#[macro_use]
mod harness;

mod behaviour;
mod level1;
mod level1_ex;
mod level2;
mod level3;
mod products;
mod reference;
mod refusals;
