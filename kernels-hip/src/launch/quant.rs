//! Launches of the family `quant`.

use super::{LaunchShape, capped};
use crate::MAX_BLOCK;

/// Threads that work on a row of the matrix, or on 32 pieces of it.
const TEAM: u64 = 32;
/// Blocks for each multiprocessor.
const BLOCKS: u64 = 8;
/// Teams for each multiprocessor below which a row is split among several.
const FEW_TEAMS: u64 = 16;
/// The most pieces of 32 elements that a team loads at once; half as many of formats that take many registers.
const PIECES_AT_ONCE: u64 = TEAM * 4;
/// Elements of a row above which two teams share it, for several rows of activations. Measured on an H200 with eight rows and a q8_0 matrix
/// of 4096 × 14336, with the kernel before this one: 39 µs instead of 54. With rows of 4096 one team is faster (38 and 45 µs).
const LONG: u64 = 8192;

/// For `quant_unpack_<format>` and `quant_rows_<format>` of so many packs of 16 bytes.
pub fn quant_unpack(packs: u64, multiprocessors: u32) -> LaunchShape {
    teams(packs.div_ceil(TEAM), multiprocessors)
}

/// For `quant_activations` and `quant_activations_<gate>` of so many groups of 32 elements: eight threads for each.
pub fn quant_activations(groups: u64, multiprocessors: u32) -> LaunchShape {
    teams(groups.div_ceil(TEAM / 8), multiprocessors)
}

/// How a product with up to eight rows of activations is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuantDot {
    /// Most rows that the kernel takes: 1, 4 or 8, as in its name.
    pub most: usize,
    /// Teams that share a row of the matrix.
    pub split: u32,
    /// The launch.
    pub shape: LaunchShape,
}

/// For a product of a matrix of `rows` rows of `width` elements with `count` rows, at most eight: a team for each row of the matrix,
/// or several if there are few rows.
pub fn quant_dot(rows: u64, width: u64, count: u64, multiprocessors: u32) -> QuantDot {
    let most = [1, 4].into_iter().find(|most| count <= *most as u64).unwrap_or(8);
    let mut split = if count > 1 && width >= LONG { 2 } else { 1 };
    while split < u64::from(MAX_BLOCK) / TEAM
        && rows * split < FEW_TEAMS * u64::from(multiprocessors)
        && split * 32 * PIECES_AT_ONCE < width
    {
        split *= 2;
    }
    let split = split as u32;
    QuantDot { most, split, shape: quant_dot_split(rows, split, multiprocessors) }
}

/// For products of matrices of so many rows together, each of which `split` teams share.
pub fn quant_dot_split(rows: u64, split: u32, multiprocessors: u32) -> LaunchShape {
    if split == 1 {
        return teams(rows, multiprocessors);
    }
    let teams = u64::from(MAX_BLOCK) / TEAM;
    capped((rows * u64::from(split)).div_ceil(teams), MAX_BLOCK, BLOCKS, multiprocessors)
}

/// For `count` teams of 32 threads.
pub(super) fn teams(count: u64, multiprocessors: u32) -> LaunchShape {
    // Small blocks where there is little to do, so that each multiprocessor gets some.
    let few = count < 2 * u64::from(multiprocessors) * u64::from(MAX_BLOCK) / TEAM;
    let block = if few { 64 } else { MAX_BLOCK };
    capped(
        count.div_ceil(u64::from(block) / TEAM),
        block,
        BLOCKS * u64::from(MAX_BLOCK / block),
        multiprocessors,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_dealt_to_teams() {
        let wide = QuantDot { most: 1, split: 1, shape: LaunchShape { grid: 512, block: 256 } };
        assert_eq!(quant_dot(4096, 4096, 1, 132), wide);
        assert_eq!(quant_dot(4096, 4096, 3, 132).most, 4);
        assert_eq!(quant_dot(4096, 4096, 8, 132).most, 8);
        let short = QuantDot { most: 1, split: 1, shape: LaunchShape { grid: 50, block: 64 } };
        assert_eq!(quant_dot(100, 4096, 1, 132), short, "a row of one load is not split");
        let long = QuantDot { most: 1, split: 4, shape: LaunchShape { grid: 50, block: 256 } };
        assert_eq!(quant_dot(100, 14336, 1, 132), long);
        assert_eq!(quant_dot(4096, 14336, 8, 132).split, 2);
        assert_eq!(quant_unpack(1 << 20, 132).grid, 1056, "eight blocks for each multiprocessor");
        assert_eq!(quant_activations(128, 132), LaunchShape { grid: 16, block: 64 });
    }
}
