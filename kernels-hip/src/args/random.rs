//! The argument of the kernels of `random`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// A range of random numbers: `random_*`. Element i of the launch has the row-major number `first` + i.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct RandomArgs {
    /// Number of elements.
    pub count: u64,
    /// Number of the first one.
    pub first: u64,
    /// Philox's key.
    pub seed: u64,
    /// The high half of Philox's counter.
    pub stream: u64,
}

// The source asserts the same numbers.
const _: () = assert!(size_of::<RandomArgs>() == 32 && offset_of!(RandomArgs, first) == 8);
const _: () = assert!(offset_of!(RandomArgs, stream) == 24);
