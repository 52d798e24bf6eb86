//! Passes and launches of the family `radix`.

use super::{LaunchShape, shape};
use crate::MAX_BLOCK;
use crate::args::RadixMap;

/// Elements of a tile, as in the source.
const TILE: u64 = 2048;
/// Values of a digit.
const DIGITS: u64 = 256;
/// Bits of a digit.
const BITS: u32 = 8;
/// Shortest rows, and fewest elements of all rows, for which the passes are faster than merging.
const LONG: u64 = 1 << 15;
const MANY: u64 = 1 << 20;

/// Whether a radix sort is faster for `rows` rows of `length` elements, all of which are wanted.
pub fn by_digits(rows: u64, length: u64, keep: u64, element_bytes: usize) -> bool {
    let wanted = keep == length && length <= u64::from(u32::MAX);
    wanted && element_bytes <= 4 && length >= LONG && rows.saturating_mul(length) >= MANY
}

/// The passes of an LSD radix sort of `rows` tight rows of `length` elements. A pass is `radix_count`, inclusive prefix sums of each row's
/// counts, and `radix_deal`. `length` is not 0.
///
/// ```
/// let shifts: Vec<u32> = kernels_hip::launch::radix_passes(64, 128_256, false, 2).map(|pass| pass.shift).collect();
/// assert_eq!(shifts, [0, 8]);
/// ```
pub fn radix_passes(
    rows: u64,
    length: u64,
    descending: bool,
    element_bytes: usize,
) -> impl ExactSizeIterator<Item = RadixMap> {
    let tiles = length.div_ceil(TILE);
    (0..element_bytes).map(move |digit| RadixMap {
        rows,
        length,
        tiles,
        shift: digit as u32 * BITS,
        descending: descending.into(),
    })
}

/// Number of counts that `radix_count` writes for each row.
pub fn radix_counts(pass: &RadixMap) -> u64 {
    DIGITS * pass.tiles
}

/// For `radix_count` and `radix_deal`: a block for each tile.
pub fn radix(pass: &RadixMap, multiprocessors: u32) -> LaunchShape {
    shape(pass.rows.saturating_mul(pass.tiles), MAX_BLOCK, multiprocessors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_elements_of_long_rows_are_sorted_by_digits() {
        assert!(by_digits(64, 128_256, 128_256, 4) && by_digits(1, MANY, MANY, 1));
        // Few elements are wanted, wide elements have too many digits, rows are short, there are few elements.
        assert!(!by_digits(64, 128_256, 50, 4) && !by_digits(64, 128_256, 128_256, 8));
        assert!(!by_digits(4096, 1024, 1024, 4) && !by_digits(1, LONG, LONG, 4));
    }

    #[test]
    fn a_pass_for_each_byte_and_a_block_for_each_tile() {
        let passes: Vec<RadixMap> = radix_passes(3, 5000, true, 4).collect();
        assert_eq!(passes.iter().map(|pass| pass.shift).collect::<Vec<_>>(), [0, 8, 16, 24]);
        let pass = &passes[0];
        assert_eq!((pass.tiles, pass.descending, radix_counts(pass)), (3, 1, 768));
        assert_eq!(radix(pass, 132), LaunchShape { grid: 9, block: 256 });
    }
}
