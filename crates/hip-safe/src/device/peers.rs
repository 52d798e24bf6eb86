//! Peer devices: copies between devices, and access to another device's memory.

use crate::memory::check_lengths;
use crate::mutation::Wait;
use crate::raw::{self, Failure};
use crate::{Device, DeviceSlice, DeviceSliceMut, Result, Stream};
use hip_sys::Platform;
use hip_sys::hip::hipError_t;

impl Device {
    /// Whether it can be given access to the other device's memory.
    ///
    /// # Errors
    /// [`Error::WrongDevice`](crate::Error::WrongDevice) for a device of another platform, or the driver's error.
    #[doc(alias = "hipDeviceCanAccessPeer")]
    pub fn can_access_peer(&self, peer: &Device) -> Result<bool> {
        self.check_same_platform("the peer", peer)?;
        // SAFETY: S1: it only asks.
        let ask = |p: &Platform| unsafe {
            raw::devices::can_access_peer(p, self.raw_ordinal(), peer.raw_ordinal())
        };
        self.run(|| format!("asking whether {self} can access {peer}"), ask)
    }

    /// Lets this device access the other one's memory until [`Device::disable_peer_access`], in the whole process. Enabling it again is not an
    /// error. Copies between the two work without access, and are faster with it.
    ///
    /// # Errors
    /// [`Error::WrongDevice`](crate::Error::WrongDevice) for a device of another platform, or the driver's error, for example if the devices
    /// are not connected, or are the same.
    #[doc(alias = "hipDeviceEnablePeerAccess")]
    pub fn enable_peer_access(&self, peer: &Device) -> Result<()> {
        self.check_same_platform("the peer", peer)?;
        // SAFETY: S1, S3: this device is current.
        let enable = |p: &Platform| unsafe { raw::devices::enable_peer_access(p, peer.raw_ordinal()) };
        let done = |p: &Platform| already(enable(p), hipError_t::hipErrorPeerAccessAlreadyEnabled);
        self.run(|| format!("giving {self} access to {peer}"), done)
    }

    /// Ends the access, after waiting for this device's work. Without access it only waits.
    ///
    /// # Errors
    /// As [`Device::enable_peer_access`], and the error of the work before.
    #[doc(alias = "hipDeviceDisablePeerAccess")]
    pub fn disable_peer_access(&self, peer: &Device) -> Result<()> {
        self.check_same_platform("the peer", peer)?;
        if !Wait::PeerAccess.is_dropped() {
            self.synchronize()?;
        }
        // SAFETY: S1, S3: this device is current.
        let disable = |p: &Platform| unsafe { raw::devices::disable_peer_access(p, peer.raw_ordinal()) };
        let done = |p: &Platform| already(disable(p), hipError_t::hipErrorPeerAccessNotEnabled);
        self.run(|| format!("taking the access to {peer} from {self}"), done)
    }
}

impl Stream {
    /// Copies all of `source`, on any device of the platform, over all of `destination` on this stream's device. It returns before the copy is
    /// done. The copy runs on this stream and is recorded there for both buffers, so later conflicting work on any device's streams comes after
    /// it.
    ///
    /// ```
    /// # fn main() -> hip_safe::Result<()> {
    /// # let platform = hip_host::platform();
    /// # let (first, second) = (hip_safe::Device::new(&platform, 0)?, hip_safe::Device::new(&platform, 1)?);
    /// let (there, here) = (first.new_stream()?, second.new_stream()?);
    /// let mut source = there.upload(&[1_u32, 2, 3])?;
    /// let mut copy = here.alloc_zeros::<u32>(3)?;
    /// here.copy_from_peer(&source, &mut copy)?;
    /// there.memset(&mut source, 0)?; // waits, on the device, until the copy has read it
    /// assert_eq!(here.download(&copy)?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongDevice`](crate::Error::WrongDevice) if `destination` is not on the stream's device, or `source` on another
    /// platform, [`Error::LengthMismatch`](crate::Error::LengthMismatch), or the driver's error.
    #[doc(alias = "hipMemcpyPeerAsync")]
    pub fn copy_from_peer<S, D>(&self, source: &S, destination: &mut D) -> Result<()>
    where
        S: DeviceSlice + ?Sized,
        D: DeviceSliceMut<Item = S::Item> + ?Sized,
    {
        let (from, mut to) = (source.as_view(), destination.as_view_mut());
        check_lengths("copying between devices", to.len(), from.len())?;
        let (bytes, peer) = (from.byte_len(), from.owner().device().clone());
        if bytes == 0 {
            return Ok(());
        }
        let source = (from.device_ptr().cast(), peer.raw_ordinal());
        let destination = (to.device_ptr_mut().cast(), self.device().raw_ordinal());
        let doing = || format!("copying {bytes} bytes from {peer} on {self}");
        let mut submission = self.submission();
        submission.read_peer(&from).write(&mut to);
        // SAFETY: S1, S2, S3, S5: both views are that long and of the devices named, and their other uses are ordered.
        let copy =
            |p: &Platform, s| unsafe { raw::memory::memcpy_peer_async(p, destination, source, bytes, s) };
        submission.run(doing, |p, s, _| copy(p, s))
    }
}

/// Ignores the errors "already enabled" and "not enabled".
fn already(result: Result<(), Failure>, code: hipError_t) -> Result<(), Failure> {
    match result {
        Err(failure) if failure.code == code => Ok(()),
        result => result,
    }
}
