//! Streams that another library made.

use crate::handle::Handle;
use crate::order::Producer;
use crate::raw;
use crate::{Device, Error, Result, Stream};
use hip_sys::Platform;
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
    ///
    /// Nobody captures it by another handle or another [`Stream`] while work is submitted through this one, and nobody submits work
    /// to it by another while this one captures: a graph would have work whose memory it does not keep. Work that comes while
    /// somebody else captures is refused where the driver says so, with [`Error::Capturing`].
    pub unsafe fn from_raw(device: &Device, raw: hipStream_t) -> Self {
        Self::from_handle(device, Handle::new(raw), false)
    }

    /// Refuses work for a stream of others that they capture. Our own streams are not asked: their captures are ours.
    ///
    /// # Errors
    /// [`Error::Capturing`], or what the driver answers.
    #[inline]
    pub(crate) fn check_capture_by_others(&self) -> Result<()> {
        if self.is_never_captured_by_others() { Ok(()) } else { self.producer().check_capture_by_others() }
    }

    /// Whether nobody else can capture it: its handle is ours, or it is the null stream, which is never captured.
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
