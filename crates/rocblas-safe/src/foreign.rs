//! Calls of other libraries.

use crate::handle::Uses;
use crate::{Handle, Result};
use hip_safe::{DeviceView, DeviceViewMut};
use hip_sys::RocblasTable;
use hip_sys::rocblas::rocblas_handle;

impl Handle {
    /// Submits a call of another library that takes rocBLAS's handles, such as rocSOLVER. `call` gets C's handle, with this handle's stream
    /// and workspace, while no other thread uses it and its device is current. The same rules as for operations hold: the call is ordered
    /// with all other uses of the memory, and a graph that captures it keeps the handle. Returns what `call` returns.
    ///
    /// # Errors
    /// [`Error::Hip`](crate::Error::Hip) if the memory cannot be used on the handle's stream.
    ///
    /// # Safety
    /// The call submits to the handle's stream alone. Its work uses the given memory and the handle's workspace, and nothing else; what it
    /// writes is in `writes`. It leaves the handle's stream, workspace and modes as they were, and does not keep the handle.
    pub unsafe fn submit_call<'b, R>(
        &self,
        op: &'static str,
        reads: &[DeviceView<'b, u8>],
        writes: &mut [DeviceViewMut<'b, u8>],
        call: impl FnOnce(rocblas_handle) -> R,
    ) -> Result<R> {
        let mut answer = None;
        let keep = |_: &RocblasTable, raw| {
            answer = Some(call(raw));
            Ok(())
        };
        // SAFETY: S2, S5, S23: as the caller vouches.
        unsafe { self.submit(Uses { op, reads, writes, for_host: false }, None, keep) }?;
        Ok(answer.expect("a submission without an error made the call"))
    }
}
