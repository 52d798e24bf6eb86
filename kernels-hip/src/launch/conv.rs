//! Launches of the families `conv`, `conv_wide`, `conv_mma`, `conv_split` and `pool`, and which of the first three computes a convolution.

use super::{LaunchShape, shape};
use crate::MAX_BLOCK;

/// Output channels (half as many for `f64`) and positions of a block of `conv_tile` on a GPU.
const TILE: [u64; 2] = [64, 128];
/// Neighbouring outputs of a thread of `conv_depthwise` on a GPU.
const RUN: u64 = 4;

/// Output channels and positions of a block of `conv_wide_<channels>`, `conv_mma_<channels>` and `conv_split_<channels>`.
const WIDE: [[u64; 2]; 2] = [[64, 128], [128, 64]];
/// Their block size.
const WIDE_BLOCK: u32 = 128;
/// Most rows times columns of their filters: the bits of a mask.
const MOST_TAPS: u64 = 64;
/// Fewest output channels and terms for which their tiles pay, and fewest output channels for matrix units.
const FEWEST: [u64; 3] = [16, 16, 32];
/// Fewest input channels, and products of each input number, for which splitting pays. With 288 products it was faster than `conv_wide` on
/// an H100. With 256 it was not faster in an earlier version; the current one was not measured.
const FEWEST_SPLIT: [u64; 2] = [16, 256];

/// The properties of a convolution that decide its kernel. Channels are those of one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvWork {
    /// Channels of the output.
    pub out_channels: u64,
    /// Channels of the input.
    pub in_channels: u64,
    /// Rows of the filter times columns.
    pub taps: u64,
    /// Outputs of one channel of one phase, over all images.
    pub outputs: u64,
    /// Input elements of one channel, over all images.
    pub inputs: u64,
    /// Groups, times the phases that have outputs.
    pub parts: u64,
    /// Size of an element.
    pub element_bytes: usize,
    /// Matrix units may be used: the elements are `f16` or `bf16`, and the device has kernels for its units.
    pub matrix_units: bool,
}

impl ConvWork {
    /// Whether the kernels with tiles of many output channels support it.
    fn fits_tiles(&self) -> bool {
        let terms = self.in_channels.saturating_mul(self.taps);
        self.element_bytes <= 4 && self.taps <= MOST_TAPS && terms < 1 << 31
    }

    /// A block for each tile.
    fn tiles(&self, [channels, outputs]: [u64; 2], multiprocessors: u32) -> LaunchShape {
        let tiles = self.out_channels.div_ceil(channels).saturating_mul(self.outputs.div_ceil(outputs));
        shape(tiles.saturating_mul(self.parts), WIDE_BLOCK, multiprocessors)
    }
}

/// The family, the op and the launch shape for a convolution that is not depthwise.
pub fn conv_kernel(work: &ConvWork, multiprocessors: u32) -> (&'static str, &'static str, LaunchShape) {
    let terms = work.in_channels.saturating_mul(work.taps);
    if !work.fits_tiles() || work.out_channels < FEWEST[0] || terms < FEWEST[1] {
        return ("conv", "tile", conv(work.out_channels, work.outputs, work.parts, multiprocessors));
    }
    let units = work.matrix_units && work.out_channels >= FEWEST[2];
    let (op, tile) = match work.out_channels > WIDE[0][0] && !units {
        true => ("128", WIDE[1]),
        false => ("64", WIDE[0]),
    };
    (if units { "conv_mma" } else { "conv_wide" }, op, work.tiles(tile, multiprocessors))
}

/// Whether `conv_split_64` supports a convolution of `f32`, on a device with kernels for its matrix units, and pays for the splitting.
pub fn conv_split_fits(work: &ConvWork) -> bool {
    let products = u128::from(work.out_channels) * u128::from(work.taps) * u128::from(work.outputs);
    work.fits_tiles()
        && work.out_channels >= FEWEST[2]
        && work.in_channels >= FEWEST_SPLIT[0]
        && products > u128::from(FEWEST_SPLIT[1]) * u128::from(work.inputs)
}

/// For `conv_split_parts_*` and `conv_split_64_*`. `blocks` are those of the arguments.
pub fn conv_split(work: &ConvWork, blocks: u64, multiprocessors: u32) -> [LaunchShape; 2] {
    [shape(blocks, MAX_BLOCK, multiprocessors), work.tiles(WIDE[0], multiprocessors)]
}

/// For `conv_tile_*`: a block for each tile. `outputs` counts the outputs of one channel of one phase, over all images; `parts` the groups,
/// times the phases that have outputs.
fn conv(out_channels: u64, outputs: u64, parts: u64, multiprocessors: u32) -> LaunchShape {
    let tiles =
        out_channels.div_ceil(TILE[0]).saturating_mul(outputs.div_ceil(TILE[1])).saturating_mul(parts);
    shape(tiles, MAX_BLOCK, multiprocessors)
}

/// For `conv_depthwise_*`: a thread for each few neighbouring outputs.
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
    fn many_channels_take_wide_tiles_and_matrix_units() {
        let work = ConvWork {
            out_channels: 128,
            in_channels: 3,
            taps: 49,
            outputs: 1000,
            inputs: 4000,
            parts: 2,
            element_bytes: 2,
            matrix_units: true,
        };
        let blocks = |grid| LaunchShape { grid, block: 128 };
        assert_eq!(conv_kernel(&work, 132), ("conv_mma", "64", blocks(2 * 8 * 2)));
        let plain = ConvWork { matrix_units: false, ..work };
        assert_eq!(conv_kernel(&plain, 132), ("conv_wide", "128", blocks(16 * 2)));
        assert_eq!(
            conv_kernel(&ConvWork { out_channels: 64, ..plain }, 132),
            ("conv_wide", "64", blocks(8 * 2))
        );
        // Too few channels for matrix units; for tiles; too few terms; too many taps; elements of 8 bytes.
        assert_eq!(conv_kernel(&ConvWork { out_channels: 31, ..work }, 132).0, "conv_wide");
        for other in [
            ConvWork { out_channels: 15, ..work },
            ConvWork { in_channels: 1, taps: 15, ..work },
            ConvWork { taps: 65, ..work },
            ConvWork { in_channels: 1 << 27, taps: 16, ..work },
            ConvWork { element_bytes: 8, matrix_units: false, ..work },
        ] {
            assert_eq!(conv_kernel(&other, 132).0, "conv", "{other:?}");
        }
    }

    #[test]
    fn few_products_are_not_worth_splitting() {
        let work = ConvWork {
            out_channels: 128,
            in_channels: 16,
            taps: 9,
            outputs: 1000,
            inputs: 4000,
            parts: 2,
            element_bytes: 4,
            matrix_units: false,
        };
        assert!(conv_split_fits(&work));
        assert_eq!(
            conv_split(&work, 7, 132).map(|shape| (shape.grid, shape.block)),
            [(7, 256), (2 * 8 * 2, 128)]
        );
        for other in [
            ConvWork { out_channels: 31, ..work },
            ConvWork { in_channels: 15, ..work },
            ConvWork { inputs: 4500, ..work },
            ConvWork { taps: 65, ..work },
        ] {
            assert!(!conv_split_fits(&other), "{other:?}");
        }
    }

    #[test]
    fn blocks_are_as_many_as_tiles() {
        assert_eq!(conv(65, 129, 3, 132), LaunchShape { grid: 12, block: 256 });
        assert_eq!(conv(0, 0, 1, 132), LaunchShape { grid: 1, block: 256 });
        assert_eq!(conv(u64::MAX, u64::MAX, 2, 1), LaunchShape { grid: 32, block: 256 });
        assert_eq!(conv_depthwise(1025, 132), LaunchShape { grid: 2, block: 256 });
        assert_eq!(pool(257, 132), LaunchShape { grid: 2, block: 256 });
    }
}
