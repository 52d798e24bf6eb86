//! Launches of `attention_*` and `attention_mma_*`.

use super::{LaunchShape, shape};
use crate::MAX_BLOCK;
use crate::args::AttentionArgs;

/// Kernels of attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// `attention_tiles_<dtype>`: a block for a tile of query rows.
    Tiles,
    /// `attention_rows_<dtype>`: a block for each query row.
    Rows,
}

/// Query rows of a head from which tiles are faster.
const FEW: u64 = 8;
/// The kernel: rows if there are few of them, as in decoding, else tiles.
pub fn attention_kernel(queries: u64, d: u64) -> Attention {
    if queries < FEW && d <= AttentionArgs::ROW_DEPTH { Attention::Rows } else { Attention::Tiles }
}

/// For `attention_tiles_*` and `attention_rows_*`. `element_bytes` is the size of the dtype's elements; `heads` counts those of all
/// batches.
pub fn attention(
    kind: Attention,
    (heads, queries, dv): (u64, u64, u64),
    element_bytes: usize,
    multiprocessors: u32,
) -> LaunchShape {
    // Query rows and columns of v of a block.
    let (tile, slab) = if element_bytes == 8 { (32, 64) } else { (64, 128) };
    let rows = if kind == Attention::Rows { 1 } else { tile };
    let items = queries.div_ceil(rows).saturating_mul(dv.div_ceil(slab)).saturating_mul(heads);
    shape(items, MAX_BLOCK, multiprocessors)
}

/// Block size of `attention_mma_*`, and query rows of a block.
const MMA: (u32, u64) = (128, 64);
/// Fewest query rows and keys of a head for which matrix units are used.
const MMA_QUERIES: u64 = 64;
const MMA_KEYS: u64 = 64;
/// Fewest keys for bf16. Its weights have an error of 2^-16, which must be small compared to the error of a sum of so many terms.
const MMA_KEYS_BF16: u64 = 256;

/// For `attention_mma_*`: its op, which is the greatest head size of the kernel, and the shape. `None` if the kernels do not support the
/// work or do not pay. The pointers to q, k and v are 16 bytes aligned.
pub fn attention_mma(
    work: &AttentionArgs,
    bf16: bool,
    multiprocessors: u32,
) -> Option<(&'static str, LaunchShape)> {
    let AttentionArgs { batch, heads, queries, d, dv, .. } = *work;
    let op = match d.max(dv) {
        0..=64 => "64",
        65..=128 => "128",
        _ => return None,
    };
    // The stride of a dimension of length 1 does not matter.
    let packs = |strides: &[u64; 4], lengths: [u64; 3]| {
        strides[3] == 1 && strides.iter().zip(lengths).all(|(n, length)| length == 1 || n.is_multiple_of(8))
    };
    let heads_of_k = heads / work.group.max(1);
    let fits = [d, dv].iter().all(|&n| n > 0 && n.is_multiple_of(8))
        && packs(&work.q, [batch, heads, queries])
        && [&work.k, &work.v].into_iter().all(|strides| packs(strides, [batch, heads_of_k, work.keys]));
    let (block, rows) = MMA;
    let all = batch.saturating_mul(heads).saturating_mul(queries);
    let counted = all.max(work.keys) < 1 << 31;
    let large = queries >= MMA_QUERIES && work.keys >= if bf16 { MMA_KEYS_BF16 } else { MMA_KEYS };
    let items = || batch * heads * queries.div_ceil(rows);
    (fits && counted && large).then(|| (op, shape(items(), block, multiprocessors)))
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;

    use super::*;

    #[test]
    fn a_block_for_each_tile_of_each_head() {
        assert_eq!(attention_kernel(1, 128), Attention::Rows);
        assert_eq!(attention_kernel(1, 513), Attention::Tiles);
        assert_eq!(attention_kernel(8, 128), Attention::Tiles);
        let grid = |kind, bytes| attention(kind, (6, 65, 129), bytes, 132).grid;
        assert_eq!(grid(Attention::Tiles, 4), 6 * 2 * 2);
        assert_eq!(grid(Attention::Tiles, 8), 6 * 3 * 3);
        assert_eq!(grid(Attention::Rows, 2), 6 * 65 * 2);
        assert_eq!(attention(Attention::Rows, (0, 1, 1), 4, 2), LaunchShape { grid: 1, block: 256 });
    }
    #[test]
    fn matrix_units_take_large_heads_of_whole_packs() {
        let strides = [0, 0, 128, 1];
        let sizes =
            AttentionArgs { batch: 2, heads: 3, group: 1, queries: 129, keys: 64, ..AttentionArgs::zeroed() };
        let work = AttentionArgs { d: 128, dv: 72, q: strides, k: strides, v: strides, ..sizes };
        let expected = LaunchShape { grid: 18, block: 128 };
        assert_eq!(attention_mma(&work, false, 132), Some(("128", expected)));
        assert_eq!(
            attention_mma(&AttentionArgs { d: 64, dv: 8, ..work }, false, 132),
            Some(("64", expected))
        );
        let alone = AttentionArgs { batch: 1, heads: 1, q: [1, 1, 128, 1], ..work };
        assert!(attention_mma(&alone, false, 132).is_some());
        for other in [
            AttentionArgs { d: 130, ..work },
            AttentionArgs { dv: 71, ..work },
            AttentionArgs { dv: 0, ..work },
            AttentionArgs { queries: 63, ..work },
            AttentionArgs { keys: 63, ..work },
            AttentionArgs { q: [0, 0, 132, 1], ..work },
            AttentionArgs { v: [0, 0, 128, 2], ..work },
            AttentionArgs { heads: 1 << 40, ..work },
        ] {
            assert_eq!(attention_mma(&other, false, 132), None, "{other:?}");
        }
        assert_eq!(attention_mma(&work, true, 132), None);
        assert!(attention_mma(&AttentionArgs { keys: 256, ..work }, true, 132).is_some());
    }
}
