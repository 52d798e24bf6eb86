//! A shared library of somebody else's, found by name at run time and never closed.

use crate::{LoadError, loader};
use std::ffi::c_void;
use std::path::{Path, PathBuf};

/// An open library, kept for the life of the process.
pub struct SharedLibrary(loader::Source);

impl SharedLibrary {
    /// Where a library of ROCm's with one of these names is looked for, in order: see [`Library::load`](crate::Library::load).
    pub fn candidates(names: &[&str]) -> Vec<PathBuf> {
        loader::candidates(names)
    }

    /// Opens the first of the candidates that opens. `library` and `remedy` (a whole sentence) are for the error.
    ///
    /// # Errors
    /// [`LoadError::NotFound`] with every name tried.
    pub fn open(
        library: &'static str,
        remedy: &'static str,
        candidates: Vec<PathBuf>,
    ) -> Result<Self, LoadError> {
        loader::open_first(library, remedy, candidates).map(Self)
    }

    /// The address of a function, `None` if the library has no such symbol.
    pub fn address(&self, symbol: &str) -> Option<*mut c_void> {
        self.0.find(symbol)
    }

    /// The address of a function that the library has to have.
    ///
    /// # Errors
    /// [`LoadError::MissingSymbol`].
    pub fn required(&self, symbol: &str) -> Result<*mut c_void, LoadError> {
        self.address(symbol).ok_or_else(|| LoadError::MissingSymbol {
            library: self.path().display().to_string(),
            symbol: symbol.to_owned(),
        })
    }

    /// The file that it is, where the system tells by one of its functions; else what was opened.
    pub fn file(&self, function: *mut c_void) -> PathBuf {
        crate::files::file_of(function).unwrap_or_else(|| self.path().into())
    }

    /// What was opened: a full path, or a bare name that the system found.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}
