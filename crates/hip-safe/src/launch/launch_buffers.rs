//! A launch of a kernel that takes buffers and one value behind them, as kernels of elements do: their number is known where it is written,
//! and nothing is collected.

use super::is_within_linear_limits;
use crate::handle::Handle;
use crate::memory::Allocation;
use crate::order::{Home, Taken};
use crate::raw;
use crate::{
    DeviceRepr, DeviceSlice, DeviceSliceMut, Error, Function, LaunchConfig, Result, Stream, drop_errors,
};
use hip_sys::{Access, Extent, Platform};
use std::ffi::c_void;
use std::sync::Arc;

/// A buffer that a kernel uses: an argument of [`Stream::launch_over`]. It is for one launch: a copy would be a second exclusive borrow.
pub struct BufferArgument<'a> {
    pub(crate) memory: &'a Arc<Allocation>,
    pub(crate) access: Access,
    /// The buffer is borrowed for this use alone.
    pub(crate) alone: bool,
    pub(crate) address: Handle<c_void>,
    pub(crate) bytes: usize,
}

impl<'a> BufferArgument<'a> {
    /// A buffer that the kernel only reads.
    #[inline(always)]
    pub fn read<S: DeviceSlice + ?Sized>(source: &'a S) -> Self {
        let view = source.as_view();
        let address = Handle::new(view.device_ptr().cast_mut().cast());
        Self { memory: view.owner(), access: Access::READ, alone: false, address, bytes: view.byte_len() }
    }

    /// A buffer that the kernel reads and writes.
    #[inline(always)]
    pub fn write<S: DeviceSliceMut + ?Sized>(destination: &'a mut S) -> Self {
        let mut view = destination.as_view_mut();
        let address = Handle::new(view.device_ptr_mut().cast());
        let (memory, alone, bytes) = (view.owner(), view.is_alone(), view.byte_len());
        Self { memory, access: Access::WRITE, alone, address, bytes }
    }

    fn extent(&self) -> Extent {
        Extent { pointer: self.address.raw(), bytes: self.bytes, access: self.access }
    }

    #[inline(always)]
    fn home(&self) -> &'a Home {
        self.memory.tracked().home()
    }

    /// Whether the stream may use it without its lock.
    #[inline(always)]
    fn is_at_home(&self, stream: &Stream) -> bool {
        self.bytes > 0 && self.home().is_alone(stream)
    }

    /// The stream has a submission of that number that uses it, and did not need its lock.
    #[inline(always)]
    fn note(&self, count: u64) {
        // Without another reference nobody else reaches it before the borrow is over.
        if self.alone && self.memory.has_one_owner() {
            self.home().note_write_alone(count);
        } else {
            self.home().note(self.access);
        }
    }

    /// Whether the stream may have it without anything beside the order of its uses.
    #[inline(always)]
    fn is_usual(&self, stream: &Stream) -> bool {
        self.bytes > 0 && self.memory.is_usual(stream)
    }

    /// Whether both read the same memory.
    #[cold]
    fn is_read_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.memory, other.memory) && self.access == Access::READ && other.access == Access::READ
    }

    /// Its uses, if they can be had at once and what this use has to come after is on the stream already.
    #[inline(always)]
    fn take(&self, stream: &Stream) -> Option<Taken<'a>> {
        // SAFETY: S4, S8: the view that this was made of has the buffer borrowed exclusively, for longer than the result lives.
        let alone = if self.alone { unsafe { self.memory.uses_alone() } } else { None };
        let taken = match alone {
            Some(taken) => taken,
            None => self.memory.tracked().try_take_for(self.access)?,
        };
        taken.comes_after_all(stream, self.access).then_some(taken)
    }
}

impl Stream {
    /// Launches `function` with `buffers` and `value` behind them as its arguments; it returns before the kernel has run. The same as
    /// [`Stream::launch`] with these arguments, and quicker if grid and block have one dimension, no shared memory is added, and the
    /// kernel requires no size of block.
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
    /// unsafe { stream.launch_over(&neg, LaunchConfig::linear(3, 64), buffers, &3_u32) }?;
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
    pub unsafe fn launch_over<const N: usize, V: DeviceRepr>(
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
                [a, b] => self.launch_over_two(function, &config, [a, b], address, bytes),
                [a, b, c] => self.launch_over_three(function, &config, [a, b, c], address, bytes),
                _ => Ok(false),
            }
        };
        match launched {
            Ok(true) => Ok(()),
            // SAFETY: S9: as above; nothing was done.
            Ok(false) => unsafe { self.launch_collected(function, config, &buffers, value) },
            Err(error) => Err(*error),
        }
    }

    /// As [`Stream::launch_at_once`]. It is compiled here, whoever calls it.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn launch_over_two(
        &self,
        function: &Function,
        config: &LaunchConfig,
        buffers: [&BufferArgument<'_>; 2],
        value: *const c_void,
        value_bytes: usize,
    ) -> Result<bool, Box<Error>> {
        // SAFETY: S9: the caller's promise.
        unsafe { self.launch_at_once(function, config, buffers, value, value_bytes) }
    }

    /// As [`Stream::launch_over_two`].
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn launch_over_three(
        &self,
        function: &Function,
        config: &LaunchConfig,
        buffers: [&BufferArgument<'_>; 3],
        value: *const c_void,
        value_bytes: usize,
    ) -> Result<bool, Box<Error>> {
        // SAFETY: S9: the caller's promise.
        unsafe { self.launch_at_once(function, config, buffers, value, value_bytes) }
    }

    /// The launch if nothing is unusual: nothing to wait for, nobody else who submits work on the memory just now, no capture, no error to
    /// come before the call. Otherwise nothing is done, and the answer is false.
    ///
    /// # Safety
    /// As [`Stream::launch_over`]; the value is of so many bytes.
    #[inline(always)]
    unsafe fn launch_at_once<const N: usize>(
        &self,
        function: &Function,
        config: &LaunchConfig,
        buffers: [&BufferArgument<'_>; N],
        value: *const c_void,
        value_bytes: usize,
    ) -> Result<bool, Box<Error>> {
        let device = self.device();
        let usual = device == function.device()
            && function.takes_pointers_and(N, value_bytes)
            && is_within_linear_limits(function, config, device.properties())
            && device.inner().may_call()
            && self.is_never_captured_by_others();
        if !usual {
            return Ok(false);
        }
        // Nothing but the device that was current before can go wrong in a drop here.
        let _later = (!device.inner().is_only()).then(drop_errors::later);
        let Some(_turn) = self.turn().try_get() else { return Ok(false) };
        let mut taken = None;
        if !buffers.iter().all(|buffer| buffer.is_at_home(self)) {
            taken = self.take_all(&buffers);
            if taken.is_none() {
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
        // SAFETY: S1, S3, S5, S9: as many arguments as the kernel declares, each as large; the rest is the caller's word.
        let launch = |p: &Platform| unsafe {
            let (function, s, arguments) = (function.raw(), self.raw(), arguments.pointers());
            raw::announce(p, s, extents);
            raw::module_launch_kernel(p, function, grid, block, shared_bytes, s, arguments)
                .inspect_err(|_| raw::announce(p, s, None))
        };
        // Errors are large: nothing is moved about where there is none.
        let launched = device.inner().run_allowed(doing, launch).map_err(Box::new);
        let count = self.timeline().note_submission();
        match taken {
            None => buffers.iter().for_each(|buffer| buffer.note(count)),
            Some(taken) => self.commit_all(&buffers, taken, count),
        }
        function.module().note_launch(self);
        launched.map(|()| true)
    }

    /// How each is used, if those that are not at home can be had at once.
    #[inline(never)]
    fn take_all<'a, const N: usize>(&self, buffers: &[&BufferArgument<'a>; N]) -> Option<[Use<'a>; N]> {
        let mut all = [const { Use::AtHome }; N];
        for (index, buffer) in buffers.iter().enumerate() {
            if buffer.is_at_home(self) {
                continue;
            }
            if !buffer.is_usual(self) {
                return None;
            }
            all[index] = match buffer.take(self) {
                Some(taken) => Use::Taken(taken),
                None if buffers[..index].iter().any(|other| buffer.is_read_as(other)) => Use::TakenBefore,
                None => return None,
            };
        }
        Some(all)
    }

    /// They have a submission of that number.
    #[inline(never)]
    fn commit_all<const N: usize>(&self, buffers: &[&BufferArgument<'_>; N], all: [Use<'_>; N], count: u64) {
        for (buffer, used) in buffers.iter().zip(all) {
            match used {
                Use::AtHome => buffer.note(count),
                Use::Taken(mut taken) => taken.commit(self, buffer.access, count),
                Use::TakenBefore => {}
            }
        }
    }

    /// The launch, whatever it takes.
    ///
    /// # Safety
    /// As [`Stream::launch_over`].
    #[cold]
    unsafe fn launch_collected<V: DeviceRepr>(
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
    /// It is noted without a lock.
    AtHome,
    Taken(Taken<'a>),
    /// By another argument, which reads it too.
    TakenBefore,
}

/// Where a kernel's arguments are.
#[repr(C)]
struct Arguments<const N: usize> {
    addresses: [*mut c_void; N],
    value: *mut c_void,
}

impl<const N: usize> Arguments<N> {
    fn pointers(&self) -> *mut *mut c_void {
        // Nothing is written to them.
        std::ptr::from_ref(self).cast_mut().cast()
    }
}
