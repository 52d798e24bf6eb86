//! Operations on one element.

use crate::activation::{Activation, Step};
use crate::cpu::blocks::{Kernel1, map1, update1};
use crate::cpu::dispatch::dispatch;
use crate::cpu::functions::{Functions, SCALAR_WORK};
use crate::cpu::number::Number;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::ops::{ScalarOp, UnaryOp};
use crate::scalar::Scalar;

/// `op` of each element.
pub(crate) fn unary(storage: &CpuStorage, layout: &Layout, op: UnaryOp) -> Result<CpuStorage> {
    dispatch!(storage, elements: T => match <T as Number>::Compute::unary(op) {
        Some((function, work)) => map1::<T>(elements, layout, op.name(), (&function, work)).map(T::store),
        None => Err(unsupported(op.name(), storage)),
    })
}

/// `op` of each element, in place.
pub(crate) fn unary_assign(storage: &mut CpuStorage, layout: &Layout, op: UnaryOp) -> Result<()> {
    dispatch!(storage, elements: T => match <T as Number>::Compute::unary(op) {
        Some((function, work)) => update1::<T>(elements, layout, (&function, work)),
        None => return Err(unsupported(op.name(), storage)),
    });
    Ok(())
}

/// `op` of each element and `scalar`, which is rounded to the storage type first.
pub(crate) fn unary_scalar(
    storage: &CpuStorage,
    layout: &Layout,
    op: ScalarOp,
    scalar: Scalar,
) -> Result<CpuStorage> {
    dispatch!(storage, elements: T => match with_scalar::<T>(op, scalar) {
        Some(function) => map1::<T>(elements, layout, op.name(), (&*function, SCALAR_WORK)).map(T::store),
        None => Err(unsupported(op.name(), storage)),
    })
}

/// The activation of each element, in place.
pub(crate) fn activate_assign(
    storage: &mut CpuStorage,
    layout: &Layout,
    activation: Activation,
) -> Result<()> {
    let (op, scalar) = match activation.step() {
        Step::Unary(op) => return unary_assign(storage, layout, op),
        Step::Scalar(op, scalar) => (op, scalar.into()),
    };
    dispatch!(storage, elements: T => match with_scalar::<T>(op, scalar) {
        Some(function) => update1::<T>(elements, layout, (&*function, SCALAR_WORK)),
        None => return Err(unsupported(op.name(), storage)),
    });
    Ok(())
}

fn with_scalar<T: Number>(op: ScalarOp, scalar: Scalar) -> Option<Box<Kernel1<T::Compute>>> {
    Functions::scalar(op, T::from_scalar(scalar).to_compute())
}
