//! One call of the library that submits work, with all the memory that the work uses.

use crate::owner::library;
use crate::raw::Failure;
use crate::{Element, Error, Handle, Result, Tensor, TensorMut};
use hip_safe::{DeviceBuffer, DeviceSlice, DeviceSliceMut, Submission};
use hip_sys::Miopen;
use hip_sys::miopen::miopenHandle_t;
use std::any::Any;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// Temporary memory of one call, from the pool. Only that call uses it.
pub(crate) struct Scratch(DeviceBuffer<u8>);

/// A call in preparation.
pub(crate) struct Work<'a> {
    handle: &'a Handle,
    submission: Submission<'a>,
    doing: &'static str,
    /// The memory that is used, and whether it is written.
    ranges: Vec<(Range<usize>, bool)>,
    /// Whether the library runs parts of it on its own streams.
    spreads: bool,
}

impl Scratch {
    pub(crate) fn new(handle: &Handle, bytes: usize) -> Result<Self> {
        // SAFETY: S15: only calls of the library get the address, which write a workspace before they read it.
        Ok(Self(unsafe { handle.stream().alloc_uninit(bytes) }?))
    }

    /// As [`Scratch::new`], with zeros in it.
    pub(crate) fn zeroed(handle: &Handle, bytes: usize) -> Result<Self> {
        Ok(Self(handle.stream().alloc_zeros(bytes)?))
    }
}

impl<'a> Work<'a> {
    pub(crate) fn new(handle: &'a Handle, doing: &'static str) -> Self {
        let mut submission = handle.stream().submission();
        let shared: Arc<dyn Any + Send + Sync> = Arc::<crate::handle::Shared>::clone(handle.shared());
        submission.keep(shared).order_by(handle.inside());
        Self { handle, submission, doing, ranges: Vec::with_capacity(8), spreads: false }
    }

    /// Declares that the call waits on the host.
    pub(crate) fn waits(mut self, remedy: &'static str) -> Self {
        self.submission.not_captured("a call that measures or waits", remedy);
        self
    }

    /// Declares that the library runs parts of it on its own streams. If the call fails midway, those are waited for.
    pub(crate) fn spreads(mut self) -> Self {
        self.spreads = true;
        self
    }

    /// Declares a tensor that is read, and returns its address.
    pub(crate) fn read<T: Element>(&mut self, tensor: &'a Tensor<'_, T>) -> *const c_void {
        self.read_slice(tensor.elements())
    }

    /// Declares elements that are read, and returns their address; null if there are none.
    pub(crate) fn read_slice<S: DeviceSlice>(&mut self, elements: &'a S) -> *const c_void {
        let view = elements.as_view();
        if view.is_empty() {
            return null();
        }
        let start = view.device_ptr().addr();
        self.ranges.push((start..start + view.byte_len(), false));
        self.submission.read(elements);
        view.device_ptr().cast()
    }

    /// Declares a tensor that is written, and returns its address.
    pub(crate) fn write<T: Element>(&mut self, tensor: &'a mut TensorMut<'_, T>) -> *mut c_void {
        self.write_slice(tensor.memory())
    }

    /// Declares elements that are written, and returns their address; null if there are none.
    pub(crate) fn write_slice<S: DeviceSliceMut>(&mut self, elements: &'a mut S) -> *mut c_void {
        let (address, bytes) = {
            let mut view = elements.as_view_mut();
            (view.device_ptr_mut(), view.byte_len())
        };
        if bytes == 0 {
            return null_mut();
        }
        self.ranges.push((address.addr()..address.addr() + bytes, true));
        self.submission.write(elements);
        address.cast()
    }

    /// Declares memory that only this call uses, or that its caller keeps for the next call; null if it has no bytes.
    pub(crate) fn scratch(&mut self, scratch: &'a mut Scratch) -> *mut c_void {
        self.write_slice(&mut scratch.0)
    }

    /// Submits the call.
    pub(crate) fn run<R>(
        mut self,
        call: impl FnOnce(&Miopen, miopenHandle_t) -> Result<R, Failure>,
    ) -> Result<R> {
        self.check_apart()?;
        let Self { handle, submission, doing, spreads, .. } = &mut self;
        let mut called = false;
        // SAFETY: S1, S2, S3, S5: the call gives its work to the handle's stream, which nobody changes while the handle is borrowed;
        // its tensors lie inside of the memory that was named here, and its device is current.
        let answer = unsafe {
            submission.submit(*doing, |_| {
                let library = library(handle.platform())?;
                called = true;
                call(library, handle.shared().lock().raw())
            })
        };
        if *spreads && called && !matches!(answer, Ok(Ok(_))) {
            handle.come_back();
        }
        answer?.map_err(|failure| Error::of(failure, doing))
    }

    fn check_apart(&self) -> Result<()> {
        for (at, (range, written)) in self.ranges.iter().enumerate() {
            for (other, other_written) in &self.ranges[..at] {
                let apart = range.end <= other.start || other.end <= range.start;
                if !apart && (*written || *other_written) {
                    return Err(Error::Overlap { doing: self.doing });
                }
            }
        }
        Ok(())
    }
}
