//! Conversion to another dtype.

use candle_core::{DType, Layout, Result};

use super::super::dtype::supported;
use super::super::error::Candles;
use super::super::HipStorage;

pub(in super::super) fn cast(x: &HipStorage, l: &Layout, dtype: DType) -> Result<HipStorage> {
    let dtype = supported(dtype, "to_dtype")?;
    HipStorage::of(x.tensor(l)?.to_dtype(dtype).candles()?, x.hip_device())
}
