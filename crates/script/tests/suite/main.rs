//! The language, on the CPU.

#[path = "../common/mod.rs"]
mod common;

mod builtins;
mod each;
mod errors;
mod files;
mod limits;
mod texts;
mod values;
