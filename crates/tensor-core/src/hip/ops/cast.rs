//! Conversions between dtypes.

use super::launch::{elementwise, map1};
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::kernels::Kernel;
use crate::layout::Layout;

/// The elements converted to `dtype`.
pub(crate) fn cast(storage: &HipStorage, layout: &Layout, dtype: DType) -> Result<HipStorage> {
    let kernel = Kernel { to: Some(dtype), ..elementwise("cast", storage.dtype()) };
    map1(storage, layout, kernel, dtype, &[])
}
