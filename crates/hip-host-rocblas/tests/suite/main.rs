//! rocBLAS's C functions on this platform, called as C would: each against plain loops in f64, in its three forms, with scalars and
//! results of the host's and of the device's.

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
