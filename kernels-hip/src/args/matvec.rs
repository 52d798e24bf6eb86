//! The argument of the family `matvec`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// Up to three matrices whose rows are contiguous.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct MatvecArgs {
    /// Rows of each matrix: elements of its result. 0 for one that is not there, whose pointers are not used.
    pub rows: [u64; MatvecArgs::MOST],
    /// Elements from one row to the next: multiples of 16 bytes.
    pub stride: [u64; MatvecArgs::MOST],
    /// Elements of a row, and of the vector: below 2^32.
    pub width: u64,
}

impl MatvecArgs {
    /// The most matrices of a launch.
    pub const MOST: usize = 3;
}

// The sources assert the same numbers.
const _: () = {
    assert!(size_of::<MatvecArgs>() == 56 && offset_of!(MatvecArgs, stride) == 24);
    assert!(offset_of!(MatvecArgs, width) == 48);
};
