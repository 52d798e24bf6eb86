//! What happens to memory, for whoever listens by the `tracing` crate: target `hip_safe::memory`.
//!
//! Nobody is told while a lock of ours is held: a subscriber may use the device.

use crate::{DeviceLabel, Stream};

const TARGET: &str = "hip_safe::memory";

/// A range that the driver gave to a pool, or got back.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Segment {
    FromDriver(usize),
    ToDriver(usize),
}

/// Memory was allocated; `hit`: without asking the driver. Nothing is worked out while nobody listens.
#[inline]
pub(crate) fn allocated(stream: &Stream, bytes: usize, hit: bool) {
    let number = || stream.timeline().number();
    tracing::trace!(target: TARGET, bytes, device = %stream.device(), stream = number(), hit, "allocation");
}

/// Memory was given back to its pool.
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

/// Page-locked memory was given back to the driver.
pub(crate) fn unpinned(device: DeviceLabel, bytes: usize) {
    tracing::debug!(target: TARGET, bytes, device = %device, "pinned free");
}

/// A module was loaded.
pub(crate) fn module(device: DeviceLabel, bytes: usize) {
    tracing::debug!(target: TARGET, bytes, device = %device, "module load");
}
