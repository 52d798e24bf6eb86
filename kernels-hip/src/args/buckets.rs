//! The argument of the kernels of `buckets`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// A deterministic scatter_add whose destinations are split into buckets: `buckets_*`. See [`crate::launch::buckets`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct BucketMap {
    /// Number of terms, below 2^32.
    pub terms: u64,
    /// Terms of a line.
    pub count: u64,
    /// Destinations of a line.
    pub length: u64,
    /// Lines that are contiguous.
    pub inner: u64,
    /// The first destination of this launch.
    pub first: u64,
    /// Number of destinations of this launch.
    pub owned: u64,
    /// Tiles of terms.
    pub tiles: u64,
    /// The base-2 logarithm of a bucket's destinations.
    pub shift: u32,
    /// Number of buckets.
    pub buckets: u32,
    /// An [`IdType`](super::IdType).
    pub id_type: u32,
    /// Identifies the operation to the caller, in [`IndexFault`](super::IndexFault).
    pub operation: u32,
    /// The axis, for [`IndexFault`](super::IndexFault).
    pub axis: u32,
    /// 1: `buckets_add` reads the old values from another array, and writes every destination.
    pub apart: u32,
}

// The source asserts the same numbers.
const _: () = {
    assert!(size_of::<BucketMap>() == 80 && offset_of!(BucketMap, tiles) == 48);
    assert!(offset_of!(BucketMap, shift) == 56);
};
