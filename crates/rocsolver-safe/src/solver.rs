//! The operations' home.

use crate::{Error, Result, library};
use hip_sys::RocsolverTable;
use rocblas_safe::Handle;
use std::fmt;

/// rocSOLVER's operations on a handle of rocBLAS, as methods.
#[derive(Clone, Copy)]
pub struct Solver<'h> {
    pub(crate) handle: &'h Handle,
    pub(crate) table: &'h RocsolverTable,
}

impl<'h> Solver<'h> {
    /// The operations on the stream of a handle.
    ///
    /// # Errors
    /// [`Error::NoLibrary`] if the platform has no rocSOLVER.
    pub fn new(handle: &'h Handle) -> Result<Self> {
        match library(handle.device().platform()) {
            Ok(library) => Ok(Self { handle, table: library.table() }),
            Err(error) => Err(Error::NoLibrary(error.clone())),
        }
    }

    /// The handle.
    pub fn handle(&self) -> &'h Handle {
        self.handle
    }
}

impl fmt::Debug for Solver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Solver with {:?}", self.handle)
    }
}
