//! Launches of the family `scan`.

use super::{LaunchShape, shape};
use crate::MAX_BLOCK;
use crate::args::ScanMap;

/// Kernels of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scan {
    /// `scan_<op>_<dtype>`: a block for each line.
    Rows(ScanMap),
    /// `scan_totals_*`, `scan_offsets_*` and `scan_*`: blocks for each section of a line.
    Sections(ScanMap),
    /// `scan_cols_*`: a thread for each line.
    Columns(ScanMap),
}

/// Longest lines that are scanned by a thread each.
const SHORT: u64 = 32;
/// Fewest elements of a section: several steps of a block.
const SECTION: u64 = 4096;
/// Most elements of a step of a block on a GPU; sections are multiples of it.
const STEP: u64 = 2048;
/// Sections for each multiprocessor.
const SECTIONS_EACH: u64 = 16;

/// The kernels for `outer` groups of `inner` interleaved lines of `length` elements; none of these is 0. `None`: there are too few lines
/// for a thread each; transpose first, so that `inner` is 1.
pub fn scan(outer: u64, length: u64, inner: u64, multiprocessors: u32) -> Option<Scan> {
    let (lines, processors) = (outer * inner, u64::from(multiprocessors.max(1)));
    let whole = ScanMap { lines, length, inner, section: length, sections: 1 };
    if length <= SHORT || (inner > 1 && lines >= 64 * processors) {
        return Some(Scan::Columns(whole));
    }
    if inner > 1 {
        return None;
    }
    if length <= 2 * SECTION || lines >= 4 * processors {
        return Some(Scan::Rows(whole));
    }
    let section = length.div_ceil(SECTIONS_EACH * processors).max(SECTION).next_multiple_of(STEP);
    Some(Scan::Sections(ScanMap { section, sections: length.div_ceil(section), ..whole }))
}

/// For `scan_*` and `scan_totals_*`.
pub fn scan_rows(map: &ScanMap, multiprocessors: u32) -> LaunchShape {
    let block = match map.section {
        ..=256 => 64,
        257..=1024 => 128,
        _ => MAX_BLOCK,
    };
    shape(map.lines.saturating_mul(map.sections), block, multiprocessors)
}

/// For `scan_offsets_*`.
pub fn scan_offsets(map: &ScanMap, multiprocessors: u32) -> LaunchShape {
    shape(map.lines, if map.sections <= 64 { 64 } else { MAX_BLOCK }, multiprocessors)
}

/// For `scan_cols_*`.
pub fn scan_columns(map: &ScanMap, multiprocessors: u32) -> LaunchShape {
    shape(map.lines.div_ceil(64), 64, multiprocessors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_choose_by_number_length_and_neighbourhood() {
        assert!(matches!(scan(1, 32, 1, 2), Some(Scan::Columns(_))));
        assert!(matches!(scan(1, 33, 1, 2), Some(Scan::Rows(_))));
        assert!(matches!(scan(1, 8192, 1, 2), Some(Scan::Rows(_))));
        assert!(matches!(scan(8, 1 << 20, 1, 2), Some(Scan::Rows(_))));
        assert!(matches!(scan(2, 1000, 64, 2), Some(Scan::Columns(_))));
        assert_eq!(scan(2, 1000, 63, 2), None);
        let Some(Scan::Sections(map)) = scan(3, 10_000, 1, 2) else { panic!("sections") };
        assert_eq!((map.lines, map.section, map.sections), (3, 4096, 3));
        assert_eq!(scan_rows(&map, 2), LaunchShape { grid: 9, block: 256 });
        assert_eq!(scan_offsets(&map, 2), LaunchShape { grid: 3, block: 64 });
        let Some(Scan::Sections(map)) = scan(1, 1 << 32, 1, 132) else { panic!("sections") };
        assert!(map.section % STEP == 0 && map.sections <= 132 * SECTIONS_EACH);
        assert!((map.sections - 1) * map.section < map.length);
    }
}
