//! The HIP device: tensors in the memory of a platform's device, worked on by the kernels of `kernels-hip`.
//!
//! Knows nothing of which platform it runs on. Layouts travel in the kernels' arguments; nothing here waits for the device
//! but reading back; opening a library, at the first operation that may use it, and closing it with the device do. What the host uploads (elements, lists of ids) is copied from pageable memory, which waits.

mod choice;
mod code;
mod device;
mod facts;
mod faults;
mod interop;
mod kernels;
mod libraries;
mod maps;
pub(crate) mod ops;
mod platforms;
mod storage;

pub use code::CodeOrigin;
pub use device::HipDevice;
pub(crate) use platforms::{names as platform_names, platform};
pub use storage::HipStorage;
