//! Launches of the families `conv` and `pool`.

use super::{LaunchShape, shape};
use crate::MAX_BLOCK;

/// Output channels (of `f64` half as many) and places that a block of `conv_tile` computes on a GPU.
const TILE: [u64; 2] = [64, 128];
/// Neighbouring outputs that a thread of `conv_depthwise` computes on a GPU.
const RUN: u64 = 4;

/// For `conv_tile_*`: a block for each tile. `places` counts the outputs of one channel of one phase, over all images; `parts` the
/// groups, times the phases that have outputs.
pub fn conv(out_channels: u64, places: u64, parts: u64, multiprocessors: u32) -> LaunchShape {
    let tiles = out_channels.div_ceil(TILE[0]).saturating_mul(places.div_ceil(TILE[1])).saturating_mul(parts);
    shape(tiles, MAX_BLOCK, multiprocessors)
}

/// For `conv_depthwise_*`: a thread for some neighbouring outputs.
pub fn conv_depthwise(outputs: u64, multiprocessors: u32) -> LaunchShape {
    shape(outputs.div_ceil(RUN).div_ceil(MAX_BLOCK.into()), MAX_BLOCK, multiprocessors)
}

/// For `pool_*`: a thread for each output.
pub fn pool(outputs: u64, multiprocessors: u32) -> LaunchShape {
    shape(outputs.div_ceil(MAX_BLOCK.into()), MAX_BLOCK, multiprocessors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_as_many_as_tiles() {
        assert_eq!(conv(65, 129, 3, 132), LaunchShape { grid: 12, block: 256 });
        assert_eq!(conv(0, 0, 1, 132), LaunchShape { grid: 1, block: 256 });
        assert_eq!(conv(u64::MAX, u64::MAX, 2, 1), LaunchShape { grid: 32, block: 256 });
        assert_eq!(conv_depthwise(1025, 132), LaunchShape { grid: 2, block: 256 });
        assert_eq!(pool(257, 132), LaunchShape { grid: 2, block: 256 });
    }
}
