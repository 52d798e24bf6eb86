//! Launches of the family `index`.

use super::{BLOCKS, LaunchShape, shape};

/// Threads of a multiprocessor that run at once, one for each of its lanes.
const LANES: u64 = 128;
/// How many times longer writing an element takes than looking at an id that is not one's own.
const WRITE: u64 = 100;
/// Threads of a block: small blocks, so that few lines still reach every multiprocessor.
const BLOCK: u32 = 64;

/// How many threads share a line of `index_scatter` and `index_scatter_add`, whose elements are `length`.
///
/// One thread writes one element behind the other, so that few lines leave a device idle; but every owner looks at all ids of the
/// line. With one line the lanes are filled once; with more the costs of writing and of looking are balanced.
pub fn owners(lines: u64, length: u64, multiprocessors: u32) -> u64 {
    let each = (LANES * u64::from(multiprocessors.max(1))).div_ceil(lines.max(1));
    let balanced = (WRITE * LANES * u64::from(multiprocessors.max(1)) / lines.max(1)).isqrt();
    each.max(balanced).clamp(1, length.max(1))
}

/// For `index_scatter` and `index_scatter_add`: a thread for each owner of each line.
pub fn scatter(lines: u64, owners: u64, multiprocessors: u32) -> LaunchShape {
    shape(lines.saturating_mul(owners).div_ceil(BLOCK.into()), BLOCK, multiprocessors)
}

/// Threads of a block of `index_gather` where it moves rows of packs, packs of a row that each takes at once, and threads of a row up to
/// which each takes one.
const ROW_BLOCK: u32 = 128;
const SIDE: u64 = 2;
const FEW: u64 = 8;

/// For `index_gather` on a GPU, where `packs` packs share an id: as many threads for a row as the kernel gives it, and as many rows a block.
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
