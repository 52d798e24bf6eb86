//! Launches of `attention_*`.

use super::{LaunchShape, shape};
use crate::MAX_BLOCK;
use crate::args::AttentionArgs;

/// Which kernel an attention uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// `attention_tiles_<dtype>`: a block for a tile of query rows.
    Tiles,
    /// `attention_rows_<dtype>`: a block for each query row.
    Rows,
}

/// Query rows of a head from which tiles are quicker.
const FEW: u64 = 8;
/// Rows where there are few of them, as in decoding; else tiles.
pub fn attention_kernel(queries: u64, d: u64) -> Attention {
    if queries < FEW && d <= AttentionArgs::ROW_DEPTH { Attention::Rows } else { Attention::Tiles }
}

/// For `attention_tiles_*` and `attention_rows_*`; `element_bytes` is the size of the dtype's elements. `heads` counts those
/// of all batches.
pub fn attention(
    kind: Attention,
    (heads, queries, dv): (u64, u64, u64),
    element_bytes: usize,
    multiprocessors: u32,
) -> LaunchShape {
    // Rows and columns of v that a block computes.
    let (tile, slab) = if element_bytes == 8 { (32, 64) } else { (64, 128) };
    let rows = if kind == Attention::Rows { 1 } else { tile };
    let items = queries.div_ceil(rows).saturating_mul(dv.div_ceil(slab)).saturating_mul(heads);
    shape(items, MAX_BLOCK, multiprocessors)
}

#[cfg(test)]
mod tests {
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
}
