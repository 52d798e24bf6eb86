//! The argument of the family `matvec`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// A matrix whose rows are contiguous.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct MatvecArgs {
    /// Rows of the matrix: elements of the result.
    pub rows: u64,
    /// Elements of a row, and of the vector.
    pub width: u64,
    /// Elements from one row to the next: a multiple of 16 bytes.
    pub stride: u64,
}

// The sources assert the same numbers.
const _: () = assert!(size_of::<MatvecArgs>() == 24 && offset_of!(MatvecArgs, stride) == 16);
