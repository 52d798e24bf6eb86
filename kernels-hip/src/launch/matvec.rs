//! Launches of `matvec_*`.

use super::LaunchShape;
use super::quant::teams;

/// For `matvec_*` of matrices with so many rows together: a team for each.
pub fn matvec(rows: u64, multiprocessors: u32) -> LaunchShape {
    teams(rows, multiprocessors)
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
