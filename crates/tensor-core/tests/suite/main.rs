//! The crate's tests, in one program.

mod common;
mod create;
mod display;
mod errors;
mod index;
mod indexer;
mod layout;
mod matmul;
mod meaning;
mod npy;
mod numbers;
mod order;
mod reduce;
mod safetensors;
mod scan;
mod sharing;
