//! Run-time compilation: HIP source written for GPUs, compiled and run. Every expected value is worked out by
//! hand.

#[macro_use]
#[path = "../common/mod.rs"]
mod common;
#[macro_use]
mod program;

mod basics;
mod forms;
mod images;
mod misuse;
mod numbers;
