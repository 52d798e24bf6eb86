//! The arguments of the kernels of `attention` and `attention_mma`.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// q `[batch, heads, queries, d]`, k `[batch, heads / group, keys, d]`, v `[batch, heads / group, keys, dv]`, a mask
/// that broadcasts to `[batch, heads, queries, keys]`; the output is tight.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct AttentionArgs {
    /// Number of batches.
    pub batch: u64,
    /// Heads of q.
    pub heads: u64,
    /// Heads of q for each head of k and v.
    pub group: u64,
    /// Rows of q.
    pub queries: u64,
    /// Rows of k and v.
    pub keys: u64,
    /// Columns of q and k.
    pub d: u64,
    /// Columns of v.
    pub dv: u64,
    /// Strides of q.
    pub q: [u64; 4],
    /// Strides of k.
    pub k: [u64; 4],
    /// Strides of v.
    pub v: [u64; 4],
    /// Strides of the mask in its own elements; 0 where it is broadcast.
    pub mask: [u64; 4],
    /// The factor of q kᵀ.
    pub scale: f64,
    /// [`AttentionArgs::NO_MASK`] and its siblings.
    pub mask_kind: u32,
    /// 1: row i attends to keys 0 to i.
    pub causal: u32,
}

impl AttentionArgs {
    /// There is no mask; its pointer is not read.
    pub const NO_MASK: u32 = 0;
    /// The mask is u8; a key takes part where it is nonzero.
    pub const TRUTH_MASK: u32 = 1;
    /// The mask has the unit's dtype and is added to the scores.
    pub const ADDED_MASK: u32 = 2;
    /// The greatest `d` of `attention_few_*`.
    pub const ROW_DEPTH: u64 = 512;
}

/// The argument of `attention_few_*` and `attention_join_*`, and a part of that of `attention_paged_*`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct FewArgs {
    /// The whole work.
    pub of: AttentionArgs,
    /// Keys of a block: at most 256.
    pub chunk: u32,
    /// Blocks for the keys of a head. With several, they write parts for `attention_join_*`: see [`FewArgs::parts`].
    pub splits: u32,
}

impl FewArgs {
    /// Elements of the parts, which have the compute type: none if there is one block for the keys of a head. `None` if there are more
    /// than a number holds.
    pub fn parts(&self) -> Option<u64> {
        if self.splits < 2 {
            return Some(0);
        }
        let AttentionArgs { batch, heads, queries, dv, .. } = self.of;
        [heads, queries, self.splits.into(), dv.checked_add(2)?]
            .into_iter()
            .try_fold(batch, |all, length| all.checked_mul(length))
    }
}

/// The argument of `attention_paged_*`. Key i of a batch is row i % 2^shift of page `table[batch][i / 2^shift]` of k and v.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct PagedArgs {
    /// The work: one query of a head, without a mask; `keys` are those of the table, and k and v have no batches.
    pub few: FewArgs,
    /// Strides of the table `[batch, pages of a batch]`.
    pub table: [u64; 2],
    /// Stride of the positions `[batch]`.
    pub positions: u64,
    /// Pages of k and v.
    pub length: u64,
    /// How many keys a query sees at most: the one at its position and those before it.
    pub window: u64,
    /// A page has 2^shift rows.
    pub shift: u32,
    /// Identifies the operation to the caller, in [`IndexFault`](super::IndexFault).
    pub operation: u32,
    /// The axis of k and v, for [`IndexFault`](super::IndexFault).
    pub axis: u32,
    /// Zero.
    pub reserved: u32,
}

// The sources assert the same numbers.
const _: () = {
    assert!(size_of::<AttentionArgs>() == 200 && offset_of!(AttentionArgs, q) == 56);
    assert!(offset_of!(AttentionArgs, mask) == 152 && offset_of!(AttentionArgs, scale) == 184);
    assert!(offset_of!(AttentionArgs, causal) == 196);
    assert!(size_of::<FewArgs>() == 208 && offset_of!(FewArgs, chunk) == 200);
    assert!(size_of::<PagedArgs>() == 264 && offset_of!(PagedArgs, length) == 232);
    assert!(offset_of!(PagedArgs, shift) == 248);
};
