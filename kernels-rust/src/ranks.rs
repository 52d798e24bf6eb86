//! Ballots and shuffles of waves.

use hip_kernel::{Out, ballot, global_idx, kernel, lane, shuffle, shuffle_down, shuffle_up, wave_size};

/// For each element: how many odd ones are in lower lanes of its wave, plus 1000 times the sum of both neighbours' and lane 3's parity.
/// `x` has an element for every thread.
#[kernel]
pub fn ranks(x: &[u32], mut y: Out<u32>) {
    let odd = x[global_idx()] & 1;
    let lower = (1_u64 << lane()) - 1;
    let rank = (ballot(odd == 1) & lower).count_ones();
    let (up, down, third) = (shuffle_up(odd, 1), shuffle_down(odd, 1), shuffle(odd, 3 + wave_size()));
    if let Some(y) = y.own() {
        *y = rank + 1000 * (up + down + third);
    }
}
