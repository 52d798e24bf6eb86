//! Language models: their text, their architectures, and the generation of tokens.

#![forbid(unsafe_code)]

pub mod text;
