//! `mul`·x + `add`.

use candle_core::{Layout, Result};

use super::super::error::Candles;
use super::super::HipStorage;

pub(in super::super) fn affine(x: &HipStorage, l: &Layout, mul: f64, add: f64) -> Result<HipStorage> {
    HipStorage::of(x.tensor(l)?.affine(mul, add).candles()?, x.hip_device())
}
