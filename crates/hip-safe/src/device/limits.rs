//! Limits of a device that a program may change, in bytes.

use crate::{Device, Result, raw};
use hip_sys::Platform;
use hip_sys::hip::hipLimit_t;

/// A limit of a device.
#[doc(alias = "hipLimit_t")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// The stack of each thread of a kernel.
    StackSize,
    /// The buffer of `printf` in kernels.
    PrintfFifoSize,
    /// The heap of `malloc` in kernels.
    MallocHeapSize,
}

impl Device {
    /// A limit in bytes.
    ///
    /// # Errors
    /// [`Error::Hip`](crate::Error::Hip) if the driver returns an error, 215 where the device has no such limit; [`Error::Poisoned`](crate::Error::Poisoned) after a
    /// sticky one.
    #[doc(alias = "hipDeviceGetLimit")]
    pub fn limit(&self, limit: Limit) -> Result<usize> {
        // SAFETY: S1, S3: the device is current.
        let ask = |p: &Platform| unsafe { raw::devices::limit(p, limit.raw()) };
        self.run(|| format!("asking for the {limit:?} of {self}"), ask)
    }

    /// Sets a limit in bytes, for kernels launched from now on. The driver may round it; [`Device::limit`] says to what.
    ///
    /// # Errors
    /// As [`Device::limit`], [`Error::Unsupported`](crate::Error::Unsupported) where the library is too old, and the driver's error for a value that
    /// it does not take.
    #[doc(alias = "hipDeviceSetLimit")]
    pub fn set_limit(&self, limit: Limit, bytes: usize) -> Result<()> {
        let setter = raw::devices::limit_setter(self.platform())?;
        // SAFETY: S1, S3: the device is current.
        let set = |p: &Platform| unsafe { raw::devices::set_limit(p, setter, limit.raw(), bytes) };
        self.run(|| format!("setting the {limit:?} of {self} to {bytes}"), set)
    }
}

impl Limit {
    fn raw(self) -> hipLimit_t {
        match self {
            Self::StackSize => hipLimit_t::hipLimitStackSize,
            Self::PrintfFifoSize => hipLimit_t::hipLimitPrintfFifoSize,
            Self::MallocHeapSize => hipLimit_t::hipLimitMallocHeapSize,
        }
    }
}
