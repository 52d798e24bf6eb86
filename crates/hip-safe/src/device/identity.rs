//! Identifiers of a device that are valid outside of this process.

use crate::{Device, Result, convert, raw};
use std::ffi::c_int;

impl Device {
    /// The number for direct calls of a platform's library.
    pub fn raw_ordinal(&self) -> c_int {
        self.inner().raw_ordinal()
    }

    /// The UUID, which no other device on any machine has.
    ///
    /// # Errors
    /// [`Error::Hip`](crate::Error::Hip) if the driver returns an error, [`Error::Poisoned`](crate::Error::Poisoned) after a
    /// sticky one.
    #[doc(alias = "hipDeviceGetUuid")]
    pub fn uuid(&self) -> Result<[u8; 16]> {
        // SAFETY: S1: it only asks.
        let ask = |p: &_| unsafe { raw::devices::uuid(p, self.raw_ordinal()) };
        let uuid = self.run(|| format!("asking for the UUID of {self}"), ask)?;
        Ok(uuid.bytes.map(|byte| byte.to_ne_bytes()[0]))
    }

    /// Its address on PCI as text: domain, bus, device and function, such as `0000:c1:00.0`.
    ///
    /// # Errors
    /// As [`Device::uuid`].
    #[doc(alias = "hipDeviceGetPCIBusId")]
    pub fn pci_bus_id(&self) -> Result<String> {
        // SAFETY: S1: it only asks.
        let ask = |p: &_| unsafe { raw::devices::pci_bus_id(p, self.raw_ordinal()) };
        let id = self.run(|| format!("asking for the PCI address of {self}"), ask)?;
        Ok(convert::text(&id))
    }
}
