//! Models for the examples and their tests, written with tensor-core alone.

mod minilm;

pub use minilm::{Error, MiniLm};
