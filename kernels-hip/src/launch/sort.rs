//! Passes and launches of the family `sort`.

use super::{LaunchShape, shape};
use crate::MAX_BLOCK;
use crate::args::SortMap;

/// Elements of a thread, as in the source.
const ITEMS: u64 = 8;
/// Elements that a block sorts or merges at once.
const TILE: u64 = MAX_BLOCK as u64 * ITEMS;

/// The passes that sort `rows` tight rows of `length` elements, of which the first `keep` are wanted: one pass of `sort_tiles`, then as many
/// of `sort_merge` as needed. A pass reads the output of the previous one, whose rows have `out_row` elements. The last pass writes rows of
/// `keep` elements. `length` and `keep` are not 0.
///
/// ```
/// let runs: Vec<u64> = kernels_hip::launch::sort_passes(1, 5000, 5000, false).map(|pass| pass.run).collect();
/// assert_eq!(runs, [2048, 2048, 4096]);
/// ```
pub fn sort_passes(rows: u64, length: u64, keep: u64, descending: bool) -> impl Iterator<Item = SortMap> {
    let run = length.next_power_of_two().clamp(ITEMS, TILE);
    let row_of = move |run: u64| length.min(length.div_ceil(run).saturating_mul(keep.min(run)));
    let tiles = SortMap {
        rows,
        length,
        run,
        keep,
        in_row: length,
        out_row: row_of(run),
        descending: descending.into(),
        shift: run.ilog2(),
    };
    std::iter::successors(Some(tiles), move |before| {
        // The run length of the pass's output: `run` after `sort_tiles`, twice that after `sort_merge`.
        let run = if before.shift != 0 { before.run } else { 2 * before.run };
        let merge = SortMap { run, in_row: before.out_row, out_row: row_of(2 * run), shift: 0, ..*before };
        (run < length).then_some(merge)
    })
}

/// For a pass of [`sort_passes`].
pub fn sort(pass: &SortMap, multiprocessors: u32) -> LaunchShape {
    if pass.shift == 0 {
        let pairs = pass.length.div_ceil(2 * pass.run);
        let tiles = pass.keep.min(2 * pass.run).div_ceil(TILE);
        return shape(pass.rows.saturating_mul(pairs).saturating_mul(tiles), MAX_BLOCK, multiprocessors);
    }
    let runs = pass.rows.saturating_mul(pass.length.div_ceil(pass.run));
    // Little work is spread over more blocks, with as few threads as a run needs.
    let little = runs.saturating_mul(pass.run) < TILE * 4 * u64::from(multiprocessors.max(1));
    let block = if little || pass.length > pass.run { (pass.run / ITEMS).max(64) } else { MAX_BLOCK.into() };
    shape(runs.div_ceil(block * ITEMS / pass.run), block as u32, multiprocessors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(length: u64, keep: u64) -> Vec<(u64, u64, u64)> {
        sort_passes(3, length, keep, true).map(|pass| (pass.run, pass.in_row, pass.out_row)).collect()
    }

    #[test]
    fn passes_double_runs_and_end_in_rows_of_what_is_kept() {
        assert_eq!(rows(1, 1), [(8, 1, 1)]);
        assert_eq!(rows(9, 4), [(16, 9, 4)]);
        assert_eq!(rows(2048, 2048), [(2048, 2048, 2048)]);
        assert_eq!(rows(2049, 2049), [(2048, 2049, 2049), (2048, 2049, 2049)]);
        // Three runs of five, then two, then one.
        assert_eq!(rows(5000, 5), [(2048, 5000, 15), (2048, 15, 10), (4096, 10, 5)]);
        assert_eq!(rows(5000, 3000), [(2048, 5000, 5000), (2048, 5000, 5000), (4096, 5000, 3000)]);
        let last = sort_passes(1, u64::from(u32::MAX), 1, false).last().expect("a pass");
        assert_eq!((last.run, last.out_row), (1 << 31, 1));
    }

    #[test]
    fn blocks_have_room_for_a_run() {
        let shapes = |rows, length| -> Vec<LaunchShape> {
            sort_passes(rows, length, length, false).map(|pass| sort(&pass, 2)).collect()
        };
        assert_eq!(shapes(1, 5), [LaunchShape { grid: 1, block: 64 }]);
        assert_eq!(shapes(100, 1000), [LaunchShape { grid: 50, block: 256 }]);
        assert_eq!(shapes(1, 1000), [LaunchShape { grid: 1, block: 128 }]);
        let merge = LaunchShape { grid: 2, block: 256 };
        assert_eq!(shapes(1, 3000), [merge, merge]);
    }
}
