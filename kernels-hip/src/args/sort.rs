//! The argument of the kernels of `sort`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// A pass over rows to sort: `sort_tiles` and `sort_merge`. See [`crate::launch::sort_passes`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct SortMap {
    /// Number of rows.
    pub rows: u64,
    /// Elements of a row, below 2^32.
    pub length: u64,
    /// Elements of a run. `sort_tiles`: of its output, a power of two. `sort_merge`: of its input.
    pub run: u64,
    /// Number of elements of a sorted row that are wanted; a run stores at most as many.
    pub keep: u64,
    /// Elements from a row of the input to the next.
    pub in_row: u64,
    /// Elements from a row of the output to the next.
    pub out_row: u64,
    /// 1: the greatest come first.
    pub descending: u32,
    /// The base-2 logarithm of `run`, for `sort_tiles`.
    pub shift: u32,
}

// The source asserts the same numbers.
const _: () = {
    assert!(size_of::<SortMap>() == 56 && offset_of!(SortMap, run) == 16);
    assert!(offset_of!(SortMap, in_row) == 32 && offset_of!(SortMap, descending) == 48);
};
