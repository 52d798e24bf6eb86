//! Streams that another library made.

use crate::handle::Handle;
use crate::{Device, Stream};
use hip_sys::hip::hipStream_t;

impl Stream {
    /// Takes a stream that another library made, to submit work to it that is ordered as on our own. It is not destroyed, and
    /// the last clone waits for its work. The null stream may be taken as well.
    ///
    /// ```
    /// # fn main() -> hip_safe::Result<()> {
    /// # let device = hip_safe::Device::new(&hip_host::platform(), 0)?;
    /// # let theirs = device.new_stream()?;
    /// // SAFETY: their stream is of this device and outlives ours.
    /// let stream = unsafe { hip_safe::Stream::from_raw(&device, theirs.raw()) };
    /// assert_eq!(stream.download(&stream.upload(&[1_u8, 2])?)?, [1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// The handle is a stream of this device, valid until the last clone of what is given is dropped and the work that it got is
    /// complete. Work that others submit to it and that uses memory of ours goes through [`Stream::submission`].
    pub unsafe fn from_raw(device: &Device, raw: hipStream_t) -> Self {
        Self::from_handle(device, Handle::new(raw), false)
    }
}
