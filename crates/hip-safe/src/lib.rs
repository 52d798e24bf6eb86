//! Safe, reference-counted devices, streams, memory and kernels on HIP.
//!
//! Everything starts from a [`Platform`]: AMD's HIP, or a crate of this workspace that implements HIP on something else.
//! This program runs on `hip-host`, threads of the CPU.
//!
//! ```
//! use hip_safe::{Device, Event, SharedBuffer};
//!
//! # fn main() -> hip_safe::Result<()> {
//! let platform = hip_host::platform();
//! let device = Device::new(&platform, 0)?;
//! println!("{}, waves of {}", device.properties().name, device.properties().wave_size);
//!
//! // Memory is bound to a stream, which keeps the work on it in order.
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
//! // Another stream comes after what it uses, and what does not fit is an error before any call.
//! let other = device.new_stream()?;
//! assert_eq!(other.download(&numbers)?, [1.0, 2.0, 3.0, 4.0]);
//! assert!(other.copy_to_host(&numbers, &mut [0.0]).unwrap_err().to_string().contains("4 elements are needed"));
//! # Ok(())
//! # }
//! ```
//!
//! What holds everywhere:
//! - Safe calls are sound: no order of calls, drops, forgets and threads makes a race, a use after free or a foreign read.
//!   [`Launch::submit`] is unsafe, because a kernel's body cannot be checked; number and sizes of its arguments are.
//!   [`kernel!`] makes a safe launch function of a kernel that somebody has audited.
//! - A buffer may be used on any stream of its device. Uses that have to come one after the other do, across streams and
//!   threads; work on one stream alone costs no event and no wait.
//! - Every call runs with its device current and restores the former one.
//! - Owners free what they own when they are dropped, after the work that uses it. An error there goes to
//!   [`on_drop_error`] and [`drop_errors`]; `close` gives it to the caller instead.
//! - After a sticky error, such as a kernel's illegal access, every call answers [`Error::Poisoned`] with the first cause,
//!   and drops call the driver no more.
//! - `HIPSTACK_MEMORY_CHECK=1` lists the buffers that live when the process exits: see [`MemoryCheck`].

mod allocation;
mod buffer;
mod cache;
mod compile;
mod convert;
mod current;
mod device;
mod device_copy;
mod drop_errors;
mod error;
mod event;
mod foreign;
mod function;
mod graph;
mod handle;
mod host_copy;
mod host_function;
mod identity;
mod inline_vec;
mod ipc;
mod kernel;
mod launch;
mod launch_over;
mod limits;
mod loaded;
mod managed;
mod memory;
mod memory_check;
#[cfg(doctest)]
mod misuse;
mod module;
mod module_cache;
#[cfg(not(hip_safe_mutation))]
mod mutation;
#[cfg(hip_safe_mutation)]
pub mod mutation;
mod near_names;
mod occupancy;
mod order;
mod peers;
mod pinned;
mod poison;
mod pool;
mod priority;
mod properties;
mod raw;
mod repr;
mod shared;
mod single_flight;
mod stream;
mod sync;
mod trace;
mod unpooled;
mod view;

pub use buffer::DeviceBuffer;
pub use cache::{CacheAnswer, CacheStatistics, CacheUsage, CodeCache};
pub use code_object::{CodeObject, KernelInfo, Param};
pub use compile::{Compiled, Source, compiler_version};
pub use current::CurrentDevice;
pub use device::{Device, DeviceId, DeviceLabel, MemoryInfo};
pub use drop_errors::{drop_errors, on_drop_error, report_drop_error};
pub use error::{Error, Result};
pub use event::Event;
pub use function::Function;
pub use graph::{Graph, GraphExec};
pub use hip_sys::{MemoryKind, Platform, PlatformKind, UnknownArchitecture, Version};
pub use host_function::drop_elsewhere;
pub use ipc::IpcHandle;
#[doc(hidden)]
pub use kernel::support as __kernel;
pub use launch::{Launch, LaunchConfig};
pub use launch_over::BufferArgument;
pub use limits::Limit;
pub use managed::{ManagedAdvice, ManagedBuffer, ManagedPlace};
pub use memory::MemorySource;
pub use memory_check::{BufferKind, DeviceUsage, LiveBuffer, MemoryCheck, MemoryReport, assert_no_leaks};
pub use module::Module;
pub use module_cache::ModuleCode;
pub use occupancy::{FunctionAttributes, SuggestedBlock};
pub use order::Submission;
pub use pinned::PinnedBuffer;
pub use pool::PoolStatistics;
pub use properties::Properties;
pub use repr::{AnyBits, DeviceRepr};
pub use shared::SharedBuffer;
pub use stream::{Stream, StreamId};
pub use view::{DeviceSlice, DeviceSliceMut, DeviceView, DeviceViewMut};
