//! Asynchronous fills of device memory, and copies within a device.

use crate::handle::Handle;
use crate::raw;
use crate::{AnyBits, DeviceBuffer, DeviceRepr, DeviceSlice, DeviceSliceMut, Error, Result, Stream};
use hip_sys::hip::hipMemcpyKind;

impl Stream {
    /// Sets every byte of `destination` to `byte`.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if it is on another device, or the driver's error.
    #[doc(alias = "hipMemsetAsync")]
    pub fn memset<D>(&self, destination: &mut D, byte: u8) -> Result<()>
    where
        D: DeviceSliceMut + ?Sized,
        D::Item: AnyBits,
    {
        let mut to = destination.as_view_mut();
        let bytes = to.byte_len();
        if bytes == 0 {
            return Ok(());
        }
        let address = Handle::new(to.device_ptr_mut().cast());
        let doing = || format!("setting {bytes} bytes on {self}");
        let mut submission = self.submission();
        submission.write(&mut to);
        // SAFETY: S1, S2, S3, S5: the view is that long, its device is current, and its other uses are ordered.
        submission.run(doing, |p, s, _| unsafe { raw::memset_async(p, address, byte, bytes, s) })
    }

    /// Copies all of `source` over all of `destination`.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if one of them is on another device, [`Error::LengthMismatch`], or the driver's
    /// error.
    #[doc(alias = "hipMemcpyDtoDAsync")]
    pub fn copy<S, D>(&self, source: &S, destination: &mut D) -> Result<()>
    where
        S: DeviceSlice + ?Sized,
        D: DeviceSliceMut<Item = S::Item> + ?Sized,
    {
        let (from, mut to) = (source.as_view(), destination.as_view_mut());
        check_lengths("copying on the device", to.len(), from.len())?;
        let (bytes, kind) = (from.byte_len(), hipMemcpyKind::hipMemcpyDeviceToDevice);
        if bytes == 0 {
            return Ok(());
        }
        let (source, destination) = (from.device_ptr().cast(), to.device_ptr_mut().cast());
        let doing = || format!("copying {bytes} bytes on {self}");
        let mut submission = self.submission();
        submission.read(&from).write(&mut to);
        // SAFETY: S1, S2, S3, S5: both views are that long, disjoint by their borrows, and their other uses are ordered.
        submission.run(doing, |p, s, _| unsafe { raw::memcpy_async(p, destination, source, bytes, kind, s) })
    }

    /// A buffer with the elements of `source`.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if it is on another device, [`Error::OutOfMemory`], or the driver's error.
    pub fn clone_of<T: DeviceRepr>(
        &self,
        source: &(impl DeviceSlice<Item = T> + ?Sized),
    ) -> Result<DeviceBuffer<T>> {
        let from = source.as_view();
        self.device().check_same("the buffer", from.owner().device())?;
        // SAFETY: S15: the copy that follows writes every element, before anything else on this stream.
        let mut copy = unsafe { self.alloc_uninit(from.len()) }?;
        self.copy(&from, &mut copy)?;
        Ok(copy)
    }
}

/// Refuses lengths that differ.
pub(crate) fn check_lengths(what: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(Error::LengthMismatch { what, expected, got }) }
}
