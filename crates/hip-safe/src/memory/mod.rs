//! Memory: buffers on a device, views of them, shared, pinned and managed memory, memory of other processes, and copies.
//!
//! A buffer owns an [`Allocation`]: a range of device memory with the record of its uses. Most come from the device's pool, in `pool`. `check`
//! lists the buffers that are alive.

mod allocation;
mod buffer;
pub(crate) mod check;
mod device_copy;
mod device_memory;
mod host_copy;
mod ipc;
mod managed;
mod pinned;
pub(crate) mod pool;
mod repr;
mod shared;
mod unpooled;
mod view;

pub(crate) use allocation::Allocation;
pub use buffer::DeviceBuffer;
pub use check::{BufferKind, DeviceUsage, LiveBuffer, MemoryCheck, MemoryReport, assert_no_leaks};
pub(crate) use device_copy::check_lengths;
pub(crate) use device_memory::DeviceMemory;
pub use device_memory::MemorySource;
pub use ipc::IpcHandle;
pub use managed::{ManagedAdvice, ManagedBuffer, ManagedLocation};
pub use pinned::PinnedBuffer;
pub(crate) use pinned::PinnedMemory;
pub use pool::PoolStatistics;
pub use repr::{AnyBits, DeviceRepr};
pub use shared::SharedBuffer;
pub use view::{DeviceSlice, DeviceSliceMut, DeviceView, DeviceViewMut};
