//! Files: reading and writing tensors.

mod atomic;
pub mod npy;
mod npy_header;
pub mod npz;
pub mod safetensors;
mod safetensors_header;
mod source;

/// What readers and writers of formats are built on: [`file::Source`] reads by position, and [`file::write`] replaces a
/// file completely or not at all.
pub mod file {
    pub use super::atomic::write;
    pub use super::source::Source;
}

use std::path::Path;

use crate::error::{Error, ErrorKind};

/// Converts bytes that are booleans to 0 or 1.
fn truth_values(bytes: &mut [u8]) {
    bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
}

/// An I/O error of a file.
fn io_error(operation: &'static str, path: &Path, source: std::io::Error) -> Error {
    Error::new(operation, ErrorKind::Io { path: path.to_owned(), source })
}

/// An error in a file's content.
fn file_error(operation: &'static str, path: &Path, what: impl Into<String>) -> Error {
    Error::new(operation, ErrorKind::File { path: path.to_owned(), what: what.into() })
}
