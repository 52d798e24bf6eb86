//! The argument of the kernels of `buckets`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// Sums by ids, whose destinations are cut into buckets: `buckets_*`. See [`crate::launch::buckets`].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct BucketMap {
    /// Number of terms, below 2^32.
    pub terms: u64,
    /// Terms of a line.
    pub count: u64,
    /// Destinations of a line.
    pub length: u64,
    /// Lines side by side.
    pub inner: u64,
    /// The first destination that takes part.
    pub first: u64,
    /// How many of them do.
    pub owned: u64,
    /// Tiles of terms.
    pub tiles: u64,
    /// The base-2 logarithm of a bucket's destinations.
    pub shift: u32,
    /// Number of buckets.
    pub buckets: u32,
    /// An [`IdType`](super::IdType).
    pub id_type: u32,
    /// What the caller knows the operation by, for [`IndexFault`](super::IndexFault).
    pub operation: u32,
    /// The axis, for [`IndexFault`](super::IndexFault).
    pub axis: u32,
    /// 1: `buckets_add` reads what the destination had from another array, and writes all of the destination.
    pub apart: u32,
}

// The source asserts the same numbers.
const _: () = {
    assert!(size_of::<BucketMap>() == 80 && offset_of!(BucketMap, tiles) == 48);
    assert!(offset_of!(BucketMap, shift) == 56);
};
