//! Storage whose bytes are supplied piece by piece.

use super::Storage;
use crate::cpu;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{On, Result};
use crate::hip::{HipStorage, Staging};

/// Fills a slice with the storage's bytes, beginning at the given offset.
pub(crate) type Fill<'a> = &'a mut dyn FnMut(usize, &mut [u8]) -> Result<()>;

impl Storage {
    /// `count` elements in host memory, whose little-endian bytes `fill` writes all at once, in place. Errors of `fill`
    /// are returned unchanged.
    pub(crate) fn filled(
        dtype: DType,
        count: usize,
        operation: &'static str,
        fill: Fill<'_>,
    ) -> Result<Storage> {
        let mut elements = cpu::zeroed(dtype, count, operation).on(&Device::Cpu)?;
        fill(0, elements.as_bytes_mut())?;
        Ok(Storage::Cpu(elements))
    }

    /// As [`Storage::filled`], on the device of `staging`, in pieces of whole elements, from front to back.
    pub(crate) fn staged(
        staging: &mut Staging,
        dtype: DType,
        count: usize,
        operation: &'static str,
        fill: Fill<'_>,
    ) -> Result<Storage> {
        HipStorage::filled(staging, dtype, count, operation, fill).map(Storage::Hip)
    }
}
