//! The softmax of rows, a block each.

use crate::BLOCK;
use crate::reduce::of_block;
use hip_kernel::{Rows, Shared, block_idx, exp, kernel, thread_idx};

/// The length of a slice that begins with an element of a thread and ends with the third one behind it: they are [`BLOCK`] apart.
const FOUR: usize = 3 * BLOCK + 1;

/// The softmax of each row of `x`; a block has [`BLOCK`] threads and makes one row.
#[kernel]
pub fn softmax(x: &[f32], mut y: Rows<f32>, scratch: Shared<f32, BLOCK>) {
    let row = &x[block_idx().x as usize * y.width()..][..y.width()];
    let max = of_block(of_columns(row, f32::NEG_INFINITY, f32::max), &scratch, f32::max);
    let sum = of_block(of_columns(row, 0.0, |sum, x| sum + exp(x - max)), &scratch, |a, b| a + b);
    for (column, y) in y.columns() {
        *y = exp(row[column] - max) / sum;
    }
}

/// Adds the thread's elements of a row to `value`. Four are read before the first is used, so that four loads are under way: the compiler
/// does not unroll a loop that the end of a slice ends.
#[inline(always)]
fn of_columns(row: &[f32], mut value: f32, add: impl Fn(f32, f32) -> f32) -> f32 {
    let mut column = thread_idx().x as usize;
    while let Some(four) = row.get(column..column + FOUR) {
        let four = [four[0], four[BLOCK], four[2 * BLOCK], four[3 * BLOCK]];
        value = add(add(add(add(value, four[0]), four[1]), four[2]), four[3]);
        column += 4 * BLOCK;
    }
    while let Some(x) = row.get(column) {
        value = add(value, *x);
        column += BLOCK;
    }
    value
}
