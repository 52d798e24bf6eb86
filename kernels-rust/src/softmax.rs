//! The softmax of rows, a block each.

use crate::BLOCK;
use crate::reduce::of_block;
use hip_kernel::{Rows, Shared, block_idx, exp, kernel, thread_idx};

/// The softmax of each row of `x`; a block has [`BLOCK`] threads and makes one row.
#[kernel]
pub fn softmax(x: &[f32], mut y: Rows<f32>, scratch: Shared<f32, BLOCK>) {
    let row = &x[block_idx().x as usize * y.width()..][..y.width()];
    let first = thread_idx().x as usize;
    let mut max = f32::NEG_INFINITY;
    let mut column = first;
    while let Some(x) = row.get(column) {
        max = max.max(*x);
        column += BLOCK;
    }
    let max = of_block(max, &scratch, f32::max);
    let mut sum = 0.0;
    let mut column = first;
    while let Some(x) = row.get(column) {
        sum += exp(x - max);
        column += BLOCK;
    }
    let sum = of_block(sum, &scratch, |a, b| a + b);
    let mut turn = 0;
    while let Some(y) = y.nth(turn) {
        *y = exp(row[first + turn * BLOCK] - max) / sum;
        turn += 1;
    }
}
