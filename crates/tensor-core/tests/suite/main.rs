//! The crate's tests, in one program.

mod attention;
mod common;
mod conv;
mod create;
mod decoder;
mod display;
mod errors;
mod index;
mod indexer;
mod layout;
mod matmul;
mod meaning;
mod nn;
mod npy;
mod numbers;
mod order;
mod rearrange;
mod pool;
mod reduce;
mod rope;
mod safetensors;
mod scan;
mod select;
mod sharing;
mod stat;
