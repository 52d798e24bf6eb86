//! The device's own copy, the reference for the bytes per second of all rows.

use super::measure::{Effort, interleaved, wall};
use hip_safe::{DeviceBuffer, Stream};
use tensor_core::HipDevice;

/// Bytes copied.
const BYTES: usize = 512 << 20;

/// `hipMemcpyDtoDAsync` from one buffer to another.
pub struct Copy {
    stream: Stream,
    from: DeviceBuffer<u8>,
    to: DeviceBuffer<u8>,
}

impl Copy {
    /// The name of its row.
    pub const OP: &str = "copy_d2d";

    /// Allocates both buffers, of 512 MiB divided by `shrink`.
    ///
    /// # Errors
    /// The driver's error as text.
    pub fn new(device: &HipDevice, shrink: usize) -> Result<Copy, String> {
        let stream = device.stream().clone();
        let buffer = || stream.alloc_zeros::<u8>(BYTES / shrink.max(1)).map_err(|error| error.to_string());
        let (from, to) = (buffer()?, buffer()?);
        Ok(Copy { stream, from, to })
    }

    /// Bytes read, which equals the bytes written.
    pub fn bytes(&self) -> usize {
        self.from.len()
    }

    /// The times of several copies, in seconds each.
    ///
    /// # Errors
    /// The driver's error as text.
    pub fn times(&mut self, effort: Effort) -> Result<Vec<f64>, String> {
        let Copy { stream, from, to } = self;
        let mut copies = |calls| wall(calls, || stream.copy(from, to), || stream.synchronize());
        let once = Effort { repeats: 1, ..effort };
        (0..3).map(|_| interleaved(once, &mut [&mut copies]).map(|times| times[0])).collect()
    }
}
