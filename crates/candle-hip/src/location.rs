//! The value of candle's closed set of locations. The patch replaces this file.

use candle_core::DeviceLocation;

use super::open::PLATFORMS;

/// candle as published has no location for HIP devices. The value is a CUDA location with a number that no CUDA device
/// has: 65,536 times the number of the platform (1 AMD, 2 NVIDIA, 3 host), plus the ordinal. It serves to compare
/// locations; messages that print it name a device that does not exist.
pub(super) fn location(platform: &'static str, ordinal: usize) -> DeviceLocation {
    let number = PLATFORMS.iter().position(|name| *name == platform).map_or(0, |position| position + 1);
    DeviceLocation::Cuda { gpu_id: (number << 16) + ordinal }
}
