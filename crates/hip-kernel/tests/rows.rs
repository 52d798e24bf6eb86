//! `Rows::columns` gives each column of a row to one thread, and nothing past the end of the row or of the memory.

use hip_kernel::{Rows, block_idx, kernel, thread_idx};
use hip_safe::{Device, LaunchConfig, Result};

/// Adds to each element what says which thread got it as which column.
#[kernel]
pub fn mark(mut y: Rows<u32>) {
    for (column, y) in y.columns() {
        *y += 1 + 1000 * column as u32 + 1_000_000 * thread_idx().x + 100_000_000 * block_idx().x;
    }
}

/// What `mark` writes into `len` elements in rows of `width`.
fn marked(len: usize, width: usize, blocks: u32, threads: u32) -> Result<Vec<u32>> {
    let stream = Device::new(&hip_host::platform(), 0)?.new_stream()?;
    let mut y = stream.alloc_zeros::<u32>(len)?;
    let config = LaunchConfig { grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes: 0 };
    Mark::load(stream.device())?.launch(&stream, config, &mut y, width)?;
    stream.download(&y)
}

/// The same by a loop over the elements, for the first `rows` rows.
fn expected(len: usize, width: usize, rows: usize, threads: usize) -> Vec<u32> {
    let element = |i: usize| {
        let (row, column) = (i / width, i % width);
        1 + 1000 * column + 1_000_000 * (column % threads) + 100_000_000 * row
    };
    (0..len).map(|i| if i < rows * width { element(i) as u32 } else { 0 }).collect()
}

#[test]
fn each_column_has_one_thread() -> Result<()> {
    // Rows shorter than a block, as long, longer and no multiple of it.
    for width in [1, 31, 64, 65, 300] {
        assert_eq!(marked(3 * width, width, 3, 64)?, expected(3 * width, width, 3, 64), "rows of {width}");
    }
    Ok(())
}

#[test]
fn rows_end_with_the_memory() -> Result<()> {
    // The third row has 17 elements, and the fourth and fifth block have no row.
    assert_eq!(marked(2 * 100 + 17, 100, 5, 32)?, expected(2 * 100 + 17, 100, 5, 32));
    // What is behind the last block's row stays.
    assert_eq!(marked(400, 100, 2, 32)?, expected(400, 100, 2, 32));
    Ok(())
}

#[test]
fn widths_that_no_memory_has() -> Result<()> {
    assert_eq!(marked(5, 0, 2, 32)?, [0; 5]);
    // The second row would begin past the end of all memory.
    assert_eq!(marked(5, usize::MAX, 2, 32)?, expected(5, 5, 1, 32));
    Ok(())
}
