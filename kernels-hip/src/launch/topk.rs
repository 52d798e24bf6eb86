//! Selection passes that shorten rows before a sort of their first few elements.

use super::{LaunchShape, shape};
use crate::MAX_BLOCK;
use crate::args::TopkMap;

/// Longest rows that are sorted directly: a tile of `sort_tiles`.
const SHORT: u64 = 2048;
/// A pass pays if it keeps less than one in this many elements.
const FEW: u64 = 8;

/// Elements of a section, which a block of `topk_select` holds in registers.
fn section(element_bytes: usize) -> u64 {
    if element_bytes == 8 { 2048 } else { 4096 }
}

/// The pass of `topk_select` that shortens `rows` tight rows of `length` elements, and keeps the first `keep` elements of each among what
/// is left. `None`: the rows are short enough, or too many elements are wanted; sort them.
///
/// ```
/// let pass = kernels_hip::launch::topk_pass(64, 128_256, 50, true, 4).expect("few of many");
/// assert_eq!((pass.sections, pass.out_row), (32, 1600));
/// assert!(kernels_hip::launch::topk_pass(64, pass.out_row, 50, true, 4).is_none());
/// ```
pub fn topk_pass(
    rows: u64,
    length: u64,
    keep: u64,
    descending: bool,
    element_bytes: usize,
) -> Option<TopkMap> {
    let section = section(element_bytes);
    if length <= SHORT || keep > section.min(length) / FEW {
        return None;
    }
    let sections = length.div_ceil(section);
    let last = length - (sections - 1) * section;
    let out_row = (sections - 1) * keep + keep.min(last);
    Some(TopkMap { rows, length, keep, out_row, sections, descending: descending.into(), reserved: 0 })
}

/// For `topk_select`: a block for each section.
pub fn topk(map: &TopkMap, multiprocessors: u32) -> LaunchShape {
    shape(map.rows.saturating_mul(map.sections), MAX_BLOCK, multiprocessors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_of_long_rows_are_selected() {
        assert_eq!(topk_pass(1, 2048, 1, false, 4), None);
        assert_eq!(topk_pass(1, 8192, 513, false, 4), None);
        assert_eq!(topk_pass(1, 4096, 257, false, 8), None);
        let map = topk_pass(3, 8200, 10, false, 2).expect("few");
        assert_eq!((map.sections, map.out_row), (3, 28));
        assert_eq!(topk(&map, 132), LaunchShape { grid: 9, block: 256 });
        assert_eq!(topk_pass(1, u64::from(u32::MAX), 512, false, 4).map(|map| map.out_row), Some(1 << 29));
    }

    #[test]
    fn passes_end() {
        let (mut length, mut passes) = (1 << 32, 0);
        while let Some(map) = topk_pass(1, length, 512, false, 4) {
            assert!(map.out_row <= length / 8);
            (length, passes) = (map.out_row, passes + 1);
        }
        assert!(length <= 2048 && passes == 7);
    }
}
