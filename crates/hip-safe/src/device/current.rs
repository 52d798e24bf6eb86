//! The guard that makes a device current on this thread, and restores the former one.

use crate::device::Inner;
use crate::raw::{self, Failure};
use crate::{Result, drop_errors};
use std::ffi::c_int;
use std::marker::PhantomData;

/// Makes a device current on this thread while it lives. The drop restores the former device.
///
/// Every call of this crate makes its device current by itself. The guard is for direct calls of a platform's library. Forgetting it leaves the
/// device current, which is safe.
#[doc(alias = "hipSetDevice")]
#[must_use = "the device is current only while the guard lives"]
pub struct CurrentDevice<'a> {
    device: &'a Inner,
    former: c_int,
    /// The guard stays on its thread, because the current device is per thread.
    this_thread: PhantomData<*const ()>,
}

impl<'a> CurrentDevice<'a> {
    #[inline]
    pub(crate) fn enter(device: &'a Inner) -> Result<Self, Failure> {
        let (platform, wanted) = (device.platform(), device.raw_ordinal());
        if device.is_only() {
            return Ok(Self { device, former: wanted, this_thread: PhantomData });
        }
        // SAFETY: S1: it only asks.
        let former = unsafe { raw::get_device(platform) }?;
        if former != wanted {
            // SAFETY: S1, S3: any ordinal may be asked for; this guard restores the former one.
            unsafe { raw::set_device(platform, wanted) }?;
        }
        Ok(Self { device, former, this_thread: PhantomData })
    }
}

impl Drop for CurrentDevice<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.former == self.device.raw_ordinal() || hip_sys::exiting() {
            return;
        }
        // SAFETY: S1, S3: the ordinal was current before.
        let restored = unsafe { raw::set_device(self.device.platform(), self.former) };
        if let Err(failure) = restored {
            drop_errors::report(&self.device.error(failure, || "restoring the former device".into()));
        }
    }
}
