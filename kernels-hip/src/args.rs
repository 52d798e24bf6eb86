//! The structs that kernels take by value, laid out as in the sources.
//!
//! In all of them `dims[0]` is the outermost dimension, and strides count elements (a negative stride in two's complement). At most
//! [`MAX_RANK`] dimensions are used: callers collapse dimensions, and split work that still has too many.

mod attention;
mod buckets;
mod conv;
mod conv_split;
mod index;
mod matvec;
mod norm;
mod quant;
mod quant_mma;
mod radix;
mod random;
mod rope;
mod scan;
mod select;
mod sort;
mod stat;
mod topk;

use crate::MAX_RANK;
use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

pub use attention::*;
pub use buckets::*;
pub use conv::*;
pub use conv_split::*;
pub use index::*;
pub use matvec::*;
pub use norm::*;
pub use quant::*;
pub use quant_mma::*;
pub use radix::*;
pub use random::*;
pub use rope::*;
pub use scan::*;
pub use select::*;
pub use sort::*;
pub use stat::*;
pub use topk::*;

/// Dimensions or strides, outermost first. Entries beyond the rank are not read.
pub type Axes = [u64; MAX_RANK];

/// One input, tight output: unary `elementwise_*`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct Map1 {
    /// Number of elements.
    pub count: u64,
    /// Dimensions in use.
    pub rank: u32,
    /// 1: the input is tight; dims and strides are not read.
    pub contiguous: u32,
    /// Lengths.
    pub dims: Axes,
    /// Strides of the input.
    pub a: Axes,
}

/// Two inputs, tight output: binary arithmetic and comparisons.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct Map2 {
    /// Number of elements.
    pub count: u64,
    /// Dimensions in use.
    pub rank: u32,
    /// [`Map2::A_TIGHT`] and its siblings.
    pub flags: u32,
    /// Lengths.
    pub dims: Axes,
    /// Strides of a.
    pub a: Axes,
    /// Strides of b.
    pub b: Axes,
}

/// A copy, strided on both sides: `elementwise_copy`, `elementwise_const_set` (which reads `dst` only).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct CopyMap {
    /// Number of elements.
    pub count: u64,
    /// Dimensions in use.
    pub rank: u32,
    /// [`CopyMap::SRC_TIGHT`] and its sibling.
    pub flags: u32,
    /// Lengths.
    pub dims: Axes,
    /// Strides of the source.
    pub src: Axes,
    /// Strides of the destination.
    pub dst: Axes,
}

/// A tiled transpose: copies src\[i + j `src_column`\] to dst\[i `dst_row` + j\], in a batch.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct TransposeMap {
    /// Length of i, along which the source has stride 1.
    pub rows: u64,
    /// Length of j, along which the destination has stride 1.
    pub columns: u64,
    /// Stride of the source along j.
    pub src_column: u64,
    /// Stride of the destination along i.
    pub dst_row: u64,
    /// Number of matrices: the product of the batch dims, 1 without any.
    pub batch: u64,
    /// Batch dimensions in use.
    pub batch_rank: u32,
    /// Zero.
    pub reserved: u32,
    /// Lengths of the batch dimensions.
    pub batch_dims: Axes,
    /// Strides of the source between matrices.
    pub src_batch: Axes,
    /// Strides of the destination between matrices.
    pub dst_batch: Axes,
}

/// A reduction. Output o begins at the offset of o in the kept dims. Its element i lies at the offset of i in the reduced dims.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct ReduceMap {
    /// Number of outputs: the product of the kept dims.
    pub outputs: u64,
    /// Elements of each: the product of the reduced dims. Below 2^32 for argmin and argmax.
    pub length: u64,
    /// Elements of a part; the last parts may have fewer or none.
    pub segment: u64,
    /// Parts of each output. If there are several, the kernel writes unrounded accumulators for `reduce_join_*`: for each part those of all
    /// outputs.
    pub parts: u32,
    /// Threads that share an output, or a part of it, in `reduce_*`: a power of two up to 32, or 0 for a block.
    pub group: u32,
    /// Kept dimensions in use.
    pub kept_rank: u32,
    /// Reduced dimensions in use.
    pub reduced_rank: u32,
    /// Lengths of the kept dimensions.
    pub kept_dims: Axes,
    /// Strides of the kept dimensions.
    pub kept_strides: Axes,
    /// Lengths of the reduced dimensions.
    pub reduced_dims: Axes,
    /// Strides of the reduced dimensions.
    pub reduced_strides: Axes,
}

/// Joins the parts of a reduction: `reduce_join_*`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct JoinMap {
    /// Number of outputs.
    pub outputs: u64,
    /// Parts of each output.
    pub parts: u32,
    /// Neighbouring outputs of a block: a power of two up to its threads.
    pub width: u32,
}

/// A batched matrix product: c\[i, j\] = Σ a\[i, p\] b\[p, j\].
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct MatmulArgs {
    /// Rows of a and c.
    pub m: u64,
    /// Columns of b and c.
    pub n: u64,
    /// Columns of a, rows of b.
    pub k: u64,
    /// Number of products: the product of the batch dims, 1 without any.
    pub batch: u64,
    /// Stride between rows of a.
    pub a_row: u64,
    /// Stride between columns of a.
    pub a_col: u64,
    /// Stride between rows of b.
    pub b_row: u64,
    /// Stride between columns of b.
    pub b_col: u64,
    /// Stride between rows of c.
    pub c_row: u64,
    /// Stride between columns of c.
    pub c_col: u64,
    /// Batch dimensions in use.
    pub batch_rank: u32,
    /// Zero.
    pub reserved: u32,
    /// Lengths of the batch dimensions.
    pub batch_dims: Axes,
    /// Strides of a between matrices.
    pub a_batch: Axes,
    /// Strides of b between matrices.
    pub b_batch: Axes,
    /// Strides of c between matrices.
    pub c_batch: Axes,
}

impl Map1 {
    /// A map of a tight input.
    pub fn tight(count: u64) -> Map1 {
        Map1 { count, contiguous: 1, ..Map1::zeroed() }
    }

    /// A map of a strided input; `None` if the slices differ in length or exceed [`MAX_RANK`].
    pub fn strided(dims: &[u64], a: &[u64]) -> Option<Map1> {
        let rank = rank_of(dims, &[a])?;
        Some(Map1 { count: dims.iter().product(), rank, contiguous: 0, dims: axes(dims), a: axes(a) })
    }
}

impl Map2 {
    /// a is tight.
    pub const A_TIGHT: u32 = 1;
    /// b is tight.
    pub const B_TIGHT: u32 = 2;
    /// a is a scalar.
    pub const A_SCALAR: u32 = 4;
    /// b is a scalar.
    pub const B_SCALAR: u32 = 8;

    /// A map of inputs that are each tight or a scalar, as `flags` say.
    pub fn flat(count: u64, flags: u32) -> Map2 {
        Map2 { count, flags, ..Map2::zeroed() }
    }

    /// Whether each input is tight or a scalar.
    pub fn is_flat(&self) -> bool {
        let flat = self.flags | self.flags >> 2;
        flat & (Map2::A_TIGHT | Map2::B_TIGHT) == Map2::A_TIGHT | Map2::B_TIGHT
    }

    /// A map of strided inputs; `None` if the slices differ in length or exceed [`MAX_RANK`].
    pub fn strided(dims: &[u64], a: &[u64], b: &[u64]) -> Option<Map2> {
        let rank = rank_of(dims, &[a, b])?;
        Some(Map2 { count: dims.iter().product(), rank, flags: 0, dims: axes(dims), a: axes(a), b: axes(b) })
    }
}

impl CopyMap {
    /// The source is tight.
    pub const SRC_TIGHT: u32 = 1;
    /// The destination is tight.
    pub const DST_TIGHT: u32 = 2;

    /// A map of two tight arrays.
    pub fn tight(count: u64) -> CopyMap {
        CopyMap { count, flags: CopyMap::SRC_TIGHT | CopyMap::DST_TIGHT, ..CopyMap::zeroed() }
    }

    /// A map of strided arrays; `None` if the slices differ in length or exceed [`MAX_RANK`].
    pub fn strided(dims: &[u64], src: &[u64], dst: &[u64]) -> Option<CopyMap> {
        let rank = rank_of(dims, &[src, dst])?;
        let count = dims.iter().product();
        Some(CopyMap { count, rank, flags: 0, dims: axes(dims), src: axes(src), dst: axes(dst) })
    }
}

impl ReduceMap {
    /// A map of kept and reduced dims, with one part for each output and a block for each part; `None` if slices differ in length or exceed
    /// [`MAX_RANK`].
    pub fn new(
        kept_dims: &[u64],
        kept_strides: &[u64],
        reduced_dims: &[u64],
        reduced_strides: &[u64],
    ) -> Option<ReduceMap> {
        Some(ReduceMap {
            outputs: kept_dims.iter().product(),
            length: reduced_dims.iter().product(),
            segment: reduced_dims.iter().product(),
            parts: 1,
            group: 0,
            kept_rank: rank_of(kept_dims, &[kept_strides])?,
            reduced_rank: rank_of(reduced_dims, &[reduced_strides])?,
            kept_dims: axes(kept_dims),
            kept_strides: axes(kept_strides),
            reduced_dims: axes(reduced_dims),
            reduced_strides: axes(reduced_strides),
        })
    }
}

impl MatmulArgs {
    /// One product of tight row-major matrices.
    pub fn tight(m: u64, n: u64, k: u64) -> MatmulArgs {
        MatmulArgs {
            m,
            n,
            k,
            batch: 1,
            a_row: k,
            a_col: 1,
            b_row: n,
            b_col: 1,
            c_row: n,
            c_col: 1,
            ..MatmulArgs::zeroed()
        }
    }
}

/// The common length of the slices; `None` if they differ or exceed [`MAX_RANK`].
fn rank_of(dims: &[u64], strides: &[&[u64]]) -> Option<u32> {
    let fits = dims.len() <= MAX_RANK && strides.iter().all(|s| s.len() == dims.len());
    fits.then_some(dims.len() as u32)
}

fn axes(values: &[u64]) -> Axes {
    let mut out = [0; MAX_RANK];
    for (to, from) in out.iter_mut().zip(values) {
        *to = *from;
    }
    out
}

// The sources assert the same numbers.
const _: () = {
    assert!(size_of::<Map1>() == 144 && offset_of!(Map1, dims) == 16 && offset_of!(Map1, a) == 80);
    assert!(size_of::<Map2>() == 208 && offset_of!(Map2, a) == 80 && offset_of!(Map2, b) == 144);
    assert!(size_of::<CopyMap>() == 208 && offset_of!(CopyMap, src) == 80 && offset_of!(CopyMap, dst) == 144);
    assert!(size_of::<TransposeMap>() == 240 && offset_of!(TransposeMap, batch_rank) == 40);
    assert!(offset_of!(TransposeMap, batch_dims) == 48 && offset_of!(TransposeMap, dst_batch) == 176);
    assert!(size_of::<ReduceMap>() == 296 && offset_of!(ReduceMap, segment) == 16);
    assert!(offset_of!(ReduceMap, parts) == 24 && offset_of!(ReduceMap, kept_rank) == 32);
    assert!(offset_of!(ReduceMap, kept_dims) == 40 && offset_of!(ReduceMap, reduced_strides) == 232);
    assert!(size_of::<JoinMap>() == 16 && offset_of!(JoinMap, parts) == 8);
    assert!(size_of::<MatmulArgs>() == 344 && offset_of!(MatmulArgs, batch_rank) == 80);
    assert!(offset_of!(MatmulArgs, batch_dims) == 88 && offset_of!(MatmulArgs, c_batch) == 280);
};
