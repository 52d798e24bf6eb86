//! The argument of the kernels of `stat`.

use super::Axes;
use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// A statistic over some dims: `stat_*`. Output o begins at the offset of o in the kept dims. Its element i lies at the offset of i in the
/// reduced dims.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct StatMap {
    /// Number of outputs.
    pub outputs: u64,
    /// Elements of each.
    pub length: u64,
    /// Kept dimensions in use.
    pub kept_rank: u32,
    /// Reduced dimensions in use.
    pub reduced_rank: u32,
    /// Lengths of the kept dimensions.
    pub kept_dims: Axes,
    /// Their strides.
    pub kept_strides: Axes,
    /// Lengths of the reduced dimensions.
    pub reduced_dims: Axes,
    /// Their strides.
    pub reduced_strides: Axes,
}

const _: () = {
    assert!(size_of::<StatMap>() == 280 && offset_of!(StatMap, kept_rank) == 16);
    assert!(offset_of!(StatMap, kept_dims) == 24 && offset_of!(StatMap, reduced_strides) == 216);
};
