//! Storage whose bytes are supplied piece by piece.

use super::Storage;
use crate::cpu;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{On, Result};
use crate::hip::HipStorage;

/// Fills a slice with the storage's bytes, beginning at the given offset.
pub(crate) type Fill<'a> = &'a mut dyn FnMut(usize, &mut [u8]) -> Result<()>;

impl Storage {
    /// `count` elements on `device`, whose little-endian bytes `fill` writes. On the CPU it writes them all at once, in
    /// place; otherwise in pieces of whole elements, from front to back. Errors of `fill` are returned unchanged.
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
