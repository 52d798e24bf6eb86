//! Launches of the family `index`.

use super::{BLOCKS, LaunchShape, shape};

/// Lanes of a multiprocessor.
const LANES: u64 = 128;
/// Cost of writing an element, relative to reading an id of another owner.
const WRITE: u64 = 100;
/// Block size: small, so that few lines still use every multiprocessor.
const BLOCK: u32 = 64;

/// Number of threads that share a line of `length` elements of `index_scatter` and `index_scatter_add`.
///
/// A thread writes its elements sequentially, so few lines leave a device idle; but every owner reads all ids of the line. With one line
/// the lanes are filled once. With more, the costs of writing and of reading ids are balanced.
pub fn owners(lines: u64, length: u64, multiprocessors: u32) -> u64 {
    let each = (LANES * u64::from(multiprocessors.max(1))).div_ceil(lines.max(1));
    let balanced = (WRITE * LANES * u64::from(multiprocessors.max(1)) / lines.max(1)).isqrt();
    each.max(balanced).clamp(1, length.max(1))
}

/// For `index_scatter` and `index_scatter_add`: a thread for each owner of each line.
pub fn scatter(lines: u64, owners: u64, multiprocessors: u32) -> LaunchShape {
    shape(lines.saturating_mul(owners).div_ceil(BLOCK.into()), BLOCK, multiprocessors)
}

/// For `index_gather` of rows of packs: the block size; packs of a row in flight in a thread; and the most threads of a row that take one
/// pack each.
const ROW_BLOCK: u32 = 128;
const SIDE: u64 = 2;
const FEW: u64 = 8;

/// For `index_gather` on a GPU, where `packs` packs share an id: as many threads for each row as the kernel uses, and as many rows a block
/// as fit.
pub fn gather_rows(rows: u64, packs: u64) -> LaunchShape {
    let width = packs.div_ceil(SIDE).clamp(1, u64::from(ROW_BLOCK)).next_power_of_two();
    let width = width.max(packs.min(FEW).next_power_of_two());
    LaunchShape {
        grid: rows.div_ceil(u64::from(ROW_BLOCK) / width).clamp(1, BLOCKS) as u32,
        block: ROW_BLOCK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_packs_have_blocks_of_their_own() {
        assert_eq!(gather_rows(16384, 2048), LaunchShape { grid: 16384, block: 128 });
        assert_eq!(gather_rows(16384, 129), LaunchShape { grid: 16384, block: 128 });
        // 64 threads take 128 packs, 8 threads 8 to 16, and one thread takes one.
        assert_eq!(gather_rows(16385, 128), LaunchShape { grid: 8193, block: 128 });
        assert_eq!(gather_rows(100, 8), LaunchShape { grid: 7, block: 128 });
        assert_eq!(gather_rows(100, 16), LaunchShape { grid: 7, block: 128 });
        assert_eq!(gather_rows(129, 1), LaunchShape { grid: 2, block: 128 });
        assert_eq!(gather_rows(0, 0), LaunchShape { grid: 1, block: 128 });
    }

    #[test]
    fn few_lines_are_shared_and_many_are_not() {
        assert_eq!(owners(1, 1 << 20, 132), 128 * 132);
        assert_eq!(owners(1, 1000, 132), 1000);
        // 100 · 128 · 132 / 4096 = 412, and 20² = 400.
        assert_eq!(owners(4096, 50_000, 132), 20);
        assert_eq!(owners(1 << 22, 50_000, 132), 1);
        assert_eq!(owners(0, 0, 0), 1);
        assert_eq!(scatter(4096, 20, 132), LaunchShape { grid: 1280, block: 64 });
        assert_eq!(scatter(0, 1, 2), LaunchShape { grid: 1, block: 64 });
    }
}
