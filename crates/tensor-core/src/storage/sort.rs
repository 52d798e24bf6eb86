//! Sorting, by device.

use super::Storage;
use crate::cpu;
use crate::error::Result;
use crate::hip;
use crate::layout::Layout;

/// Sorting along the last axis. The results are contiguous, with `keep` elements along that axis. The layout has a last
/// axis, with `keep` to `u32::MAX` elements.
impl Storage {
    /// The first `keep` elements of each sorted row, and their positions.
    pub(crate) fn sort(
        &self,
        layout: &Layout,
        descending: bool,
        keep: usize,
        operation: &'static str,
    ) -> Result<(Storage, Storage)> {
        match self {
            Storage::Cpu(storage) => {
                let (values, positions) = cpu::ops::sort::sort(storage, layout, descending, keep, operation)?;
                Ok((Storage::Cpu(values), Storage::Cpu(positions)))
            }
            Storage::Hip(storage) => {
                let (values, positions) = hip::ops::sort::sort(storage, layout, descending, keep, operation)?;
                Ok((Storage::Hip(values), Storage::Hip(positions)))
            }
        }
    }

    /// The positions of the first `keep` elements of each sorted row.
    pub(crate) fn argsort(
        &self,
        layout: &Layout,
        descending: bool,
        keep: usize,
        operation: &'static str,
    ) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => {
                cpu::ops::sort::argsort(storage, layout, descending, keep, operation).map(Storage::Cpu)
            }
            Storage::Hip(storage) => {
                hip::ops::sort::argsort(storage, layout, descending, keep, operation).map(Storage::Hip)
            }
        }
    }
}
