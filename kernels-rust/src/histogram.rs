//! Counts of bytes, by atomics.

use crate::BLOCK;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use hip_kernel::{Shared, barrier, global_idx, grid_threads, kernel, thread_idx};

/// Adds to `counts` how often each byte occurs in `x`. Blocks of [`BLOCK`] threads count in shared memory first.
#[kernel]
pub fn histogram(x: &[u8], counts: &[AtomicU32], of_block: Shared<u32, BLOCK>) {
    let thread = thread_idx().x as usize;
    of_block.set(thread, 0);
    barrier();
    let (mut index, step) = (global_idx(), grid_threads());
    while let Some(byte) = x.get(index) {
        of_block.fetch_add(usize::from(*byte), 1);
        index += step;
    }
    barrier();
    counts[thread].fetch_add(of_block.get(thread), Relaxed);
}
