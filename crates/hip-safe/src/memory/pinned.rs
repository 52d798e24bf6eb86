//! Pinned (page-locked) host memory, for asynchronous copies.

use super::allocation::byte_length;
use super::check::{BufferKind, Registration};
use super::device_copy::check_lengths;
use crate::handle::Handle;
use crate::mutation::Wait;
use crate::order::{Memory, Tracked, not_in_host_function};
use crate::raw::{self, Failure};
use crate::{AnyBits, Device, DeviceSlice, DeviceSliceMut, Error, Result, Stream, trace};
use hip_sys::hip::{hipError_t, hipHostMallocPortable, hipMemcpyKind};
use hip_sys::{Access, Extent, Platform};
use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `len` elements of `T` in page-locked host memory, for asynchronous copies by any device of its platform.
///
/// [`Stream::copy_from_pinned`] and [`Stream::copy_to_pinned`] return before the copy is done. The buffer records pending copies. Conflicting
/// copies on other streams wait for them on the device. [`PinnedBuffer::as_slice`] waits on the host for copies that write the buffer;
/// [`PinnedBuffer::as_mut_slice`] and the drop wait for all of them. A wait on the host covers everything that the copy's stream has by then, so
/// submit copies that should overlap with later work to a stream of their own. No guard is involved: forgetting the buffer leaks it, which is
/// safe.
pub struct PinnedBuffer<T: AnyBits> {
    memory: Arc<PinnedMemory>,
    len: usize,
    elements: PhantomData<T>,
}

/// Page-locked memory, and the copies that use it.
pub(crate) struct PinnedMemory {
    device: Device,
    address: Handle<c_void>,
    bytes: usize,
    tracked: Tracked,
    /// How many graphs read it, and how many write it.
    graphs: [AtomicUsize; 2],
    /// Its entry in the list of live buffers, if that is kept.
    listed: Option<Registration>,
}

impl<T: AnyBits> PinnedBuffer<T> {
    /// Allocates `len` elements whose bytes are all zero.
    ///
    /// # Errors
    /// [`Error::SizeOverflow`], [`Error::HostMemory`] if the system cannot lock that much, or the driver's error.
    #[doc(alias = "hipHostMalloc")]
    pub fn zeroed(device: &Device, len: usize) -> Result<Self> {
        let bytes = byte_length::<T>(len)?;
        let memory = Arc::new(PinnedMemory::new(device, bytes)?);
        let (address, size, align) = (memory.address.raw().addr(), size_of::<T>(), align_of::<T>());
        if !address.is_multiple_of(align) {
            return Err(Error::Recast { bytes, address, size, align });
        }
        Ok(Self { memory, len, elements: PhantomData })
    }

    /// A copy of a slice.
    ///
    /// # Errors
    /// As [`PinnedBuffer::zeroed`].
    pub fn from_slice(device: &Device, values: &[T]) -> Result<Self> {
        let mut buffer = Self::zeroed(device, values.len())?;
        buffer.as_mut_slice()?.copy_from_slice(values);
        Ok(buffer)
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Names it in lists of live buffers: see [`MemoryCheck`](crate::MemoryCheck). While that is off, nothing is done.
    pub fn set_name(&self, name: impl fmt::Display) {
        if let Some(listed) = &self.memory.listed {
            listed.set_name(name);
        }
    }

    /// The buffer itself, named by [`PinnedBuffer::set_name`].
    #[must_use]
    pub fn named(self, name: impl fmt::Display) -> Self {
        self.set_name(name);
        self
    }

    /// The device it was allocated for.
    pub fn device(&self) -> &Device {
        &self.memory.device
    }

    /// Its address in host memory, for direct calls of a platform's library; dangling if it has no bytes. Uses through this address are not
    /// recorded.
    pub fn as_ptr(&self) -> *const T {
        self.pointer()
    }

    /// The same, for writing.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.pointer()
    }

    /// Its elements, after waiting for a copy that writes them.
    ///
    /// # Errors
    /// The error of the wait, which is that of the work before it on that stream; [`Error::PinnedInGraph`] while there is a
    /// [`Graph`](crate::Graph) that writes it; [`Error::InHostFunction`] in a function that a stream calls, which
    /// [`Stream::launch_host_with`] gives the elements to.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.memory.check_graphs(Access::READ)?;
        self.memory.tracked.wait_for_writer(Wait::HostRead)?;
        self.touch(Access::READ);
        // SAFETY: S6, S7, S12: no copy writes them now, and none can start while this borrow lives: that takes `&mut`.
        Ok(unsafe { std::slice::from_raw_parts(self.pointer(), self.len) })
    }

    /// Its elements, to write, after waiting for every copy that uses them.
    ///
    /// # Errors
    /// As [`PinnedBuffer::as_slice`]; [`Error::PinnedInGraph`] also for a graph that reads it.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.memory.check_graphs(Access::WRITE)?;
        self.memory.tracked.wait_for_all(Wait::HostWrite)?;
        self.touch(Access::WRITE);
        // SAFETY: S6, S7, S12: no copy uses them now, and none can start while this borrow lives.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.pointer(), self.len) })
    }

    /// A copy of its elements, after waiting for work that writes them. Allowed while graphs use the buffer.
    ///
    /// # Errors
    /// The error of the wait; [`Error::HostMemory`]; [`Error::InHostFunction`] in a function that a stream calls.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut values = Vec::new();
        let bytes = self.len * size_of::<T>();
        values.try_reserve_exact(self.len).map_err(|_| Error::HostMemory { requested: bytes })?;
        self.memory.tracked.wait_for_writer(Wait::HostRead)?;
        // Only a launch of a graph can have come since. The second wait usually returns at once.
        let reading = self.memory.tracked.begin(Access::READ)?;
        reading.wait(Wait::HostRead)?;
        self.touch(Access::READ);
        // SAFETY: S6, S7, S12: no work writes them now, and none can be submitted before the call is over.
        values.extend_from_slice(unsafe { std::slice::from_raw_parts(self.pointer(), self.len) });
        drop(reading);
        Ok(values)
    }

    /// Writes all of its elements, after waiting for all work that uses them. Allowed while graphs use the buffer.
    ///
    /// # Errors
    /// The error of the wait; [`Error::LengthMismatch`]; [`Error::InHostFunction`] in a function that a stream calls.
    pub fn copy_from_slice(&mut self, values: &[T]) -> Result<()> {
        check_lengths("writing pinned memory", self.len, values.len())?;
        self.memory.tracked.wait_for_all(Wait::HostWrite)?;
        let writing = self.memory.tracked.begin(Access::WRITE)?;
        writing.wait(Wait::HostWrite)?;
        self.touch(Access::WRITE);
        // SAFETY: S6, S7, S12: no work uses them now, and none can be submitted before the call is over.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(), self.len) }.copy_from_slice(values);
        drop(writing);
        Ok(())
    }

    /// Waits for every pending copy.
    ///
    /// # Errors
    /// The error of the wait; [`Error::InHostFunction`] in a function that a stream calls.
    pub fn wait(&self) -> Result<()> {
        self.memory.tracked.wait_for_all(Wait::HostWrite)
    }

    /// Waits for pending copies, frees the memory, and returns the error of that. If a wait fails, the memory stays allocated.
    ///
    /// # Errors
    /// The error of the wait or of the free.
    #[doc(alias = "hipHostFree")]
    pub fn close(self) -> Result<()> {
        Arc::into_inner(self.memory).map_or(Ok(()), |mut last| last.release())
    }

    /// The memory that it owns.
    pub(crate) fn memory(&self) -> &Arc<PinnedMemory> {
        &self.memory
    }

    /// Tells a platform that checks the order of operations that the program uses the elements now.
    fn touch(&self, access: Access) {
        let (pointer, bytes) = (self.memory.address.raw().cast_const(), self.len * size_of::<T>());
        raw::touch(self.memory.device.platform(), Extent { pointer, bytes, access });
    }

    /// The first element; aligned and not null even where there is no memory.
    pub(crate) fn pointer(&self) -> *mut T {
        let address = self.memory.address;
        if address.is_null() { std::ptr::dangling_mut() } else { address.raw().cast() }
    }
}

impl Stream {
    /// Copies all of `source` over all of `destination` and returns at once. The source may be read meanwhile; writing it
    /// or dropping it waits.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if `destination` is on another device, or the two belong to
    /// different platforms, [`Error::LengthMismatch`], or the driver's error.
    #[doc(alias = "hipMemcpyHtoDAsync")]
    pub fn copy_from_pinned<T, D>(&self, source: &PinnedBuffer<T>, destination: &mut D) -> Result<()>
    where
        T: AnyBits,
        D: DeviceSliceMut<Item = T> + ?Sized,
    {
        let mut to = destination.as_view_mut();
        self.device().check_same_platform("the pinned buffer", &source.memory.device)?;
        check_lengths("copying to the device", to.len(), source.len)?;
        let (bytes, kind) = (to.byte_len(), hipMemcpyKind::hipMemcpyHostToDevice);
        if bytes == 0 {
            return Ok(());
        }
        let (from, address) = (source.memory.address.raw().cast_const(), to.device_ptr_mut().cast());
        let doing = || format!("copying {bytes} bytes from pinned memory on {self}");
        let mut submission = self.submission();
        submission.write(&mut to);
        submission.add(Memory::Pinned(&source.memory), Access::READ, from, bytes);
        // SAFETY: S1, S2, S3, S5, S7: both ranges are that long; the source knows of the copy before anybody can free it.
        submission.run(doing, |p, s, _| unsafe { raw::memcpy_async(p, address, from, bytes, kind, s) })
    }

    /// Copies all of `source` over all of `destination` and returns at once. Reading the destination, writing it or
    /// dropping it waits.
    ///
    /// # Errors
    /// As [`Stream::copy_from_pinned`].
    #[doc(alias = "hipMemcpyDtoHAsync")]
    pub fn copy_to_pinned<S>(&self, source: &S, destination: &mut PinnedBuffer<S::Item>) -> Result<()>
    where
        S: DeviceSlice + ?Sized,
        S::Item: AnyBits,
    {
        let from = source.as_view();
        self.device().check_same_platform("the pinned buffer", &destination.memory.device)?;
        check_lengths("copying to the host", from.len(), destination.len)?;
        let (bytes, kind) = (from.byte_len(), hipMemcpyKind::hipMemcpyDeviceToHost);
        if bytes == 0 {
            return Ok(());
        }
        let (address, to) = (from.device_ptr().cast(), destination.memory.address.raw());
        let doing = || format!("copying {bytes} bytes to pinned memory on {self}");
        let mut submission = self.submission();
        submission.read(&from);
        submission.add(Memory::Pinned(&destination.memory), Access::WRITE, to.cast_const(), bytes);
        // SAFETY: S1, S2, S3, S5, S7: both ranges are that long; the destination knows of the copy before its borrow ends.
        submission.run(doing, |p, s, _| unsafe { raw::memcpy_async(p, to, address, bytes, kind, s) })
    }
}

impl PinnedMemory {
    /// Zeroed memory; none at all, and without a call, for 0 bytes.
    fn new(device: &Device, bytes: usize) -> Result<Self> {
        let address = if bytes == 0 { Handle::null() } else { lock_pages(device, bytes)? };
        let listed = if bytes == 0 { None } else { Registration::new(BufferKind::Pinned, device, bytes) };
        let (tracked, graphs) = (Tracked::default(), Default::default());
        Ok(Self { device: device.clone(), address, bytes, tracked, graphs, listed })
    }

    /// Counts one more graph that uses it.
    pub(crate) fn enter_graph(&self, access: Access) {
        self.users(access).fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn leave_graph(&self, access: Access) {
        self.users(access).fetch_sub(1, Ordering::AcqRel);
    }

    fn users(&self, access: Access) -> &AtomicUsize {
        &self.graphs[usize::from(access == Access::WRITE)]
    }

    /// Refuses a borrow that conflicts with a graph: a launch cannot check for borrows.
    fn check_graphs(&self, access: Access) -> Result<()> {
        not_in_host_function()?;
        let used = |access| self.users(access).load(Ordering::Acquire) > 0;
        let writes = used(Access::WRITE);
        if writes || access == Access::WRITE && used(Access::READ) {
            return Err(Error::PinnedInGraph { writes });
        }
        Ok(())
    }

    pub(crate) fn tracked(&self) -> &Tracked {
        &self.tracked
    }

    fn release(&mut self) -> Result<()> {
        let address = self.address.take();
        if address.is_null() {
            return Ok(());
        }
        let listed = ManuallyDrop::new(self.listed.take());
        self.tracked.wait_to_release(Wait::HostRelease)?;
        // SAFETY: S1, S3, S4: this is its only owner, and every copy that used it is complete.
        self.device.run(|| "freeing pinned memory".into(), |p| unsafe { raw::host_free(p, address) })?;
        drop(ManuallyDrop::into_inner(listed));
        trace::unpinned(self.device.label(), self.bytes);
        Ok(())
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        let device = self.device.clone();
        device.release_in_drop(|| self.release());
        // Memory that was not freed stays listed.
        std::mem::forget(self.listed.take());
    }
}

fn lock_pages(device: &Device, bytes: usize) -> Result<Handle<c_void>> {
    // SAFETY: S1, S3: the device is current; the flag makes the memory known to every device.
    let attempt = |p: &Platform| match unsafe { raw::host_malloc(p, bytes, hipHostMallocPortable) } {
        Ok(address) if address.is_null() => Ok(None),
        Ok(address) => Ok(Some(address)),
        Err(Failure { code: hipError_t::hipErrorOutOfMemory, .. }) => Ok(None),
        Err(failure) => Err(failure),
    };
    let address = device
        .run(|| format!("allocating {bytes} bytes of pinned memory"), attempt)?
        .ok_or(Error::HostMemory { requested: bytes })?;
    trace::pinned(device.label(), bytes);
    // SAFETY: S2, S15: it was just allocated with that length, and there is no other reference.
    unsafe { address.raw().cast::<u8>().write_bytes(0, bytes) };
    Ok(address)
}

impl<T: AnyBits> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedBuffer<{}>[{}] of {}", std::any::type_name::<T>(), self.len, self.memory.device)
    }
}
