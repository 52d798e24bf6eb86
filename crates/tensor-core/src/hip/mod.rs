//! The HIP backend: tensors in the memory of a platform's device, computed by the kernels of `kernels-hip`.
//!
//! This module does not depend on the platform. Layouts are passed in kernel arguments. Operations do not wait for the
//! device. Only these do: reading back, uploads of elements and ids (which copy from pageable memory), opening a
//! library at the first operation that may use it, and closing it with the device.

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
mod quant;
mod staging;
mod storage;

pub use code::CodeOrigin;
pub use device::HipDevice;
pub(crate) use platforms::{names as platform_names, platform};
pub use quant::QHipStorage;
pub(crate) use staging::Staging;
pub use storage::HipStorage;
