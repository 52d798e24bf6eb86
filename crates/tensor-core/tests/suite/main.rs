//! The crate's tests, in one program.

mod common;
mod conv;
mod create;
mod display;
mod errors;
mod layout;
mod matmul;
mod meaning;
mod npy;
mod numbers;
mod pool;
mod reduce;
mod safetensors;
mod sharing;
