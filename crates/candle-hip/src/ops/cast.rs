//! Conversion to another dtype.

use candle_core::{DType, Layout, Result};

use super::super::dtype::supported;
use super::super::HipStorage;
use super::each;

pub(in super::super) fn cast(x: &HipStorage, l: &Layout, dtype: DType) -> Result<HipStorage> {
    let dtype = supported(dtype, "to_dtype")?;
    each((x, l), |x| x.to_dtype(dtype))
}
