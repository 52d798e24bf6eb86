//! Safe, reference-counted devices, streams, memory and kernels on HIP.
//!
//! Everything starts from a [`Platform`]: AMD's HIP, or a crate of this workspace that implements HIP. This program runs on
//! `hip-host`, which uses threads of the CPU.
//!
//! ```
//! use hip_safe::{Device, Event, SharedBuffer};
//!
//! # fn main() -> hip_safe::Result<()> {
//! let platform = hip_host::platform();
//! let device = Device::new(&platform, 0)?;
//! println!("{}, waves of {}", device.properties().name, device.properties().wave_size);
//!
//! // A buffer is allocated on a stream. Work on one stream runs in order.
//! let stream = device.new_stream()?;
//! let numbers = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0])?;
//! let mut sums = stream.alloc_zeros::<f32>(4)?;
//! let started = Event::new(&device)?;
//! stream.record_event(&started)?;
//! stream.copy(&numbers.slice(2..)?, &mut sums.slice_mut(..2)?)?;
//! assert_eq!(stream.download(&sums)?, [3.0, 4.0, 0.0, 0.0]);
//!
//! // Sharing counts references; the first write to shared memory copies it.
//! let shared = SharedBuffer::new(sums);
//! let mut mine = shared.clone();
//! stream.memset(mine.make_mut(&stream)?, 0)?;
//! assert_eq!(shared.download()?, [3.0, 4.0, 0.0, 0.0]);
//! assert_eq!(mine.download()?, [0.0; 4]);
//!
//! // Another stream waits for the writes to what it uses. A wrong length is an error before any call.
//! let other = device.new_stream()?;
//! assert_eq!(other.download(&numbers)?, [1.0, 2.0, 3.0, 4.0]);
//! assert!(other.copy_to_host(&numbers, &mut [0.0]).unwrap_err().to_string().contains("4 elements are needed"));
//! # Ok(())
//! # }
//! ```
//!
//! # Kernels of your own
//!
//! HIP C++ text is compiled for the device at run time. Launches check the arguments against the kernel's declaration:
//!
//! ```
//! use hip_safe::{Device, LaunchConfig, Source};
//!
//! # fn main() -> hip_safe::Result<()> {
//! let text = "
//!     extern \"C\" __global__ void axpy(const float* x, float* y, float a, unsigned count) {
//!         unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!         if (i < count) y[i] += a * x[i];
//!     }
//!     template <class T> __global__ void fill(T* values, T value) { values[threadIdx.x] = value; }";
//! // A name expression instantiates a template kernel, and is also its name for look-ups.
//! let source = Source::new(text).name("axpy.hip").option("-O3").name_expression("fill<double>");
//!
//! let stream = Device::new(&hip_host::platform(), 0)?.new_stream()?;
//! let module = stream.device().compile(&source)?;
//! let (axpy, fill) = (module.function("axpy")?, module.function("fill<double>")?);
//!
//! let x = stream.upload(&[1.0_f32, 2.0, 3.0])?;
//! let mut y = stream.alloc_zeros::<f32>(3)?;
//! let mut fives = stream.alloc_zeros::<f64>(4)?;
//! // SAFETY: axpy reads and writes three elements, and fill writes one for each of its four threads.
//! unsafe {
//!     stream.launch(&axpy, LaunchConfig::linear(3, 64)).arg(&x).arg_mut(&mut y).value(&2.0_f32).value(&3_u32).submit()?;
//!     stream.launch(&fill, LaunchConfig::linear(4, 4)).arg_mut(&mut fives).value(&5.0_f64).submit()?;
//! }
//! assert_eq!(stream.download(&y)?, [2.0, 4.0, 6.0]);
//! assert_eq!(stream.download(&fives)?, [5.0; 4]);
//!
//! // Arguments that do not match the kernel's are an error before any call.
//! let mut wrong = stream.launch(&axpy, LaunchConfig::linear(3, 64));
//! let error = unsafe { wrong.arg(&x).arg_mut(&mut y).value(&2.0_f32).submit() }.unwrap_err();
//! assert_eq!(error.to_string(), "kernel axpy takes 4 arguments of 8, 8, 4, 4 bytes and was given 3 arguments of 8, 8, 4 bytes");
//! # Ok(())
//! # }
//! ```
//!
//! [`kernel!`] makes a type from an audited kernel; its launches need no `unsafe`. Elements are plain data: numbers, and structs
//! of numbers that derive the traits of [`bytemuck`], which this crate re-exports.
//!
//! # What holds everywhere
//! - Safe calls are sound: no sequence of calls, drops, leaks and threads causes a race, a use after free or a read of foreign
//!   memory. [`Launch::submit`] is unsafe, because a kernel's body cannot be checked; the number and sizes of its arguments are.
//! - A buffer may be used on any stream of its device. Conflicting uses are ordered across streams and threads. Work on one
//!   stream alone needs no event and no wait.
//! - Every call makes its device current and restores the former one.
//! - Owners free their resource on drop, after the work that uses it. An error there goes to [`on_drop_error`] and
//!   [`drop_errors`]; `close` returns it to the caller instead.
//! - After a sticky error, such as a kernel's illegal access, every call returns [`Error::Poisoned`] with the first cause, and
//!   drops no longer call the driver.
//! - `HIPSTACK_MEMORY_CHECK=1` lists the buffers that are alive when the process exits: see [`MemoryCheck`].

mod code;
mod convert;
mod device;
mod drop_errors;
mod error;
mod graph;
mod handle;
mod inline_vec;
mod launch;
mod library_handle;
mod memo;
mod memory;
#[cfg(doctest)]
mod misuse;
#[cfg(not(hip_safe_mutation))]
mod mutation;
#[cfg(hip_safe_mutation)]
pub mod mutation;
mod order;
mod raw;
mod stream;
mod strided;
mod sync;
mod trace;

/// Its traits say what is plain data; structs derive them with `#[bytemuck(crate = "hip_safe::bytemuck")]`, or by a dependency of their own.
pub use bytemuck;
pub use code::{
    CacheAnswer, CacheStatistics, CacheUsage, CodeCache, Compiled, Function, Module, ModuleCode, Source,
    compiler_version,
};
pub use code_object::{CodeObject, KernelInfo, Param};
pub use device::{CurrentDevice, Device, DeviceId, DeviceLabel, Limit, MemoryInfo, Properties};
pub use drop_errors::{DropErrorsLater, drop_errors, drop_errors_later, on_drop_error, report_drop_error};
pub use error::{Error, Result};
pub use graph::{Graph, GraphExec};
pub use hip_sys::{MemoryKind, Platform, PlatformKind, UnknownArchitecture, Version};
#[doc(hidden)]
pub use launch::kernel::support as __kernel;
pub use launch::{BufferArgument, FunctionAttributes, Launch, LaunchConfig, SuggestedBlock};
pub use library_handle::LibraryHandle;
pub use memo::{Memo, MemoStatistics};
pub use memory::{
    AnyBits, BufferKind, DeviceBuffer, DeviceRepr, DeviceSlice, DeviceSliceMut, DeviceUsage, DeviceView,
    DeviceViewMut, IpcHandle, LiveBuffer, ManagedAdvice, ManagedBuffer, ManagedLocation, MemoryCheck,
    MemoryReport, MemorySource, PinnedBuffer, PoolStatistics, SharedBuffer, assert_no_leaks,
};
pub use order::Submission;
pub use stream::{Event, Stream, StreamId, drop_elsewhere, waits};
pub use strided::is_injective;
