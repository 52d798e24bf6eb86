//! The argument of the kernels of `radix`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// A pass of an LSD radix sort of rows: `radix_*`. See [`crate::launch::radix_passes`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct RadixMap {
    /// Number of rows.
    pub rows: u64,
    /// Elements of a row, below 2^32.
    pub length: u64,
    /// Tiles of a row.
    pub tiles: u64,
    /// Bits of the key below the digit.
    pub shift: u32,
    /// 1: the greatest come first.
    pub descending: u32,
}

// The source asserts the same numbers.
const _: () = {
    assert!(size_of::<RadixMap>() == 32 && offset_of!(RadixMap, tiles) == 16);
    assert!(offset_of!(RadixMap, shift) == 24);
};
