//! Launches of the family `quant_mma`.

use super::{LaunchShape, shape};
use crate::MAX_BLOCK;

/// Rows of the matrix and of activations of a block.
const TILE: [u64; 2] = [128, 64];
/// Numbers of a row in a step.
const STEP: u64 = 64;
/// Blocks that share a multiprocessor.
const RESIDENT: u64 = 2;
/// Fewest steps of a block that shares a tile.
const FEWEST_STEPS: u64 = 8;

/// Most rows for which `quant_mma` is used: those of one tile. With more the matrix is taken apart again for each tile of them, and
/// dequantizing it once for the platform's BLAS is faster. Measured on an H200 with matrices of 4096 × 14336 and 14336 × 4096 in q4_0, q4_k,
/// q6_k and q8_0: 64 rows take 60 to 72 % of that way's time, 128 rows 107 to 128 %.
pub const QUANT_MMA_MOST: usize = 64;

/// How a product by matrix units is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuantMma {
    /// Blocks that share a tile.
    pub split: u32,
    /// The launch of `quant_mma_<format>`.
    pub shape: LaunchShape,
    /// That of `quant_mma_join`, if blocks share tiles.
    pub join: Option<LaunchShape>,
}

/// For a product of a matrix of `rows` rows of `width` elements with `count` rows: a block for each tile, or as many for each as are on the
/// device at once.
pub fn quant_mma(rows: u64, width: u64, count: u64, multiprocessors: u32) -> QuantMma {
    let tiles = rows.div_ceil(TILE[0]).saturating_mul(count.div_ceil(TILE[1])).max(1);
    let most = (width.div_ceil(STEP) / FEWEST_STEPS).max(1);
    let split = (RESIDENT * u64::from(multiprocessors.max(1)) / tiles).clamp(1, most);
    let join =
        (split > 1).then(|| shape((rows * count).div_ceil(MAX_BLOCK.into()), MAX_BLOCK, multiprocessors));
    let shape = shape(tiles.saturating_mul(split), MAX_BLOCK, multiprocessors);
    QuantMma { split: split as u32, shape, join }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_tiles_are_shared() {
        let of = |rows, width, count| {
            let QuantMma { split, shape, join } = quant_mma(rows, width, count, 132);
            (split, shape.grid, join.map(|join| join.grid))
        };
        assert_eq!(of(4096, 14336, 64), (8, 256, Some(1024)));
        assert_eq!(of(14336, 4096, 16), (2, 224, Some(896)));
        assert_eq!(of(14336, 4096, 65), (1, 224, None));
        assert_eq!(of(128, 1024, 64), (2, 2, Some(32)), "a part has eight steps");
        assert_eq!(of(1, 32, 9), (1, 1, None));
        assert_eq!(of(1 << 20, 4096, 512), (1, 132 * 32, None));
    }
}
