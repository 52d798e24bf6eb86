//! Comparisons of two elements.

use super::launch::{elementwise, map2};
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::layout::Layout;
use crate::ops::CmpOp;

/// 1 where `op` holds for the elements of two layouts of the same shape, else 0, as `u8`.
pub(crate) fn compare(
    a: &HipStorage,
    lhs: &Layout,
    b: &HipStorage,
    rhs: &Layout,
    op: CmpOp,
) -> Result<HipStorage> {
    map2((a, lhs), (b, rhs), elementwise(op.name(), a.dtype()), DType::U8)
}
