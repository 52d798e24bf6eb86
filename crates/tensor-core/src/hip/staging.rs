//! Memory of the host that data pass through on their way to a device.

use std::fmt;

use hip_safe::{DeviceViewMut, PinnedBuffer, Stream};

use super::HipDevice;
use super::device::wrap;
use crate::device::Device;
use crate::error::{On, Result};
use crate::memory::zero_bytes;

/// Bytes per copy through ordinary memory, a multiple of every element size. This fits a core's caches.
const PIECE: usize = 1 << 20;
/// Bytes per copy through page-locked memory, which is in flight while the next piece is written.
const PINNED: usize = 4 << 20;

/// Pieces of host memory, and the stream that copies them.
pub(crate) struct Staging {
    device: HipDevice,
    stream: Stream,
    pieces: Pieces,
}

enum Pieces {
    Plain(Vec<u8>),
    /// The first is the one that was used last.
    Pinned([PinnedBuffer<u8>; 2]),
}

impl Staging {
    /// Ordinary memory, allocated when the first piece comes. Copies are complete when they return.
    pub(crate) fn plain(device: &HipDevice) -> Self {
        let (device, stream) = (device.clone(), device.stream().clone());
        Self { device, stream, pieces: Pieces::Plain(Vec::new()) }
    }

    /// Page-locked memory, copied on the device's own stream.
    pub(crate) fn pinned(device: &HipDevice) -> Result<Self> {
        Self::locked(device, device.stream().clone())
    }

    /// Page-locked memory, copied on a stream of its own.
    pub(crate) fn beside(device: &HipDevice) -> Result<Self> {
        let stream = device.device().new_stream().map_err(wrap("upload"))?;
        Self::locked(device, stream)
    }

    fn locked(device: &HipDevice, stream: Stream) -> Result<Self> {
        let buffer = || -> Result<PinnedBuffer<u8>> {
            let buffer = PinnedBuffer::zeroed(device.device(), PINNED).map_err(wrap("upload"))?;
            Ok(buffer.named("a piece of an upload"))
        };
        let pieces = Pieces::Pinned([buffer()?, buffer()?]);
        Ok(Self { device: device.clone(), stream, pieces })
    }

    /// The device that data go to.
    pub(super) fn device(&self) -> &HipDevice {
        &self.device
    }

    /// Whether the copies run on another stream than the device's operations.
    pub(crate) fn has_own_stream(&self) -> bool {
        self.stream != *self.device.stream()
    }

    /// The most bytes that a piece has.
    pub(super) fn piece(&self) -> usize {
        match self.pieces {
            Pieces::Plain(_) => PIECE,
            Pieces::Pinned(_) => PINNED,
        }
    }

    /// Copies what `fill` writes over all of `target`, which is no longer than a piece. Errors of `fill` are returned
    /// unchanged.
    pub(super) fn bring(
        &mut self,
        target: &mut DeviceViewMut<'_, u8>,
        operation: &'static str,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let length = target.len();
        let failed = |error| wrap(operation)(error).on(&Device::Hip(self.device.clone()));
        match &mut self.pieces {
            Pieces::Plain(piece) => {
                if piece.len() < length {
                    *piece = zero_bytes(length, operation).on(&Device::Hip(self.device.clone()))?;
                }
                let piece = &mut piece[..length];
                fill(piece)?;
                self.stream.copy_from_host(piece, target).map_err(failed)
            }
            Pieces::Pinned(pieces) => {
                pieces.swap(0, 1);
                let [piece, _] = pieces;
                // Waits until its last copy is complete.
                fill(&mut piece.as_mut_slice().map_err(failed)?[..length])?;
                if length == piece.len() {
                    return self.stream.copy_from_pinned(piece, target).map_err(failed);
                }
                // Asynchronous copies take a whole buffer: the end of a tensor is waited for.
                let bytes = &piece.as_slice().map_err(failed)?[..length];
                self.stream.copy_from_host(bytes, target).map_err(failed)
            }
        }
    }

    /// Waits for all copies.
    pub(crate) fn finish(&self) -> Result<()> {
        self.stream.synchronize().map_err(wrap("upload"))
    }
}

impl fmt::Debug for Staging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Staging({} on {})", self.device, self.stream)
    }
}
