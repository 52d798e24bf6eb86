//! Operations on one element.

use super::launch::{elementwise, map1, map1_assign};
use crate::activation::{Activation, Step};
use crate::error::Result;
use crate::hip::HipStorage;
use crate::layout::Layout;
use crate::ops::{ScalarOp, UnaryOp};
use crate::scalar::Scalar;

/// `op` of each element.
pub(crate) fn unary(storage: &HipStorage, layout: &Layout, op: UnaryOp) -> Result<HipStorage> {
    map1(storage, layout, elementwise(op.name(), storage.dtype()), storage.dtype(), &[])
}

/// `op` of each element and `scalar`.
pub(crate) fn unary_scalar(
    storage: &HipStorage,
    layout: &Layout,
    op: ScalarOp,
    scalar: Scalar,
) -> Result<HipStorage> {
    map1(storage, layout, elementwise(op.name(), storage.dtype()), storage.dtype(), &[scalar])
}

/// `op` of each element, in place.
pub(crate) fn unary_assign(storage: &mut HipStorage, layout: &Layout, op: UnaryOp) -> Result<()> {
    let kernel = elementwise(op.name(), storage.dtype());
    map1_assign(storage, layout, kernel, &[])
}

/// The activation of each element, in place.
pub(crate) fn activate_assign(
    storage: &mut HipStorage,
    layout: &Layout,
    activation: Activation,
) -> Result<()> {
    match activation.step() {
        Step::Unary(op) => unary_assign(storage, layout, op),
        Step::Scalar(op, scalar) => {
            let kernel = elementwise(op.name(), storage.dtype());
            map1_assign(storage, layout, kernel, &[scalar.into()])
        }
    }
}
