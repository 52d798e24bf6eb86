//! Sums of blocks, by shuffles and shared memory.

use crate::BLOCK;
use hip_kernel::{
    PerBlock, Shared, barrier, block_dim, global_idx, grid_threads, kernel, lane, shuffle_xor, thread_idx,
    wave_size,
};

/// The sum of what each block reads of `x`: its elements, and those that are a whole grid further. Waves sum by shuffles, blocks in shared
/// memory.
#[kernel]
pub fn block_sum(x: &[f32], mut sums: PerBlock<f32>, of_waves: Shared<f32, 32>) {
    let (mut sum, mut index, step) = (0.0, global_idx(), grid_threads());
    while let Some(value) = x.get(index) {
        sum += value;
        index += step;
    }
    let mut step = wave_size() / 2;
    while step > 0 {
        sum += shuffle_xor(sum, step);
        step /= 2;
    }
    if lane() == 0 {
        of_waves.set((thread_idx().x / wave_size()) as usize, sum);
    }
    barrier();
    if let Some(out) = sums.first_thread() {
        *out = (0..(block_dim().x / wave_size()) as usize).map(|wave| of_waves.get(wave)).sum();
    }
}

/// What `combine` makes of the values of all threads of a block of [`BLOCK`]; every thread gets it.
#[inline(always)]
pub(crate) fn of_block(
    value: f32,
    scratch: &Shared<'_, f32, BLOCK>,
    combine: impl Fn(f32, f32) -> f32,
) -> f32 {
    let thread = thread_idx().x as usize;
    scratch.set(thread, value);
    barrier();
    let mut step = BLOCK / 2;
    while step > 0 {
        if thread < step {
            scratch.set(thread, combine(scratch.get(thread), scratch.get(thread + step)));
        }
        barrier();
        step /= 2;
    }
    let whole = scratch.get(0);
    // The next use of the memory begins when all have read.
    barrier();
    whole
}
