//! Rotary embeddings of halves, for every batch and head by the same angles.

use super::{Measured, dense};
use reference::DType;

/// Batches, heads, times, and numbers of each.
const SHAPE: [usize; 4] = [2, 8, 128, 128];

pub(super) fn cases(dtype: DType) -> Option<Measured> {
    let angles = || dense(dtype, &[SHAPE[2], SHAPE[3] / 2]);
    let operands = || vec![dense(dtype, &SHAPE), angles(), angles()];
    dtype.is_float().then(|| Measured::call(format!("rope_{dtype}"), operands(), |x| x[0].rope(&x[1], &x[2])))
}
