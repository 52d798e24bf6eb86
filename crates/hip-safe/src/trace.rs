//! Events of memory and modules for the `tracing` crate, with the target `hip_safe::memory`.
//!
//! No event is emitted while a lock of this crate is held, because a subscriber may use the device.

use crate::{DeviceLabel, Stream};

const TARGET: &str = "hip_safe::memory";

/// A segment that a pool got from the driver, or returned to it, with its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Segment {
    FromDriver(usize),
    ToDriver(usize),
}

/// Memory was allocated; `hit`: without a driver call. Fields are evaluated only if there is a subscriber.
#[inline]
pub(crate) fn allocated(stream: &Stream, bytes: usize, hit: bool) {
    let number = || stream.timeline().number();
    tracing::trace!(target: TARGET, bytes, device = %stream.device(), stream = number(), hit, "allocation");
}

/// Memory was returned to its pool.
#[inline]
pub(crate) fn freed(stream: &Stream, bytes: usize) {
    let number = || stream.timeline().number();
    tracing::trace!(target: TARGET, bytes, device = %stream.device(), stream = number(), "free");
}

pub(crate) fn segment(device: DeviceLabel, segment: Segment) {
    match segment {
        Segment::FromDriver(bytes) => {
            tracing::debug!(target: TARGET, bytes, device = %device, "segment from the driver");
        }
        Segment::ToDriver(bytes) => {
            tracing::debug!(target: TARGET, bytes, device = %device, "segment to the driver");
        }
    }
}

/// Page-locked memory was allocated.
pub(crate) fn pinned(device: DeviceLabel, bytes: usize) {
    tracing::debug!(target: TARGET, bytes, device = %device, "pinned allocation");
}

/// Page-locked memory was returned to the driver.
pub(crate) fn unpinned(device: DeviceLabel, bytes: usize) {
    tracing::debug!(target: TARGET, bytes, device = %device, "pinned free");
}

/// A module was loaded.
pub(crate) fn module(device: DeviceLabel, bytes: usize) {
    tracing::debug!(target: TARGET, bytes, device = %device, "module load");
}
