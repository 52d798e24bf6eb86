//! Launches of kernels: arguments, limits, the `kernel!` macro, and occupancy.
//!
//! This file has [`Launch`]: arguments are collected, checked against those that the kernel declares, and submitted.

pub(crate) mod kernel;
mod launch_buffers;
mod occupancy;

pub use launch_buffers::BufferArgument;
pub use occupancy::{FunctionAttributes, SuggestedBlock};

use crate::inline_vec::InlineVec;
use crate::raw;
use crate::{
    DeviceRepr, DeviceSlice, DeviceSliceMut, Error, Function, Properties, Result, Stream, Submission,
};
use hip_sys::hip::hipModuleLaunchCooperativeKernel_fn;
use std::ffi::c_void;

/// A global size must fit this along each axis.
const MAX_THREADS_PER_AXIS: u64 = u32::MAX as u64;

/// How many threads a launch has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads in a block along x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory for each block, in addition to what the kernel declares.
    pub shared_bytes: u32,
}

impl LaunchConfig {
    /// Whether grid and block have one dimension, so that no two threads have the same index along x.
    pub fn is_linear(&self) -> bool {
        self.grid[1..] == [1, 1] && self.block[1..] == [1, 1]
    }

    /// Blocks of `block` threads along x: enough for one thread for each of `count` elements, at least one block, and at most as many as can
    /// be launched. The kernel has to stride over its grid for larger counts.
    pub fn linear(count: u64, block: u32) -> Self {
        let block = block.max(1);
        let most = (MAX_THREADS_PER_AXIS / u64::from(block)).min(i32::MAX as u64);
        let blocks = count.div_ceil(u64::from(block)).clamp(1, most);
        Self {
            grid: [u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1],
            block: [block, 1, 1],
            shared_bytes: 0,
        }
    }
}

/// A builder for a launch: see [`Stream::launch`].
///
/// Values are copied when they are given, and buffers stay borrowed until the launch is dropped, so everything that the launch refers to is
/// alive at [`Launch::submit`]. `submit` returns the first error of the arguments, before any call.
#[must_use = "nothing is launched until submit"]
pub struct Launch<'a> {
    submission: Submission<'a>,
    function: &'a Function,
    config: LaunchConfig,
    cooperative: bool,
    /// The bytes of the arguments. Each argument begins at a word.
    words: InlineVec<u64, 40>,
    /// The size of each argument in bytes.
    sizes: InlineVec<usize, ARGUMENTS>,
}

/// More arguments than this go to the heap.
const ARGUMENTS: usize = 12;

impl Stream {
    /// Begins a launch of `function` on this stream. Arguments follow in the order in which the kernel declares them.
    ///
    /// ```
    /// use hip_safe::{Device, LaunchConfig, Source};
    ///
    /// # fn main() -> hip_safe::Result<()> {
    /// let stream = Device::new(&hip_host::platform(), 0)?.new_stream()?;
    /// let text = "extern \"C\" __global__ void add(const float* a, const float* b, float* sum, unsigned count) {
    ///     unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    ///     if (i < count) sum[i] = a[i] + b[i];
    /// }";
    /// let add = stream.device().compile(&Source::new(text))?.function("add")?;
    ///
    /// let (a, b) = (stream.upload(&[1.0_f32, 2.0, 3.0])?, stream.upload(&[0.5_f32, 0.5, 0.5])?);
    /// let mut sum = stream.alloc_zeros::<f32>(3)?;
    /// // SAFETY: the kernel reads three elements of a and b and writes three of the sum.
    /// unsafe {
    ///     stream.launch(&add, LaunchConfig::linear(3, 64)).arg(&a).arg(&b).arg_mut(&mut sum).value(&3_u32).submit()?;
    /// }
    /// assert_eq!(stream.download(&sum)?, [1.5, 2.5, 3.5]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "hipModuleLaunchKernel")]
    #[inline]
    pub fn launch<'a>(&'a self, function: &'a Function, config: LaunchConfig) -> Launch<'a> {
        let (words, sizes) = (InlineVec::new(), InlineVec::new());
        Launch { submission: self.submission(), function, config, cooperative: false, words, sizes }
    }
}

impl<'a> Launch<'a> {
    /// A pointer argument, through which the kernel only reads.
    #[inline(always)]
    pub fn arg<S: DeviceSlice + ?Sized>(&mut self, buffer: &'a S) -> &mut Self {
        let address = self.submission.add_read(buffer);
        self.pointer(address)
    }

    /// A pointer argument, through which the kernel reads and writes.
    #[inline(always)]
    pub fn arg_mut<S: DeviceSliceMut + ?Sized>(&mut self, buffer: &'a mut S) -> &mut Self {
        let address = self.submission.add_write(buffer);
        self.pointer(address)
    }

    /// As [`Launch::arg`], for a buffer that may be on another device of the platform, which this one has access to
    /// ([`Device::enable_peer_access`](crate::Device::enable_peer_access)).
    pub fn arg_peer<S: DeviceSlice + ?Sized>(&mut self, buffer: &'a S) -> &mut Self {
        self.submission.read_peer(buffer);
        self.pointer(buffer.as_view().device_ptr().cast())
    }

    /// A pointer argument.
    pub(crate) fn buffer(&mut self, buffer: &BufferArgument<'a>) {
        self.submission.add_buffer(buffer);
        self.pointer(buffer.address.raw());
    }

    /// Makes the launch cooperative: all blocks are resident at once, so that they may wait for each other, or the launch is refused.
    #[doc(alias = "hipModuleLaunchCooperativeKernel")]
    pub fn cooperative(&mut self) -> &mut Self {
        self.cooperative = true;
        self
    }

    /// A pointer argument given by its address. The caller of `submit` promises that it is valid. A platform that checks the order of
    /// operations does not check accesses through it.
    #[inline]
    pub fn pointer(&mut self, address: *const c_void) -> &mut Self {
        self.sizes.push(size_of_val(&address));
        self.words.push(address.expose_provenance() as u64);
        self
    }

    /// An argument that is passed by value: a number, or a `#[repr(C)]` struct of numbers.
    #[inline]
    pub fn value<T: DeviceRepr>(&mut self, value: &T) -> &mut Self {
        // SAFETY: S6, S12: T has no padding, so all of its bytes are initialised, and the borrow lasts for the call.
        let bytes =
            unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast::<u8>(), size_of::<T>()) };
        self.push(bytes)
    }

    /// Submits the launch; it returns before the kernel has run. It may be submitted again.
    ///
    /// # Errors
    /// Before any call: [`Error::WrongDevice`] for a buffer or a function that belongs elsewhere,
    /// [`Error::LaunchMismatch`] if number or sizes of the arguments are not those that the kernel declares,
    /// [`Error::LaunchLimit`] if grid, block or shared memory are too large, or the block is not
    /// the one that the kernel requires; for a cooperative launch [`Error::NotOffered`], [`Error::Unsupported`], and
    /// [`Error::LaunchLimit`] for more blocks than run at once. Then the driver's error.
    ///
    /// # Safety
    /// The arguments are of the kinds that the kernel declares, and the kernel with these arguments stays inside the
    /// buffers given, writes only those given to [`Launch::arg_mut`], and has no race with itself. If
    /// [`Function::params`] is `None`, their number and sizes are right as well.
    pub unsafe fn submit(&mut self) -> Result<()> {
        let Self { function, config, cooperative, .. } = *self;
        let stream = self.submission.stream();
        stream.device().check_same("the kernel", function.device())?;
        function.check_sizes(self.sizes.as_slice())?;
        check_limits(function, &config, stream.device().properties())?;

        let mut pointers = InlineVec::<*mut c_void, ARGUMENTS>::new();
        let mut word = self.words.as_mut_slice().as_mut_ptr();
        for size in self.sizes.as_slice() {
            pointers.push(word.cast());
            word = word.wrapping_add(size.div_ceil(size_of::<u64>()));
        }
        let pointers = pointers.as_mut_slice().as_mut_ptr();
        let LaunchConfig { grid, block, shared_bytes } = config;
        let cooperative = match cooperative {
            true => Some(self.cooperative_launcher()?),
            false => None,
        };
        self.submission.runs(function.module());
        let doing = || function.launching(stream);
        // SAFETY: S1, S3, S5, S9: number and sizes of the arguments are those that the kernel declares; the caller promises the rest.
        let launched = self.submission.run(doing, |p, s, extents| unsafe {
            raw::announce(p, s, extents);
            let launched = match cooperative {
                None => raw::module_launch_kernel(p, function.raw(), grid, block, shared_bytes, s, pointers),
                Some(call) => {
                    let (function, sizes) = (function.raw(), [grid, block]);
                    raw::functions::launch_cooperative(p, call, function, sizes, shared_bytes, s, pointers)
                }
            };
            launched.inspect_err(|_| raw::announce(p, s, None))
        });
        // Errors are large. Boxing them makes the successful path cheaper.
        let launched = launched.map_err(Box::new);
        function.module().note_launch(stream);
        launched.map_err(|error| *error)
    }

    #[inline(always)]
    fn push(&mut self, bytes: &[u8]) -> &mut Self {
        self.sizes.push(bytes.len());
        if let Ok(words) = bytemuck::try_cast_slice(bytes) {
            self.words.extend(words);
            return self;
        }
        for part in bytes.chunks(size_of::<u64>()) {
            let mut word = [0; size_of::<u64>()];
            word[..part.len()].copy_from_slice(part);
            self.words.push(u64::from_ne_bytes(word));
        }
        self
    }

    /// The driver's function for cooperative launches, if this one is within the limits.
    fn cooperative_launcher(&self) -> Result<hipModuleLaunchCooperativeKernel_fn> {
        let LaunchConfig { grid, block, shared_bytes } = self.config;
        let launcher = raw::functions::cooperative_launcher(self.function.device().platform())?;
        self.function.check_cooperative(grid, block, shared_bytes)?;
        Ok(launcher)
    }
}

/// Refuses sizes that the device, the kernel or HIP itself does not allow.
#[inline]
fn check_limits(function: &Function, config: &LaunchConfig, device: &Properties) -> Result<()> {
    let within =
        is_within_linear_limits(function, config, device) || is_within_limits(function, config, device);
    if within { Ok(()) } else { find_limit(function, config, device) }
}

/// Whether this is a launch of one dimension without dynamic shared memory, and within all limits.
#[inline]
pub(crate) fn is_within_linear_limits(
    function: &Function,
    config: &LaunchConfig,
    device: &Properties,
) -> bool {
    let LaunchConfig { grid, block, shared_bytes } = config;
    config.is_linear()
        & (*shared_bytes == 0)
        & (1..=device.max_grid[0]).contains(&grid[0])
        & (1..=function.linear_block()).contains(&block[0])
        & (u64::from(grid[0]) * u64::from(block[0]) <= MAX_THREADS_PER_AXIS)
}

fn is_within_limits(function: &Function, config: &LaunchConfig, device: &Properties) -> bool {
    let LaunchConfig { grid, block, shared_bytes } = config;
    // A size of 1 along y and z is within the limits of every device.
    let axes = if config.is_linear() { 1 } else { 3 };
    let (mut fits, mut threads) = (true, 1_u64);
    for axis in 0..axes {
        fits &= (1..=device.max_grid[axis]).contains(&grid[axis])
            & (1..=device.max_block[axis]).contains(&block[axis])
            & (u64::from(grid[axis]) * u64::from(block[axis]) <= MAX_THREADS_PER_AXIS);
        threads = threads.saturating_mul(block[axis].into());
    }
    let most = function.max_threads_per_block().unwrap_or(u32::MAX).min(device.max_threads_per_block);
    let shared = function.shared_bytes() as u64 + u64::from(*shared_bytes);
    fits & (threads <= u64::from(most))
        & function.required_block().is_none_or(|required| required == *block)
        & (shared <= device.shared_memory_per_block.max(function.most_shared()) as u64)
}

/// The error of the first limit that is exceeded.
#[cold]
fn find_limit(function: &Function, config: &LaunchConfig, device: &Properties) -> Result<()> {
    let LaunchConfig { grid, block, shared_bytes } = config;
    let refuse = |what, requested, limit: String| {
        Err(Error::LaunchLimit { kernel: function.name().into(), what, requested, limit })
    };
    for axis in 0..3 {
        let (blocks, threads) = (u64::from(grid[axis]), u64::from(block[axis]));
        let (most_blocks, most_threads) =
            (u64::from(device.max_grid[axis]), u64::from(device.max_block[axis]));
        if !(1..=most_blocks).contains(&blocks) {
            return refuse(GRID[axis], blocks, format!("1 to {most_blocks}"));
        }
        if !(1..=most_threads).contains(&threads) {
            return refuse(BLOCK[axis], threads, format!("1 to {most_threads}"));
        }
        if blocks * threads > MAX_THREADS_PER_AXIS {
            return refuse(THREADS[axis], blocks * threads, format!("1 to {MAX_THREADS_PER_AXIS}"));
        }
    }
    let threads = block.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
    let most = function.max_threads_per_block().unwrap_or(u32::MAX).min(device.max_threads_per_block);
    if threads > u64::from(most) {
        return refuse("the number of threads in a block", threads, format!("1 to {most}"));
    }
    if let Some(required) = function.required_block() {
        for axis in 0..3 {
            if block[axis] != required[axis] {
                return refuse(BLOCK[axis], block[axis].into(), format!("only {}", required[axis]));
            }
        }
    }
    let shared = function.shared_bytes() as u64 + u64::from(*shared_bytes);
    let most = device.shared_memory_per_block.max(function.most_shared());
    if shared > most as u64 {
        return refuse("a block's shared memory in bytes", shared, format!("0 to {most}"));
    }
    Ok(())
}

const GRID: [&str; 3] = ["the grid along x", "the grid along y", "the grid along z"];
const BLOCK: [&str; 3] = ["the block along x", "the block along y", "the block along z"];
const THREADS: [&str; 3] =
    ["grid times block along x", "grid times block along y", "grid times block along z"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_grids_cover_or_stride() {
        assert_eq!(LaunchConfig::linear(0, 256).grid, [1, 1, 1]);
        assert_eq!(LaunchConfig::linear(256, 256).grid, [1, 1, 1]);
        assert_eq!(LaunchConfig::linear(257, 256).grid, [2, 1, 1]);
        assert_eq!(LaunchConfig::linear(5, 0).block, [1, 1, 1]);
        let huge = LaunchConfig::linear(u64::MAX, 256);
        assert_eq!(huge.grid, [16_777_215, 1, 1]);
        assert!(u64::from(huge.grid[0]) * 256 <= MAX_THREADS_PER_AXIS);
    }
}
