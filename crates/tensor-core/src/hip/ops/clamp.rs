//! The least of `hi` and the greatest of `lo` and x.

use super::launch::{elementwise, map1, map1_assign};
use crate::error::Result;
use crate::hip::HipStorage;
use crate::layout::Layout;
use crate::scalar::Scalar;

/// The least of `hi` and the greatest of `lo` and x.
pub(crate) fn clamp(storage: &HipStorage, layout: &Layout, lo: Scalar, hi: Scalar) -> Result<HipStorage> {
    map1(storage, layout, elementwise("clamp", storage.dtype()), storage.dtype(), &[lo, hi])
}

/// The least of `hi` and the greatest of `lo` and x; in place.
pub(crate) fn clamp_assign(storage: &mut HipStorage, layout: &Layout, lo: Scalar, hi: Scalar) -> Result<()> {
    let kernel = elementwise("clamp", storage.dtype());
    map1_assign(storage, layout, kernel, &[lo, hi])
}
