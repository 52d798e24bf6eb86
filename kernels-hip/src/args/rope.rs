//! The argument of the kernels of `rope`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// Rotates pairs of numbers along the last axis of `[batch, head, time, …]`, with cosines and sines of `[batch, time, pair]`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct RopeArgs {
    /// Number of batches.
    pub batch: u64,
    /// Number of heads.
    pub heads: u64,
    /// Number of times.
    pub times: u64,
    /// Pairs of one head at one time.
    pub pairs: u64,
    /// Strides of the input between batches, heads and times.
    pub x: [u64; 3],
    /// Stride of the input between neighbouring pairs.
    pub x_step: u64,
    /// Stride of the input from the first number of a pair to the second.
    pub x_pair: u64,
    /// Strides of the output between batches, heads and times.
    pub out: [u64; 3],
    /// Stride of the output between neighbouring pairs.
    pub out_step: u64,
    /// Stride of the output from the first number of a pair to the second.
    pub out_pair: u64,
    /// Strides of the cosines between batches, times and pairs.
    pub cos: [u64; 3],
    /// Strides of the sines between batches, times and pairs.
    pub sin: [u64; 3],
    /// 1: the kernel iterates over the output as `[batch, time, head]`, else as `[batch, head, time]`.
    pub time_first: u64,
}

/// Rows of arrays `[head, row, 2 · pairs]` that keys and values are written to: `rope_write`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct RopeWriteArgs {
    /// Rows of each head.
    pub length: u64,
    /// Strides of the values between batches, heads and numbers.
    pub v: [u64; 3],
    /// Identifies the operation to the caller, in [`IndexFault`](super::IndexFault).
    pub operation: u32,
    /// The axis, for [`IndexFault`](super::IndexFault).
    pub axis: u32,
}

// The sources assert the same numbers.
const _: () = {
    assert!(size_of::<RopeArgs>() == 168 && offset_of!(RopeArgs, x) == 32 && offset_of!(RopeArgs, out) == 72);
    assert!(size_of::<RopeWriteArgs>() == 40 && offset_of!(RopeWriteArgs, v) == 8);
    assert!(offset_of!(RopeWriteArgs, operation) == 32);
    assert!(offset_of!(RopeArgs, cos) == 112 && offset_of!(RopeArgs, time_first) == 160);
};
