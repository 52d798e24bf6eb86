//! Arguments of the family `index`: maps of gathers and scatters, and the record of an invalid id.

use super::Axes;
use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// Reports an id out of range: the first one since the record was zeroed.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct IndexFault {
    /// 0: all ids were valid, and the other fields are not written.
    pub taken: u32,
    /// The `operation` of the map.
    pub operation: u32,
    /// The `axis` of the map.
    pub axis: u32,
    /// Zero.
    pub reserved: u32,
    /// The id.
    pub id: i64,
    /// The length of the axis.
    pub length: u64,
}

/// The type of ids: what `id_type` of the maps holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum IdType {
    /// Unsigned, 8 bits.
    U8 = 0,
    /// Unsigned, 32 bits.
    U32 = 1,
    /// Signed, 32 bits.
    I32 = 2,
    /// Signed, 64 bits.
    I64 = 3,
}

/// `out[i] = src[src(i) + ids[ids(i)] · axis_stride]`, out tight: `index_gather`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct GatherMap {
    /// Number of results.
    pub count: u64,
    /// Stride of src along the indexed axis.
    pub axis_stride: u64,
    /// Length of that axis.
    pub length: u64,
    /// Dimensions in use.
    pub rank: u32,
    /// An [`IdType`].
    pub id_type: u32,
    /// 1: count, lengths and strides of src count 16-byte packs, and all pointers are aligned to them.
    pub packed: u32,
    /// Identifies the operation to the caller, in [`IndexFault`].
    pub operation: u32,
    /// The axis, for [`IndexFault`].
    pub axis: u32,
    /// Zero.
    pub reserved: u32,
    /// Lengths.
    pub dims: Axes,
    /// Strides of src, 0 along the axis.
    pub src: Axes,
    /// Strides of the ids.
    pub ids: Axes,
}

/// `dst[dst(line) + id · dst_axis] = or += src[src(line) + j · src_axis]` for id number j of each line, in that order:
/// `index_scatter`, `index_scatter_add`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct ScatterMap {
    /// Number of lines: the product of the dims.
    pub lines: u64,
    /// Threads that share a line, at least 1.
    pub owners: u64,
    /// Ids of each line.
    pub count: u64,
    /// Length of dst along the axis.
    pub length: u64,
    /// Stride of dst along the axis.
    pub dst_axis: u64,
    /// Stride between the ids of a line.
    pub ids_axis: u64,
    /// Stride between the elements of src that belong to them.
    pub src_axis: u64,
    /// Dimensions in use.
    pub rank: u32,
    /// An [`IdType`].
    pub id_type: u32,
    /// Identifies the operation to the caller, in [`IndexFault`].
    pub operation: u32,
    /// The axis, for [`IndexFault`].
    pub axis: u32,
    /// Lengths, without the axis.
    pub dims: Axes,
    /// Strides of dst between lines.
    pub dst: Axes,
    /// Strides of the ids between lines.
    pub ids: Axes,
    /// Strides of src between lines.
    pub src: Axes,
}

// The source asserts the same numbers.
const _: () = {
    assert!(size_of::<IndexFault>() == 32 && offset_of!(IndexFault, id) == 16);
    assert!(size_of::<GatherMap>() == 240 && offset_of!(GatherMap, rank) == 24);
    assert!(offset_of!(GatherMap, dims) == 48 && offset_of!(GatherMap, ids) == 176);
    assert!(size_of::<ScatterMap>() == 328 && offset_of!(ScatterMap, rank) == 56);
    assert!(offset_of!(ScatterMap, dims) == 72 && offset_of!(ScatterMap, src) == 264);
};
