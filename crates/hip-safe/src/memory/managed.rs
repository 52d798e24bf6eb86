//! Managed memory: one address for the host and the device, with pages that migrate on access.

use super::allocation::{self, Allocation, byte_length};
use super::check::BufferKind;
use super::unpooled::Unpooled;
use super::view::sealed::Sealed;
use crate::handle::Handle;
use crate::mutation::Wait;
use crate::raw;
use crate::{AnyBits, Device, DeviceSlice, DeviceSliceMut, DeviceView, DeviceViewMut, Error, Result, Stream};
use hip_sys::hip::{hipError_t, hipMemoryAdvise};
use hip_sys::{Access, Extent, Platform};
use std::ffi::{c_int, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// `len` elements of `T` that the host and the device use at one address.
///
/// For the device it is a buffer as [`DeviceBuffer`](crate::DeviceBuffer) is, with the same order of its uses. For the host it
/// is a slice: [`ManagedBuffer::as_slice`] waits for the work that writes it, [`ManagedBuffer::as_mut_slice`] and its drop for
/// all work that uses it, and no work that conflicts can be submitted while the slice is borrowed.
pub struct ManagedBuffer<T: AnyBits> {
    allocation: Arc<Allocation>,
    len: usize,
    elements: PhantomData<T>,
}

/// A location of managed memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManagedLocation<'a> {
    /// In the host's memory.
    Host,
    /// In a device's memory.
    Device(&'a Device),
}

/// How managed memory will be used, for [`ManagedBuffer::advise`].
#[doc(alias = "hipMemoryAdvise")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ManagedAdvice {
    /// It is mostly read, so each location may have a copy. The location given is ignored.
    ReadMostly,
    /// It is written as well. The default.
    NotReadMostly,
    /// It should stay at the location.
    PreferredLocation,
    /// It may be anywhere. The default. The location given is ignored.
    NoPreferredLocation,
    /// The location uses it, and should access it without page faults.
    AccessedBy,
    /// The location does not use it. The default.
    NotAccessedBy,
}

impl Stream {
    /// Allocates `len` elements of managed memory whose bytes are all zero.
    ///
    /// ```
    /// # fn main() -> hip_safe::Result<()> {
    /// # let stream = hip_safe::Device::new(&hip_host::platform(), 0)?.new_stream()?;
    /// let mut numbers = stream.alloc_managed::<u32>(1000)?;
    /// numbers.as_mut_slice()?[7] = 5;
    /// let copy = stream.clone_of(&numbers)?;
    /// stream.memset(&mut numbers, 1)?;
    /// assert_eq!(numbers.as_slice()?[7], 0x0101_0101); // waits for the fill
    /// assert_eq!(stream.download(&copy)?[7], 5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotOffered`] where the device has no managed memory, or the host may not use it while kernels run;
    /// [`Error::SizeOverflow`], or the driver's error after the pool has returned its unused segments.
    #[doc(alias = "hipMallocManaged")]
    pub fn alloc_managed<T: AnyBits>(&self, len: usize) -> Result<ManagedBuffer<T>> {
        let (bytes, device) = (byte_length::<T>(len)?, self.device());
        let allocation = match bytes {
            0 => Allocation::empty(self),
            _ => Allocation::of_unpooled(self, allocate(device, bytes)?, BufferKind::Managed, bytes),
        };
        let (address, size, align) = (allocation.address().raw().addr(), size_of::<T>(), align_of::<T>());
        if !address.is_multiple_of(align) {
            return Err(Error::Recast { bytes, address, size, align });
        }
        let allocation = Arc::new(allocation);
        let mut buffer = ManagedBuffer { allocation, len, elements: PhantomData };
        self.memset(&mut buffer, 0)?;
        Ok(buffer)
    }

    /// Migrates the buffer's pages to a location, in the order of this stream. For the order of uses it counts as a read.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] for a stream of another device, or a location of another platform, or the driver's error.
    #[doc(alias = "hipMemPrefetchAsync")]
    pub fn prefetch<T: AnyBits>(
        &self,
        buffer: &ManagedBuffer<T>,
        location: ManagedLocation<'_>,
    ) -> Result<()> {
        let (bytes, location) = (buffer.byte_len(), location.raw(self.device())?);
        if bytes == 0 {
            return Ok(());
        }
        let address = buffer.address().raw();
        let mut submission = self.submission();
        submission.read(buffer);
        let doing = || format!("moving {bytes} bytes of managed memory on {self}");
        // SAFETY: S1, S2, S3, S5: the buffer is that long, and this use is recorded before its borrow ends.
        submission
            .run(doing, |p, s, _| unsafe { raw::memory::prefetch_async(p, address, bytes, location, s) })
    }
}

impl<T: AnyBits> ManagedBuffer<T> {
    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its size in bytes.
    pub fn byte_len(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The stream that it was allocated on.
    pub fn stream(&self) -> &Stream {
        self.allocation.stream()
    }

    /// The device it is of.
    pub fn device(&self) -> &Device {
        self.stream().device()
    }

    /// Its elements, after waiting for the work that writes them.
    ///
    /// # Errors
    /// The error of the wait, which is that of the work before it on that stream; [`Error::InHostFunction`] in a function that a
    /// stream calls.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.allocation.tracked().wait_for_writer(Wait::ManagedRead)?;
        self.touch(Access::READ);
        // SAFETY: S6, S7, S12: no work writes them now, and none can start while this borrow lives: that takes `&mut`.
        Ok(unsafe { std::slice::from_raw_parts(self.pointer(), self.len) })
    }

    /// Its elements, to write, after waiting for all work that uses them.
    ///
    /// # Errors
    /// As [`ManagedBuffer::as_slice`].
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.allocation.tracked().wait_for_all(Wait::ManagedWrite)?;
        self.touch(Access::WRITE);
        // SAFETY: S6, S7, S12: no work uses them now, and none can start while this borrow lives.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.pointer(), self.len) })
    }

    /// All of it, for work that reads it.
    pub fn view(&self) -> DeviceView<'_, T> {
        DeviceView::new(self.address(), self.len, self.stream(), &self.allocation)
    }

    /// All of it, for work that writes it.
    pub fn view_mut(&mut self) -> DeviceViewMut<'_, T> {
        DeviceViewMut::new(self.address(), self.len, self.stream(), &self.allocation)
    }

    /// Advises the driver on how it will be used. This affects the location of pages, never their content.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] for a location of another platform, or the driver's error.
    #[doc(alias = "hipMemAdvise")]
    pub fn advise(&self, advice: ManagedAdvice, location: ManagedLocation<'_>) -> Result<()> {
        let (bytes, location) = (self.byte_len(), location.raw(self.device())?);
        if bytes == 0 {
            return Ok(());
        }
        let address = self.address().raw();
        // SAFETY: S1, S2, S3: the buffer is that long and its device current.
        let advise = |p: &Platform| unsafe { raw::memory::advise(p, address, bytes, advice.raw(), location) };
        self.device().run(|| format!("advising on {bytes} bytes of managed memory"), advise)
    }

    /// Names it in lists of live buffers: see [`MemoryCheck`](crate::MemoryCheck). While that is off, nothing is done.
    pub fn set_name(&self, name: impl fmt::Display) {
        self.allocation.set_name(name);
    }

    /// The buffer itself, named by [`ManagedBuffer::set_name`].
    #[must_use]
    pub fn named(self, name: impl fmt::Display) -> Self {
        self.set_name(name);
        self
    }

    /// Waits for the work that uses it, frees the memory and returns any error. If that work cannot be waited for, the memory
    /// stays allocated.
    ///
    /// # Errors
    /// The error of the wait or of the free.
    #[doc(alias = "hipFree")]
    pub fn close(self) -> Result<()> {
        allocation::close(self.allocation)
    }

    fn address(&self) -> Handle<c_void> {
        self.allocation.address()
    }

    /// The first element; aligned and not null even where there is no memory.
    fn pointer(&self) -> *mut T {
        let address = self.address();
        if address.is_null() { std::ptr::dangling_mut() } else { address.raw().cast() }
    }

    /// Tells a platform that checks the order of operations that the program uses the elements now.
    fn touch(&self, access: Access) {
        let (pointer, bytes) = (self.address().raw().cast_const(), self.byte_len());
        raw::touch(self.device().platform(), Extent { pointer, bytes, access });
    }
}

impl ManagedLocation<'_> {
    fn raw(self, of: &Device) -> Result<c_int> {
        match self {
            Self::Host => Ok(raw::memory::HOST),
            Self::Device(device) => {
                of.check_same_platform("the location", device)?;
                Ok(device.raw_ordinal())
            }
        }
    }
}

impl ManagedAdvice {
    fn raw(self) -> hipMemoryAdvise {
        match self {
            Self::ReadMostly => hipMemoryAdvise::hipMemAdviseSetReadMostly,
            Self::NotReadMostly => hipMemoryAdvise::hipMemAdviseUnsetReadMostly,
            Self::PreferredLocation => hipMemoryAdvise::hipMemAdviseSetPreferredLocation,
            Self::NoPreferredLocation => hipMemoryAdvise::hipMemAdviseUnsetPreferredLocation,
            Self::AccessedBy => hipMemoryAdvise::hipMemAdviseSetAccessedBy,
            Self::NotAccessedBy => hipMemoryAdvise::hipMemAdviseUnsetAccessedBy,
        }
    }
}

fn allocate(device: &Device, bytes: usize) -> Result<Unpooled> {
    let properties = device.properties();
    let refused = match (properties.managed_memory, properties.concurrent_managed_access) {
        (true, true) => None,
        (true, false) => Some("managed memory that the host may use while kernels run"),
        (false, _) => Some("managed memory"),
    };
    if let Some(what) = refused {
        return Err(Error::NotOffered { device: device.label(), what });
    }
    let attempt = || {
        // SAFETY: S1, S3: the device is current.
        let allocate = |p: &Platform| unsafe { raw::memory::malloc_managed(p, bytes) };
        device.run(|| format!("allocating {bytes} bytes of managed memory on {device}"), allocate)
    };
    let address = match attempt() {
        // Unused segments of the pool may be what is missing.
        Err(error) if error.hip_code() == Some(hipError_t::hipErrorOutOfMemory.0) => {
            device.trim_memory(0)?;
            attempt()
        }
        answer => answer,
    }?;
    if address.is_null() {
        return Err(Error::NotOffered { device: device.label(), what: "managed memory of that size" });
    }
    // SAFETY: S4: it was just allocated, and this is how managed memory is freed.
    Ok(unsafe { Unpooled::new(address, 0, raw::free, "freeing managed memory") })
}

impl<T: AnyBits> Sealed for ManagedBuffer<T> {}

impl<T: AnyBits> DeviceSlice for ManagedBuffer<T> {
    type Item = T;

    fn as_view(&self) -> DeviceView<'_, T> {
        self.view()
    }
}

impl<T: AnyBits> DeviceSliceMut for ManagedBuffer<T> {
    fn as_view_mut(&mut self) -> DeviceViewMut<'_, T> {
        self.view_mut()
    }
}

impl<T: AnyBits> fmt::Debug for ManagedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ManagedBuffer<{}>[{}] on {}", std::any::type_name::<T>(), self.len, self.stream())
    }
}
