//! Copies between pageable host slices and device memory. They return when the slice is not used any more.

use super::device_copy::check_lengths;
use crate::raw;
use crate::{
    AnyBits, DeviceBuffer, DeviceRepr, DeviceSlice, DeviceSliceMut, DeviceView, Error, Result, Stream,
};
use hip_sys::Platform;
use hip_sys::hip::hipMemcpyKind;
use std::cell::Cell;
use std::ffi::c_void;

const THROUGH_PINNED: &str = "copy through a PinnedBuffer, which the graph can keep, or before and after";

impl Stream {
    /// A buffer with the elements of `source`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], or the driver's error.
    pub fn upload<T: DeviceRepr>(&self, source: &[T]) -> Result<DeviceBuffer<T>> {
        // SAFETY: S15: the copy that follows writes every element, before anything else on this stream.
        let mut buffer = unsafe { self.alloc_uninit(source.len()) }?;
        self.copy_from_host(source, &mut buffer)?;
        Ok(buffer)
    }

    /// Copies all of a host slice over all of `destination`. When it returns, `source` has been read.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if `destination` is on another device, [`Error::LengthMismatch`], or the driver's
    /// error.
    #[doc(alias = "hipMemcpyHtoD")]
    pub fn copy_from_host<T, D>(&self, source: &[T], destination: &mut D) -> Result<()>
    where
        T: DeviceRepr,
        D: DeviceSliceMut<Item = T> + ?Sized,
    {
        let mut to = destination.as_view_mut();
        check_lengths("copying to the device", to.len(), source.len())?;
        let (bytes, kind) = (to.byte_len(), hipMemcpyKind::hipMemcpyHostToDevice);
        if bytes == 0 {
            return Ok(());
        }
        let (from, address) = (source.as_ptr().cast(), to.device_ptr_mut().cast());
        let doing = || format!("copying {bytes} bytes to the device on {self}");
        let mut submission = self.submission();
        submission.write(&mut to);
        submission.not_captured("a copy from a slice of the host", THROUGH_PINNED);
        let called = Cell::new(false);
        let copied = submission.run_to_end(doing, |p, s, _| {
            called.set(true);
            // SAFETY: S1, S2, S3, S5, S6: both ranges are that long; the call has read the host's side when it returns.
            unsafe { raw::memcpy_with_stream(p, address, from, bytes, kind, s) }
        });
        copied.inspect_err(|_| self.wait_or_abort(called.get(), "reads"))
    }

    /// The elements of `source`, after waiting for the work before on this stream.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if it is on another device, [`Error::HostMemory`], the error of the work before, or
    /// the driver's error.
    pub fn download<S>(&self, source: &S) -> Result<Vec<S::Item>>
    where
        S: DeviceSlice + ?Sized,
        S::Item: AnyBits,
    {
        let from = source.as_view();
        let mut values = Vec::<S::Item>::new();
        values.try_reserve_exact(from.len()).map_err(|_| Error::HostMemory { requested: from.byte_len() })?;
        // SAFETY: S2, S7: the vector has room for that many elements and outlives the call.
        unsafe { self.read_into(from, values.as_mut_ptr().cast()) }?;
        // SAFETY: S6, S15: the copy is complete and wrote that many elements; every bit pattern is a value.
        unsafe { values.set_len(from.len()) };
        Ok(values)
    }

    /// Copies all of `source` over all of a host slice, after waiting for the work before on this stream.
    ///
    /// # Errors
    /// As [`Stream::download`], and [`Error::LengthMismatch`].
    #[doc(alias = "hipMemcpyDtoH")]
    pub fn copy_to_host<S>(&self, source: &S, destination: &mut [S::Item]) -> Result<()>
    where
        S: DeviceSlice + ?Sized,
        S::Item: AnyBits,
    {
        let from = source.as_view();
        check_lengths("copying to the host", from.len(), destination.len())?;
        // SAFETY: S2, S7: the slice is as long as the view and borrowed for the whole call.
        unsafe { self.read_into(from, destination.as_mut_ptr().cast()) }
    }

    /// Called after a failed copy, which may still run and use the caller's slice. A lost device does not run it. If the device is not lost and
    /// no wait succeeds, aborting is the only way to stay sound.
    #[cold]
    fn wait_or_abort(&self, called: bool, uses: &str) {
        if called && self.device().is_usable() && self.wait_to_release().is_err() && self.device().is_usable()
        {
            eprintln!(
                "hip-safe: a copy on {self} that {uses} memory of the caller's failed and cannot be waited for"
            );
            std::process::abort();
        }
    }

    /// Copies the bytes of `from` to `to` and waits for them.
    ///
    /// # Safety
    /// `to` is valid for writing that many bytes.
    unsafe fn read_into<T: AnyBits>(&self, from: DeviceView<'_, T>, to: *mut c_void) -> Result<()> {
        let (bytes, kind) = (from.byte_len(), hipMemcpyKind::hipMemcpyDeviceToHost);
        if bytes == 0 {
            return Ok(());
        }
        let (address, before) = (from.device_ptr().cast(), self.submitted());
        let doing = || format!("copying {bytes} bytes to the host on {self}");
        let mut submission = self.submission();
        submission.not_captured("a copy to a slice of the host", THROUGH_PINNED);
        let called = Cell::new(false);
        let copy = |p: &Platform, s| {
            called.set(true);
            // SAFETY: S1, S2, S3, S5: both ranges are that long; the call has written the host's side when it returns.
            unsafe { raw::memcpy_with_stream(p, to, address, bytes, kind, s) }
        };
        let copied = submission.read(&from).run_to_end(doing, |p, s, _| copy(p, s));
        copied.inspect_err(|_| self.wait_or_abort(called.get(), "writes"))?;
        // The copy is complete, and so is everything before it. If one submission was counted since, it is this one.
        let after = self.submitted();
        self.note_completion(if after == before + 1 { after } else { before });
        Ok(())
    }
}
