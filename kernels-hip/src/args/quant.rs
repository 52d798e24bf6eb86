//! Arguments of the family `quant`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// Most parts of a block of a quantized format: see [`QuantMap::begin`].
pub const MAX_PARTS: usize = 4;

/// A tensor of quantized blocks, and what is made of it: all kernels of the family `quant`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct QuantMap {
    /// Rows of a matrix: elements in a row of a product.
    pub rows: u64,
    /// Elements of a row of the matrix, a multiple of the format's block.
    pub width: u64,
    /// Rows of activations and of the output; of `quant_experts` the number of ids.
    pub count: u64,
    /// What ids index: rows for `quant_rows`, matrices for `quant_experts`.
    pub length: u64,
    /// Where the scales of the activations begin, in bytes: a multiple of 16.
    pub scales: u64,
    /// Where their sums begin, in bytes: a multiple of 16.
    pub sums: u64,
    /// Where each part of the blocks begins, in bytes: multiples of 16. The first is 0.
    pub begin: [u64; MAX_PARTS],
    /// Teams of 32 lanes that share a row of the matrix: a power of two, at most the teams of a block.
    pub split: u32,
    /// Results that share a row of activations: `quant_experts`.
    pub each: u32,
    /// An [`IdType`](super::IdType).
    pub id_type: u32,
    /// Identifies the operation to the caller, in [`IndexFault`](super::IndexFault).
    pub operation: u32,
    /// The axis, for [`IndexFault`](super::IndexFault).
    pub axis: u32,
    /// Zero.
    pub reserved: u32,
}

/// More matrices with rows as long as [`QuantMap::width`], for the same row of activations: `quant_dot1`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
pub struct MoreMatrices {
    /// Rows of each matrix: elements of its result. 0 for one that is not there, whose pointers are not used.
    pub rows: [u64; MoreMatrices::MOST],
    /// As [`QuantMap::begin`], of each.
    pub begin: [[u64; MAX_PARTS]; MoreMatrices::MOST],
}

impl MoreMatrices {
    /// The most matrices of a launch, beside the first.
    pub const MOST: usize = 2;
}

// The source asserts the same numbers.
const _: () = assert!(size_of::<MoreMatrices>() == 80 && offset_of!(MoreMatrices, begin) == 16);
const _: () = assert!(size_of::<QuantMap>() == 104 && offset_of!(QuantMap, count) == 16);
const _: () = assert!(offset_of!(QuantMap, begin) == 48 && offset_of!(QuantMap, split) == 80);

impl Default for QuantMap {
    /// All zero, but a team for each row and a row of activations for each result.
    fn default() -> QuantMap {
        QuantMap { split: 1, each: 1, ..QuantMap::zeroed() }
    }
}
