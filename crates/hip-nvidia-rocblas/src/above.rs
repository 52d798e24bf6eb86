//! What a library above rocBLAS needs, such as rocSOLVER: it takes rocBLAS's handles.

use super::handle::{Handle, with};
use hip_nvidia::library::RawStream;
use hip_sys::rocblas::{rocblas_handle, rocblas_status};
use std::any::Any;
use std::ffi::c_void;

/// A handle, to a library above this one.
pub struct Above<'a>(&'a Handle);

/// Calls `body` with a handle, while its device's context is current. Returns its status, or that of a handle that is none.
/// `rocblas_status_size_unchanged` if the handle is asked for sizes of workspaces.
pub fn with_handle(
    handle: rocblas_handle,
    body: impl FnOnce(Above<'_>) -> Result<(), rocblas_status>,
) -> rocblas_status {
    with(handle, |handle| body(Above(handle)))
}

impl Above<'_> {
    /// The driver's handle of its stream.
    pub fn stream(&self) -> RawStream {
        self.0.driver_stream()
    }

    /// The workspace that the program gave it, and its bytes; null and 0 if there is none.
    pub fn workspace(&self) -> (*mut c_void, usize) {
        let workspace = self.0.workspace();
        (workspace.start as *mut c_void, workspace.bytes)
    }

    /// What the library keeps with the handle; `make` makes it at the first call. It is dropped with the handle, while its device's context is
    /// current.
    ///
    /// # Errors
    /// That of `make`. `rocblas_status_internal_error` if another library keeps something else.
    pub fn keep<T: Any + Send + Sync>(
        &self,
        make: impl FnOnce() -> Result<T, rocblas_status>,
    ) -> Result<&T, rocblas_status> {
        if self.0.kept.get().is_none() {
            // Another thread may have been first: then this one is dropped.
            let _ = self.0.kept.set(Box::new(make()?));
        }
        let kept = self.0.kept.get().and_then(|kept| kept.downcast_ref());
        kept.ok_or(rocblas_status::rocblas_status_internal_error)
    }
}
