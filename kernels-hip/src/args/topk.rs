//! The argument of the kernels of `topk`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// Rows, of each section of which the first elements in order are taken: `topk_select`. See [`crate::launch::topk_pass`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct TopkMap {
    /// Number of rows.
    pub rows: u64,
    /// Elements of a row, below 2^32.
    pub length: u64,
    /// How many elements of a section are wanted.
    pub keep: u64,
    /// Elements from a row of the output to the next: what all sections of a row leave.
    pub out_row: u64,
    /// Sections of a row.
    pub sections: u64,
    /// 1: the greatest are taken.
    pub descending: u32,
    /// Zero.
    pub reserved: u32,
}

// The source asserts the same numbers.
const _: () = assert!(size_of::<TopkMap>() == 48 && offset_of!(TopkMap, descending) == 40);
