//! `mul`·x + `add`.

use candle_core::{Layout, Result};

use super::super::HipStorage;
use super::each;

pub(in super::super) fn affine(x: &HipStorage, l: &Layout, mul: f64, add: f64) -> Result<HipStorage> {
    each((x, l), |x| x.affine(mul, add))
}
