//! Where a HIP device is, in candle's set of locations.

use candle_core::DeviceLocation;

pub(super) fn location(platform: &'static str, gpu_id: usize) -> DeviceLocation {
    DeviceLocation::Hip { platform, gpu_id }
}
