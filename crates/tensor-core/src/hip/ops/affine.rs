//! `mul · x + add`, one fused multiply-add for floats.

use super::launch::{elementwise, map1, map1_assign};
use crate::error::Result;
use crate::hip::HipStorage;
use crate::layout::Layout;
use crate::scalar::Scalar;

/// `mul · x + add`, one fused multiply-add for floats.
pub(crate) fn affine(storage: &HipStorage, layout: &Layout, mul: Scalar, add: Scalar) -> Result<HipStorage> {
    map1(storage, layout, elementwise("affine", storage.dtype()), storage.dtype(), &[mul, add])
}

/// `mul · x + add`, one fused multiply-add for floats; in place.
pub(crate) fn affine_assign(
    storage: &mut HipStorage,
    layout: &Layout,
    mul: Scalar,
    add: Scalar,
) -> Result<()> {
    let kernel = elementwise("affine", storage.dtype());
    map1_assign(storage, layout, kernel, &[mul, add])
}
