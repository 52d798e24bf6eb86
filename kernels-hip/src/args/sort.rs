//! The argument of the kernels of `sort`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// Rows to sort, and how far a pass has come: `sort_tiles` and `sort_merge`. See [`crate::launch::sort_passes`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct SortMap {
    /// Number of rows.
    pub rows: u64,
    /// Elements of a row, below 2^32.
    pub length: u64,
    /// For tiles, elements of a run that the pass makes: a power of two. For merges, of the runs that it reads.
    pub run: u64,
    /// How many elements of a sorted row are wanted; no run stores more.
    pub keep: u64,
    /// Elements from a row of the input to the next.
    pub in_row: u64,
    /// Elements from a row of the output to the next.
    pub out_row: u64,
    /// 1: the greatest comes first.
    pub descending: u32,
    /// The base-2 logarithm of `run`, for tiles.
    pub shift: u32,
}

// The source asserts the same numbers.
const _: () = {
    assert!(size_of::<SortMap>() == 56 && offset_of!(SortMap, run) == 16);
    assert!(offset_of!(SortMap, in_row) == 32 && offset_of!(SortMap, descending) == 48);
};
