//! Pooling to half the edges, and upsampling to twice them.

use super::{Measured, dense};
use reference::DType;

/// Items, channels, and the edges of what is pooled.
const LARGE: [usize; 4] = [4, 16, 64, 64];
const HALF: usize = LARGE[2] / 2;
/// Of what is upsampled.
const SMALL: [usize; 4] = [4, 16, HALF, HALF];

pub(super) fn cases(dtype: DType) -> Vec<Measured> {
    if !dtype.is_float() {
        return Vec::new();
    }
    let kernel = |op: &str| format!("pool_{op}_{dtype}");
    let (large, small) = (|| vec![dense(dtype, &LARGE)], || vec![dense(dtype, &SMALL)]);
    vec![
        Measured::call(kernel("max"), large(), |x| x[0].max_pool2d(2)),
        Measured::call(kernel("avg"), large(), |x| x[0].avg_pool2d(2)),
        Measured::call(kernel("adaptive"), large(), |x| x[0].adaptive_avg_pool2d(HALF)),
        Measured::call(kernel("nearest"), small(), |x| x[0].upsample_nearest2d(LARGE[2], LARGE[3])),
        Measured::call(kernel("bilinear"), small(), |x| x[0].upsample_bilinear2d(LARGE[2], LARGE[3], false)),
    ]
}
