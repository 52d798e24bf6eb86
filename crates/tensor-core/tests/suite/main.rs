//! The crate's tests, in one program.

mod common;
mod create;
mod custom;
mod display;
mod dlpack;
mod errors;
mod layout;
mod matmul;
mod meaning;
mod npy;
mod numbers;
mod random;
mod reduce;
mod safetensors;
mod sharing;
