//! Launches of kernels whose arguments are buffers and then one value, such as element-wise kernels. The number of arguments is known at
//! compile time, so nothing is collected in a builder.

use super::is_within_linear_limits;
use crate::handle::Handle;
use crate::memory::Allocation;
use crate::order::{OwnStreamUses, UsesGuard};
use crate::raw;
use crate::{
    DeviceRepr, DeviceSlice, DeviceSliceMut, Error, Function, LaunchConfig, Result, Stream, drop_errors,
};
use hip_sys::{Access, Extent, Platform};
use std::ffi::c_void;
use std::sync::Arc;

/// A buffer argument of [`Stream::launch_buffers`]. It is for one launch and cannot be copied: a copy would be a second exclusive borrow.
pub struct BufferArgument<'a> {
    pub(crate) memory: &'a Arc<Allocation>,
    pub(crate) access: Access,
    /// Whether the whole buffer is borrowed exclusively for this use.
    pub(crate) exclusive: bool,
    pub(crate) address: Handle<c_void>,
    pub(crate) bytes: usize,
}

impl<'a> BufferArgument<'a> {
    /// A buffer that the kernel only reads.
    #[inline(always)]
    pub fn read<S: DeviceSlice + ?Sized>(source: &'a S) -> Self {
        let view = source.as_view();
        let address = Handle::new(view.device_ptr().cast_mut().cast());
        Self { memory: view.owner(), access: Access::READ, exclusive: false, address, bytes: view.byte_len() }
    }

    /// A buffer that the kernel reads and writes.
    #[inline(always)]
    pub fn write<S: DeviceSliceMut + ?Sized>(destination: &'a mut S) -> Self {
        let mut view = destination.as_view_mut();
        let address = Handle::new(view.device_ptr_mut().cast());
        let (memory, exclusive, bytes) = (view.owner(), view.is_exclusive(), view.byte_len());
        Self { memory, access: Access::WRITE, exclusive, address, bytes }
    }

    fn extent(&self) -> Extent {
        Extent { pointer: self.address.raw(), bytes: self.bytes, access: self.access }
    }

    #[inline(always)]
    fn own_stream(&self) -> &'a OwnStreamUses {
        self.memory.tracked().own_stream()
    }

    /// Whether the stream may use it without the lock.
    #[inline(always)]
    fn is_lock_free(&self, stream: &Stream) -> bool {
        self.bytes > 0 && self.own_stream().is_lock_free(stream)
    }

    /// Records a use by the stream's submission of this number, which took no lock.
    #[inline(always)]
    fn record(&self, count: u64) {
        // Without another reference no other thread reaches it before the borrow ends.
        if self.exclusive && self.memory.has_one_owner() {
            self.own_stream().record_exclusive_write(count);
        } else {
            self.own_stream().record(self.access);
        }
    }

    /// Whether the stream may use it with no check but the order of its uses.
    #[inline(always)]
    fn is_eligible(&self, stream: &Stream) -> bool {
        self.bytes > 0 && self.memory.is_eligible(stream)
    }

    /// Whether both arguments read the same memory.
    #[cold]
    fn is_read_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.memory, other.memory) && self.access == Access::READ && other.access == Access::READ
    }

    /// Locks its uses, if that needs no waiting and all conflicting uses are on this stream.
    #[inline(always)]
    fn try_lock(&self, stream: &Stream) -> Option<UsesGuard<'a>> {
        // SAFETY: S4, S8: the view that this was made from borrows the buffer exclusively for longer than the result lives.
        let exclusive = if self.exclusive { unsafe { self.memory.exclusive_uses() } } else { None };
        let guard = match exclusive {
            Some(guard) => guard,
            None => self.memory.tracked().try_guard_for(self.access)?,
        };
        guard.comes_after_all(stream, self.access).then_some(guard)
    }
}

impl Stream {
    /// Launches `function` with the arguments `buffers` and then `value`. It returns before the kernel has run. It does the same as
    /// [`Stream::launch`] with these arguments, with less overhead if grid and block have one dimension, no dynamic shared memory is
    /// requested, and the kernel requires no block size.
    ///
    /// ```
    /// use hip_safe::{BufferArgument, Device, LaunchConfig, Source};
    ///
    /// # fn main() -> hip_safe::Result<()> {
    /// let stream = Device::new(&hip_host::platform(), 0)?.new_stream()?;
    /// let text = "extern \"C\" __global__ void neg(const float* a, float* b, unsigned count) {
    ///     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    ///     if (i < count) b[i] = -a[i];
    /// }";
    /// let neg = stream.device().compile(&Source::new(text))?.function("neg")?;
    ///
    /// let a = stream.upload(&[1.0_f32, -2.0, 3.0])?;
    /// let mut b = stream.alloc_zeros::<f32>(3)?;
    /// let buffers = [BufferArgument::read(&a), BufferArgument::write(&mut b)];
    /// // SAFETY: the kernel reads three elements of a and writes three of b.
    /// unsafe { stream.launch_buffers(&neg, LaunchConfig::linear(3, 64), buffers, &3_u32) }?;
    /// assert_eq!(stream.download(&b)?, [-1.0, 2.0, -3.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Launch::submit`](crate::Launch::submit).
    ///
    /// # Safety
    /// As [`Launch::submit`](crate::Launch::submit): the kernel writes only buffers given by [`BufferArgument::write`].
    #[doc(alias = "hipModuleLaunchKernel")]
    #[inline(always)]
    pub unsafe fn launch_buffers<const N: usize, V: DeviceRepr>(
        &self,
        function: &Function,
        config: LaunchConfig,
        buffers: [BufferArgument<'_>; N],
        value: &V,
    ) -> Result<()> {
        let (address, bytes) = (std::ptr::from_ref(value).cast(), size_of::<V>());
        // SAFETY: S9: the caller's promise.
        let launched = unsafe {
            match &buffers[..] {
                [a, b] => self.try_launch_two(function, &config, [a, b], address, bytes),
                [a, b, c] => self.try_launch_three(function, &config, [a, b, c], address, bytes),
                _ => Ok(false),
            }
        };
        match launched {
            Ok(true) => Ok(()),
            // SAFETY: S9: as above; nothing was submitted.
            Ok(false) => unsafe { self.launch_by_builder(function, config, &buffers, value) },
            Err(error) => Err(*error),
        }
    }

    /// As [`Stream::try_launch`]. It is compiled once, in this crate.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn try_launch_two(
        &self,
        function: &Function,
        config: &LaunchConfig,
        buffers: [&BufferArgument<'_>; 2],
        value: *const c_void,
        value_bytes: usize,
    ) -> Result<bool, Box<Error>> {
        // SAFETY: S9: the caller's promise.
        unsafe { self.try_launch(function, config, buffers, value, value_bytes) }
    }

    /// As [`Stream::try_launch_two`].
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn try_launch_three(
        &self,
        function: &Function,
        config: &LaunchConfig,
        buffers: [&BufferArgument<'_>; 3],
        value: *const c_void,
        value_bytes: usize,
    ) -> Result<bool, Box<Error>> {
        // SAFETY: S9: the caller's promise.
        unsafe { self.try_launch(function, config, buffers, value, value_bytes) }
    }

    /// The fast path: there is nothing to wait for, no lock is contended, the stream does not capture, and no check fails. Otherwise it does
    /// nothing and returns false.
    ///
    /// # Safety
    /// As [`Stream::launch_buffers`]; `value` points to `value_bytes` bytes.
    #[inline(always)]
    unsafe fn try_launch<const N: usize>(
        &self,
        function: &Function,
        config: &LaunchConfig,
        buffers: [&BufferArgument<'_>; N],
        value: *const c_void,
        value_bytes: usize,
    ) -> Result<bool, Box<Error>> {
        let device = self.device();
        let eligible = device == function.device()
            && function.takes_pointers_and(N, value_bytes)
            && is_within_linear_limits(function, config, device.properties())
            && device.inner().may_call()
            && self.is_never_captured_by_others();
        if !eligible {
            return Ok(false);
        }
        // The only drop here that can fail is the guard of the current device.
        let _later = (!device.inner().is_only()).then(drop_errors::later);
        let Some(_turn) = self.turn().try_get() else { return Ok(false) };
        let mut guards = None;
        if !buffers.iter().all(|buffer| buffer.is_lock_free(self)) {
            guards = self.try_lock_all(&buffers);
            if guards.is_none() {
                return Ok(false);
            }
        }
        let mut addresses = buffers.map(|buffer| buffer.address.raw());
        let addresses = addresses.each_mut().map(|address| std::ptr::from_mut(address).cast());
        let arguments = Arguments::<N> { addresses, value: value.cast_mut() };
        let extents = raw::wants_extents(device.platform()).then(|| buffers.map(|buffer| buffer.extent()));
        let extents = extents.as_ref().map(|extents| &extents[..]);
        let LaunchConfig { grid, block, shared_bytes } = *config;
        let doing = || function.launching(self);
        // SAFETY: S1, S3, S5, S9: number and sizes of the arguments are those that the kernel declares; the caller promises the rest.
        let launch = |p: &Platform| unsafe {
            let (function, s, arguments) = (function.raw(), self.raw(), arguments.pointers());
            raw::announce(p, s, extents);
            raw::module_launch_kernel(p, function, grid, block, shared_bytes, s, arguments)
                .inspect_err(|_| raw::announce(p, s, None))
        };
        // Errors are large. Boxing them makes the successful path cheaper.
        let launched = device.inner().run_allowed(doing, launch).map_err(Box::new);
        let count = self.timeline().note_submission();
        match guards {
            None => buffers.iter().for_each(|buffer| buffer.record(count)),
            Some(guards) => self.commit_all(&buffers, guards, count),
        }
        function.module().note_launch(self);
        launched.map(|()| true)
    }

    /// How each buffer is used, if all locks that are needed can be taken without waiting.
    #[inline(never)]
    fn try_lock_all<'a, const N: usize>(&self, buffers: &[&BufferArgument<'a>; N]) -> Option<[Use<'a>; N]> {
        let mut all = [const { Use::LockFree }; N];
        for (index, buffer) in buffers.iter().enumerate() {
            if buffer.is_lock_free(self) {
                continue;
            }
            if !buffer.is_eligible(self) {
                return None;
            }
            all[index] = match buffer.try_lock(self) {
                Some(guard) => Use::Locked(guard),
                None if buffers[..index].iter().any(|other| buffer.is_read_as(other)) => Use::SameAsEarlier,
                None => return None,
            };
        }
        Some(all)
    }

    /// Records the uses by the submission of this number.
    #[inline(never)]
    fn commit_all<const N: usize>(&self, buffers: &[&BufferArgument<'_>; N], all: [Use<'_>; N], count: u64) {
        for (buffer, used) in buffers.iter().zip(all) {
            match used {
                Use::LockFree => buffer.record(count),
                Use::Locked(mut guard) => guard.commit(self, buffer.access, count),
                Use::SameAsEarlier => {}
            }
        }
    }

    /// The general path, through [`Launch`](crate::Launch).
    ///
    /// # Safety
    /// As [`Stream::launch_buffers`].
    #[cold]
    unsafe fn launch_by_builder<V: DeviceRepr>(
        &self,
        function: &Function,
        config: LaunchConfig,
        buffers: &[BufferArgument<'_>],
        value: &V,
    ) -> Result<()> {
        let mut launch = self.launch(function, config);
        for buffer in buffers {
            launch.buffer(buffer);
        }
        // SAFETY: S9: the caller's promise.
        unsafe { launch.value(value).submit() }
    }
}

/// How a launch uses a buffer.
enum Use<'a> {
    /// Recorded without the lock.
    LockFree,
    Locked(UsesGuard<'a>),
    /// Recorded with an earlier argument that reads the same memory.
    SameAsEarlier,
}

/// The array of pointers to a kernel's arguments.
#[repr(C)]
struct Arguments<const N: usize> {
    addresses: [*mut c_void; N],
    value: *mut c_void,
}

impl<const N: usize> Arguments<N> {
    fn pointers(&self) -> *mut *mut c_void {
        // The driver only reads through them.
        std::ptr::from_ref(self).cast_mut().cast()
    }
}
