//! The crate's tests, in one program.

mod common;
mod create;
mod display;
mod errors;
mod layout;
mod matmul;
mod meaning;
mod npy;
mod numbers;
mod rearrange;
mod reduce;
mod safetensors;
mod select;
mod sharing;
mod stat;
