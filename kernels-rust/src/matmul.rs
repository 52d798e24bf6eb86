//! Matrix products by tiles in shared memory.

use crate::{BLOCK, TILE};
use hip_kernel::{Dim3, Scatter, Shared, barrier, block_dim, block_idx, fma, grid_dim, kernel, thread_idx};

/// c = a · b, of row-major matrices: a has `k` columns, b and c have `n`. A block of [`BLOCK`] threads makes one tile of c; blocks count the
/// tiles of a row first. Any other shape of block or grid fails the launch.
#[kernel]
pub fn matmul(
    n: u32,
    k: u32,
    a: &[f32],
    b: &[f32],
    mut c: Scatter<f32>,
    tile_of_a: Shared<f32, { TILE * TILE }>,
    tile_of_b: Shared<f32, { TILE * TILE }>,
) {
    // `Scatter` lets launches of any shape through; the unsafe blocks below rely on these.
    assert!(block_dim() == Dim3 { x: BLOCK as u32, y: 1, z: 1 }, "a block of matmul has 256 threads along x");
    assert!(grid_dim().y == 1 && grid_dim().z == 1, "a grid of matmul has one dimension");
    if n == 0 {
        return;
    }
    let (n, k) = (n as usize, k as usize);
    let tiles = n.div_ceil(TILE);
    let (block, thread) = (block_idx().x as usize, thread_idx().x as usize);
    let (down, across) = (thread / TILE, thread % TILE);
    let (row, column) = (block / tiles * TILE + down, block % tiles * TILE + across);
    let mut sum = 0.0;
    let mut begin = 0;
    while begin < k {
        let (inner_of_a, inner_of_b) = (begin + across, begin + down);
        // Not by `get`: an `Option` of a reference is a pointer that is compared with null before it is read.
        let (at_a, at_b) = (row * k + inner_of_a, inner_of_b * n + column);
        tile_of_a.set(thread, if inner_of_a < k && at_a < a.len() { a[at_a] } else { 0.0 });
        tile_of_b.set(thread, if inner_of_b < k && column < n && at_b < b.len() { b[at_b] } else { 0.0 });
        barrier();
        // SAFETY: S25: there is a thread for each element. Every thread of the block wrote its element before the barrier above, and writes again after the next one.
        let (of_a, of_b) = unsafe { (tile_of_a.as_array(), tile_of_b.as_array()) };
        for inner in 0..TILE {
            sum = fma(of_a[down * TILE + inner], of_b[inner * TILE + across], sum);
        }
        barrier();
        begin += TILE;
    }
    if column < n {
        // SAFETY: S25: there is one dimension. The block's index is the tile's number, and the thread's index the position in the tile.
        // Tile and position determine row and column. A column that is less than n determines the element with the row.
        if let Some(c) = unsafe { c.get(row * n + column) } {
            *c = sum;
        }
    }
}
