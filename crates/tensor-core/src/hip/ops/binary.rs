//! Operations on two elements.

use super::launch::{elementwise, map2, map2_assign};
use crate::error::Result;
use crate::hip::HipStorage;
use crate::layout::Layout;
use crate::ops::BinaryOp;

/// `op` of the elements of two layouts of the same shape.
#[inline]
pub(crate) fn binary(
    a: &HipStorage,
    lhs: &Layout,
    b: &HipStorage,
    rhs: &Layout,
    op: BinaryOp,
) -> Result<HipStorage> {
    map2((a, lhs), (b, rhs), elementwise(op.name(), a.dtype()), a.dtype())
}

/// `op` of each element and the corresponding one of `rhs`, which has the same shape, in place.
pub(crate) fn binary_assign(
    a: &mut HipStorage,
    lhs: &Layout,
    b: &HipStorage,
    rhs: &Layout,
    op: BinaryOp,
) -> Result<()> {
    let kernel = elementwise(op.name(), a.dtype());
    map2_assign(a, lhs, (b, rhs), kernel)
}
