//! Tiles sorted in shared memory.

use crate::BLOCK;
use hip_kernel::{Out, Shared, barrier, global_idx, kernel, thread_idx};

/// Sorts each tile of [`BLOCK`] elements, by a bitonic network in shared memory. The last tile may be shorter.
#[kernel]
pub fn sort_tiles(x: &[u32], mut y: Out<u32>, tile: Shared<u32, BLOCK>) {
    let thread = thread_idx().x as usize;
    // What is missing sorts behind everything.
    tile.set(thread, x.get(global_idx()).copied().unwrap_or(u32::MAX));
    barrier();
    let mut size = 2;
    while size <= BLOCK {
        let mut distance = size / 2;
        while distance > 0 {
            let partner = thread ^ distance;
            if partner > thread {
                let (low, high) = (tile.get(thread), tile.get(partner));
                if (low > high) == (thread & size == 0) {
                    tile.set(thread, high);
                    tile.set(partner, low);
                }
            }
            barrier();
            distance /= 2;
        }
        size *= 2;
    }
    if let Some(y) = y.own() {
        *y = tile.get(thread);
    }
}
