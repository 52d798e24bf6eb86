//! The argument of the kernels of `scan`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// Lines to scan: element i of line o · inner + c lies at (o · length + i) · inner + c.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct ScanMap {
    /// Number of lines.
    pub lines: u64,
    /// Elements of a line.
    pub length: u64,
    /// Lines that are interleaved; 1 except for `scan_cols_*`.
    pub inner: u64,
    /// Elements of a section; the last of a line may be shorter.
    pub section: u64,
    /// Sections of a line.
    pub sections: u64,
}

// The source asserts the same numbers.
const _: () = assert!(size_of::<ScanMap>() == 40 && offset_of!(ScanMap, section) == 24);
