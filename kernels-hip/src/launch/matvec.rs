//! Launches of `matvec_*`.

use super::{LaunchShape, capped};
use crate::MAX_BLOCK;

/// Threads that share a row of the matrix.
const TEAM: u64 = 32;
/// Blocks for each multiprocessor.
const BLOCKS: u64 = 8;

/// For `matvec_*` of matrices with so many rows together.
pub fn matvec(rows: u64, multiprocessors: u32) -> LaunchShape {
    // Small blocks where there is little to do, so that each multiprocessor gets some.
    let few = rows < 2 * u64::from(multiprocessors) * u64::from(MAX_BLOCK) / TEAM;
    let block = if few { 64 } else { MAX_BLOCK };
    let each = BLOCKS * u64::from(MAX_BLOCK / block);
    capped(rows.div_ceil(u64::from(block) / TEAM), block, each, multiprocessors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_multiprocessor_gets_rows() {
        assert_eq!(matvec(14_336, 132), LaunchShape { grid: 1056, block: 256 });
        assert_eq!(matvec(1024, 132), LaunchShape { grid: 512, block: 64 });
        assert_eq!(matvec(0, 132).grid, 1);
    }
}
