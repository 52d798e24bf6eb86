//! min(max(x, `lo`), `hi`).

use super::launch::{elementwise, map1, map1_assign};
use crate::error::Result;
use crate::hip::HipStorage;
use crate::layout::Layout;
use crate::scalar::Scalar;

/// min(max(x, `lo`), `hi`).
pub(crate) fn clamp(storage: &HipStorage, layout: &Layout, lo: Scalar, hi: Scalar) -> Result<HipStorage> {
    map1(storage, layout, elementwise("clamp", storage.dtype()), storage.dtype(), &[lo, hi])
}

/// min(max(x, `lo`), `hi`), in place.
pub(crate) fn clamp_assign(storage: &mut HipStorage, layout: &Layout, lo: Scalar, hi: Scalar) -> Result<()> {
    let kernel = elementwise("clamp", storage.dtype());
    map1_assign(storage, layout, kernel, &[lo, hi])
}
