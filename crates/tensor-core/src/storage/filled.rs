//! Storage whose bytes come from elsewhere, piece by piece.

use super::Storage;
use crate::cpu;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{On, Result};
use crate::hip::HipStorage;

/// Writes the bytes of a storage from the given one on: all that it is lent.
pub(crate) type Fill<'a> = &'a mut dyn FnMut(usize, &mut [u8]) -> Result<()>;

impl Storage {
    /// `count` elements on `device`, whose little-endian bytes `fill` writes: on the CPU at once and in their place, else by pieces of
    /// whole elements, from front to back. An error of `fill` is passed on as it is.
    pub(crate) fn filled(
        device: &Device,
        dtype: DType,
        count: usize,
        operation: &'static str,
        fill: Fill<'_>,
    ) -> Result<Storage> {
        match device {
            Device::Cpu => {
                let mut elements = cpu::zeroed(dtype, count, operation).on(device)?;
                fill(0, elements.as_bytes_mut())?;
                Ok(Storage::Cpu(elements))
            }
            Device::Hip(device) => {
                HipStorage::filled(device, dtype, count, operation, fill).map(Storage::Hip)
            }
        }
    }
}
