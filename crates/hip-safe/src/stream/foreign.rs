//! Streams that another library made.

use crate::handle::Handle;
use crate::order::Producer;
use crate::raw;
use crate::{Device, Error, Result, Stream};
use hip_sys::Platform;
use hip_sys::hip::hipStream_t;

impl Stream {
    /// Wraps a stream that another library made, so that work can be submitted to it with the same ordering as on a stream of this crate. The
    /// last clone waits for the stream's work and does not destroy the stream. The null stream is allowed.
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
    /// The handle is a stream of this device. It is valid until the last clone of the result is dropped and its work is complete. Other code
    /// submits work that uses memory of this crate through [`Stream::submission`].
    ///
    /// The stream is not captured through the bare handle or another [`Stream`] while work is submitted through this one, and no work is
    /// submitted through those while this one captures. Otherwise a graph would contain work whose memory it does not own. Where the driver
    /// reports a foreign capture, work is refused with [`Error::Capturing`].
    pub unsafe fn from_raw(device: &Device, raw: hipStream_t) -> Self {
        Self::from_handle(device, Handle::new(raw), false)
    }

    /// Refuses work for a foreign stream that somebody else captures. The driver is not asked about our own streams.
    ///
    /// # Errors
    /// [`Error::Capturing`], or the driver's error.
    #[inline]
    pub(crate) fn check_capture_by_others(&self) -> Result<()> {
        if self.is_never_captured_by_others() { Ok(()) } else { self.producer().check_capture_by_others() }
    }

    /// Whether no other code can capture it: the handle is ours, or it is the null stream, which is never captured.
    #[inline]
    pub(crate) fn is_never_captured_by_others(&self) -> bool {
        self.is_owned() || self.raw().is_null()
    }
}

impl Producer {
    /// As [`Stream::check_capture_by_others`].
    pub(crate) fn check_capture_by_others(&self) -> Result<()> {
        let Self { device, raw: handle, owned, id } = self;
        if *owned || handle.is_null() {
            return Ok(());
        }
        let doing = || format!("asking whether somebody else captures {id}");
        // SAFETY: S1, S3: the stream is live and its device current.
        let ask = |p: &Platform| unsafe { raw::graphs::stream_is_capturing(p, handle.raw()) };
        if device.run(doing, ask)? {
            let remedy = "end the capture that was begun by another handle, or submit the work by that";
            return Err(Error::capturing("work for a stream that somebody else captures", remedy));
        }
        Ok(())
    }
}
