//! Launches of `attention_*` and `attention_mma_*`.

use super::{LaunchShape, shape};
use crate::MAX_BLOCK;
use crate::args::{AttentionArgs, FewArgs};

/// Query rows of a head below which `attention_few_*` is faster, as in decoding.
const FEW: u64 = 8;
/// Keys of a block of `attention_few_*`: a multiple of the least, which is what its threads take at once.
const LEAST_KEYS: u64 = 64;
const MOST_KEYS: u64 = 256;
/// Its blocks for each multiprocessor, if there are enough keys.
const FEW_BLOCKS: u64 = 4;

/// For `attention_tiles_*`. `element_bytes` is the size of the dtype's elements; `heads` counts those of all batches.
pub fn attention_tiles(
    (heads, queries, dv): (u64, u64, u64),
    element_bytes: usize,
    multiprocessors: u32,
) -> LaunchShape {
    // Query rows and columns of v of a block.
    let (tile, slab) = if element_bytes == 8 { (32, 64) } else { (64, 128) };
    let items = queries.div_ceil(tile).saturating_mul(dv.div_ceil(slab)).saturating_mul(heads);
    shape(items, MAX_BLOCK, multiprocessors)
}

/// For `attention_few_*`: how keys are divided, and the shape. `None` if there are too many query rows, or too long ones.
pub fn attention_few(
    work: &AttentionArgs,
    element_bytes: usize,
    multiprocessors: u32,
) -> Option<(FewArgs, LaunchShape)> {
    if work.queries >= FEW || work.d > AttentionArgs::ROW_DEPTH {
        return None;
    }
    // Rows of a block.
    let rows = if element_bytes == 8 { 4 } else { 8 };
    let group = work.group.max(1);
    let heads = work.batch.saturating_mul(work.heads / group);
    let items = heads.saturating_mul((group * work.queries).div_ceil(rows)).max(1);
    let wanted = (FEW_BLOCKS * u64::from(multiprocessors)).div_ceil(items);
    let chunk = work.keys.div_ceil(wanted).next_multiple_of(LEAST_KEYS).clamp(LEAST_KEYS, MOST_KEYS);
    let splits = u32::try_from(work.keys.div_ceil(chunk).max(1)).ok()?;
    let few = FewArgs { of: *work, chunk: chunk as u32, splits };
    Some((few, shape(items.saturating_mul(splits.into()), MAX_BLOCK, multiprocessors)))
}

/// For `attention_join_*` of so many query rows, of all heads.
pub fn attention_join(rows: u64, multiprocessors: u32) -> LaunchShape {
    shape(rows, MAX_BLOCK, multiprocessors)
}

/// Block size of `attention_mma_*`, and query rows of a block.
const MMA: (u32, u64) = (128, 64);
/// Greatest size of a head.
const MMA_SIZE: u64 = 128;
/// Fewest query rows and keys of a head for which matrix units are used.
const MMA_QUERIES: u64 = 64;
const MMA_KEYS: u64 = 64;
/// Fewest keys for bf16. Its weights have an error of 2^-16, which must be small compared to the error of a sum of so many terms.
const MMA_KEYS_BF16: u64 = 256;

/// Whether `attention_mma_*` support heads with these sizes, of keys and of values, and pay for so many queries and keys.
pub fn attention_mma_pays(queries: u64, keys: u64, sizes: [u64; 2], bf16: bool) -> bool {
    let fits = |&size: &u64| size > 0 && size <= MMA_SIZE && size.is_multiple_of(8);
    sizes.iter().all(fits) && queries >= MMA_QUERIES && keys >= if bf16 { MMA_KEYS_BF16 } else { MMA_KEYS }
}

/// For `attention_mma_*`: its op, which is the greatest head size of the kernel, and the shape. `None` if the kernels do not support the
/// work or do not pay. The pointers to q, k and v are 16 bytes aligned.
pub fn attention_mma(
    work: &AttentionArgs,
    bf16: bool,
    multiprocessors: u32,
) -> Option<(&'static str, LaunchShape)> {
    let AttentionArgs { batch, heads, queries, d, dv, .. } = *work;
    if !attention_mma_pays(queries, work.keys, [d, dv], bf16) {
        return None;
    }
    let op = if d.max(dv) <= 64 { "64" } else { "128" };
    // The stride of a dimension of length 1 does not matter.
    let packs = |strides: &[u64; 4], lengths: [u64; 3]| {
        strides[3] == 1 && strides.iter().zip(lengths).all(|(n, length)| length == 1 || n.is_multiple_of(8))
    };
    let heads_of_k = heads / work.group.max(1);
    let fits = packs(&work.q, [batch, heads, queries])
        && [&work.k, &work.v].into_iter().all(|strides| packs(strides, [batch, heads_of_k, work.keys]));
    let (block, rows) = MMA;
    let all = batch.saturating_mul(heads).saturating_mul(queries);
    let counted = all.max(work.keys) < 1 << 31;
    let items = || batch * heads * queries.div_ceil(rows);
    (fits && counted).then(|| (op, shape(items(), block, multiprocessors)))
}

#[cfg(test)]
mod tests {
    use bytemuck::Zeroable;

    use super::*;

    #[test]
    fn a_block_for_each_tile_of_each_head() {
        let grid = |bytes| attention_tiles((6, 65, 129), bytes, 132).grid;
        assert_eq!((grid(4), grid(8)), (6 * 2 * 2, 6 * 3 * 3));
        assert_eq!(attention_tiles((0, 1, 1), 4, 2), LaunchShape { grid: 1, block: 256 });
    }
    #[test]
    fn keys_of_few_rows_are_divided_until_the_gpu_is_busy() {
        let sizes = AttentionArgs {
            batch: 1,
            heads: 32,
            group: 4,
            queries: 1,
            keys: 2112,
            ..AttentionArgs::zeroed()
        };
        let work = AttentionArgs { d: 128, dv: 128, ..sizes };
        let few = |work: &AttentionArgs, bytes| {
            let (few, shape) = attention_few(work, bytes, 132).unwrap();
            (few.chunk, few.splits, shape.grid, few.parts())
        };
        assert_eq!(few(&work, 2), (64, 33, 8 * 33, Some(32 * 33 * 130)));
        assert_eq!(few(&AttentionArgs { keys: 64, ..work }, 2), (64, 1, 8, Some(0)));
        assert_eq!(few(&AttentionArgs { keys: 0, ..work }, 4), (64, 1, 8, Some(0)));
        // Many heads are enough work with the longest chunks; 28 rows of a head take four blocks.
        assert_eq!(few(&AttentionArgs { batch: 128, queries: 7, ..work }, 4).0, 256);
        assert_eq!(few(&AttentionArgs { queries: 7, keys: 64, ..work }, 4).2, 8 * 4);
        assert_eq!(attention_few(&AttentionArgs { d: 513, ..work }, 4, 132), None);
        assert_eq!(attention_few(&AttentionArgs { queries: 8, ..work }, 4, 132), None);
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
