//! Models of the examples and of their tests, written with tensor-core alone.

mod minilm;

pub use minilm::{Error, MiniLm};
