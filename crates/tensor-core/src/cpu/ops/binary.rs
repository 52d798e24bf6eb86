//! Operations on pairs of elements.

use crate::cpu::arith::Arith;
use crate::cpu::blocks::{Kernel2, map2, update2};
use crate::cpu::dispatch::{dispatch, dispatch_float};
use crate::cpu::operands::Operand;
use crate::cpu::real::Real;
use crate::cpu::room::Room;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::ops::BinaryOp;

/// `op` of each pair of elements of two layouts of the same shape.
pub(crate) fn binary(
    a: &CpuStorage,
    lhs: &Layout,
    b: &CpuStorage,
    rhs: &Layout,
    op: BinaryOp,
) -> Result<CpuStorage> {
    let name = op.name();
    match arithmetic_or_pow(op) {
        Some(op) => dispatch!(a, x: T => match T::stored(b) {
            Some(y) => map2::<T>((x, lhs), (y, rhs), name, arithmetic(op)).map(T::store),
            None => Err(unsupported(name, b)),
        }),
        None => dispatch_float!(a, x: T => match T::stored(b) {
            Some(y) => map2::<T>((x, lhs), (y, rhs), name, pow).map(T::store),
            None => Err(unsupported(name, b)),
        }, else Err(unsupported(name, a))),
    }
}

/// `op` of each element of `lhs` and the corresponding one of `rhs`, which has the same shape, in place.
pub(crate) fn binary_assign(
    a: &mut CpuStorage,
    lhs: &Layout,
    b: &CpuStorage,
    rhs: &Layout,
    op: BinaryOp,
) -> Result<()> {
    let name = op.name();
    match arithmetic_or_pow(op) {
        Some(op) => dispatch!(a, x: T => match T::stored(b) {
            Some(y) => update2::<T>((x, lhs), (y, rhs), arithmetic(op)),
            None => return Err(unsupported(name, b)),
        }),
        None => dispatch_float!(a, x: T => match T::stored(b) {
            Some(y) => update2::<T>((x, lhs), (y, rhs), pow),
            None => return Err(unsupported(name, b)),
        }, else return Err(unsupported(name, a))),
    }
    Ok(())
}

/// An operation that all compute types support.
#[derive(Clone, Copy)]
enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Minimum,
    Maximum,
}

/// `None` for pow, which only floats support.
fn arithmetic_or_pow(op: BinaryOp) -> Option<Arithmetic> {
    Some(match op {
        BinaryOp::Add => Arithmetic::Add,
        BinaryOp::Sub => Arithmetic::Sub,
        BinaryOp::Mul => Arithmetic::Mul,
        BinaryOp::Div => Arithmetic::Div,
        BinaryOp::Rem => Arithmetic::Rem,
        BinaryOp::Minimum => Arithmetic::Minimum,
        BinaryOp::Maximum => Arithmetic::Maximum,
        BinaryOp::Pow => return None,
    })
}

/// The loop of `op`.
fn arithmetic<C: Arith>(op: Arithmetic) -> Kernel2<C> {
    match op {
        Arithmetic::Add => |x, y, size, z| z.pairs(x, y, size, C::add),
        Arithmetic::Sub => |x, y, size, z| z.pairs(x, y, size, C::sub),
        Arithmetic::Mul => |x, y, size, z| z.pairs(x, y, size, C::mul),
        Arithmetic::Div => |x, y, size, z| z.pairs(x, y, size, C::div),
        Arithmetic::Rem => |x, y, size, z| z.pairs(x, y, size, C::rem),
        Arithmetic::Minimum => |x, y, size, z| z.pairs(x, y, size, C::min),
        Arithmetic::Maximum => |x, y, size, z| z.pairs(x, y, size, C::max),
    }
}

/// The loop of pow.
fn pow<C: Real>(x: Operand<C>, y: Operand<C>, size: (usize, usize), z: &mut Room<'_, C>) {
    z.pairs(x, y, size, C::pow);
}
