//! The argument of the kernels of `topk`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// Rows in sections, of each of which the first elements in the order are selected: `topk_select`. See [`crate::launch::topk_pass`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct TopkMap {
    /// Number of rows.
    pub rows: u64,
    /// Elements of a row, below 2^32.
    pub length: u64,
    /// Number of elements to select from a section.
    pub keep: u64,
    /// Elements from a row of the output to the next: those selected from all sections of a row.
    pub out_row: u64,
    /// Sections of a row.
    pub sections: u64,
    /// 1: the greatest are selected.
    pub descending: u32,
    /// Zero.
    pub reserved: u32,
}

// The source asserts the same numbers.
const _: () = assert!(size_of::<TopkMap>() == 48 && offset_of!(TopkMap, descending) == 40);
