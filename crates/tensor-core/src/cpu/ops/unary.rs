//! Operations on one element.

use crate::cpu::arith::Arith;
use crate::cpu::blocks::{Kernel1, map1, update1};
use crate::cpu::dispatch::{dispatch, dispatch_float};
use crate::cpu::number::Number;
use crate::cpu::real::Real;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::ops::{ScalarOp, UnaryOp};
use crate::scalar::Scalar;

/// `op` of each element.
pub(crate) fn unary(storage: &CpuStorage, layout: &Layout, op: UnaryOp) -> Result<CpuStorage> {
    let name = op.name();
    match split(op) {
        Kind::Any(op) => dispatch!(storage, elements: T => {
            map1::<T>(elements, layout, name, (&for_all(op), 1)).map(T::store)
        }),
        Kind::Float(op) => dispatch_float!(storage, elements: T => {
            map1::<T>(elements, layout, name, (&for_floats(op), op.work())).map(T::store)
        }, else Err(unsupported(name, storage))),
    }
}

/// `op` of each element, in place.
pub(crate) fn unary_assign(storage: &mut CpuStorage, layout: &Layout, op: UnaryOp) -> Result<()> {
    match split(op) {
        Kind::Any(op) => dispatch!(storage, elements: T => update1::<T>(elements, layout, &for_all(op))),
        Kind::Float(function) => dispatch_float!(storage, elements: T => {
            update1::<T>(elements, layout, &for_floats(function));
        }, else return Err(unsupported(op.name(), storage))),
    }
    Ok(())
}

/// `op` of each element and `scalar`.
pub(crate) fn unary_scalar(
    storage: &CpuStorage,
    layout: &Layout,
    op: ScalarOp,
    scalar: Scalar,
) -> Result<CpuStorage> {
    dispatch_float!(storage, elements: T => {
        map1::<T>(elements, layout, op.name(), (&*with_scalar::<T>(op, scalar), FUNCTION)).map(T::store)
    }, else Err(unsupported(op.name(), storage)))
}

/// The operations by the types that have them.
enum Kind {
    Any(AnyOp),
    Float(FloatOp),
}

/// An operation that every compute type has.
#[derive(Clone, Copy)]
enum AnyOp {
    Neg,
    Abs,
    Sign,
    Sqr,
    Relu,
}

/// An operation that only floats have.
#[derive(Clone, Copy)]
enum FloatOp {
    Sqrt,
    Rsqrt,
    Recip,
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Tanh,
    Sigmoid,
    Erf,
    Gelu,
    GeluErf,
    Silu,
    Softplus,
    Ceil,
    Floor,
    Round,
}

/// What a function of the system's mathematics library costs, in elements read.
const FUNCTION: usize = 2;
/// What a formula of several steps costs.
const FORMULA: usize = 8;

impl FloatOp {
    /// What an element costs, in elements read.
    fn work(self) -> usize {
        use FloatOp::*;
        match self {
            Sqrt | Rsqrt | Recip | Ceil | Floor | Round => 1,
            Exp | Log | Sin | Cos | Tan => FUNCTION,
            Tanh | Sigmoid | Erf | Gelu | GeluErf | Silu | Softplus => FORMULA,
        }
    }
}

fn split(op: UnaryOp) -> Kind {
    match op {
        UnaryOp::Neg => Kind::Any(AnyOp::Neg),
        UnaryOp::Abs => Kind::Any(AnyOp::Abs),
        UnaryOp::Sign => Kind::Any(AnyOp::Sign),
        UnaryOp::Sqr => Kind::Any(AnyOp::Sqr),
        UnaryOp::Relu => Kind::Any(AnyOp::Relu),
        UnaryOp::Sqrt => Kind::Float(FloatOp::Sqrt),
        UnaryOp::Rsqrt => Kind::Float(FloatOp::Rsqrt),
        UnaryOp::Recip => Kind::Float(FloatOp::Recip),
        UnaryOp::Exp => Kind::Float(FloatOp::Exp),
        UnaryOp::Log => Kind::Float(FloatOp::Log),
        UnaryOp::Sin => Kind::Float(FloatOp::Sin),
        UnaryOp::Cos => Kind::Float(FloatOp::Cos),
        UnaryOp::Tan => Kind::Float(FloatOp::Tan),
        UnaryOp::Tanh => Kind::Float(FloatOp::Tanh),
        UnaryOp::Sigmoid => Kind::Float(FloatOp::Sigmoid),
        UnaryOp::Erf => Kind::Float(FloatOp::Erf),
        UnaryOp::Gelu => Kind::Float(FloatOp::Gelu),
        UnaryOp::GeluErf => Kind::Float(FloatOp::GeluErf),
        UnaryOp::Silu => Kind::Float(FloatOp::Silu),
        UnaryOp::Softplus => Kind::Float(FloatOp::Softplus),
        UnaryOp::Ceil => Kind::Float(FloatOp::Ceil),
        UnaryOp::Floor => Kind::Float(FloatOp::Floor),
        UnaryOp::Round => Kind::Float(FloatOp::Round),
    }
}

/// The loop of an operation that every compute type has.
fn for_all<C: Arith>(op: AnyOp) -> fn(&[C], &mut [C]) {
    match op {
        AnyOp::Neg => |x, y| each(x, y, C::neg),
        AnyOp::Abs => |x, y| each(x, y, C::abs),
        AnyOp::Sign => |x, y| each(x, y, C::sign),
        AnyOp::Sqr => |x, y| each(x, y, |x| x.mul(x)),
        AnyOp::Relu => |x, y| each(x, y, |x| x.max(C::default())),
    }
}

/// The loop of an operation that only floats have.
fn for_floats<C: Real>(op: FloatOp) -> fn(&[C], &mut [C]) {
    match op {
        FloatOp::Sqrt => |x, y| each(x, y, C::sqrt),
        FloatOp::Rsqrt => |x, y| each(x, y, C::rsqrt),
        FloatOp::Recip => |x, y| each(x, y, C::recip),
        FloatOp::Exp => |x, y| each(x, y, C::exp),
        FloatOp::Log => |x, y| each(x, y, C::log),
        FloatOp::Sin => |x, y| each(x, y, C::sin),
        FloatOp::Cos => |x, y| each(x, y, C::cos),
        FloatOp::Tan => |x, y| each(x, y, C::tan),
        FloatOp::Tanh => |x, y| each(x, y, C::tanh),
        FloatOp::Sigmoid => |x, y| each(x, y, C::sigmoid),
        FloatOp::Erf => |x, y| each(x, y, C::erf),
        FloatOp::Gelu => |x, y| each(x, y, C::gelu),
        FloatOp::GeluErf => |x, y| each(x, y, C::gelu_erf),
        FloatOp::Silu => |x, y| each(x, y, C::silu),
        FloatOp::Softplus => |x, y| each(x, y, C::softplus),
        FloatOp::Ceil => |x, y| each(x, y, C::ceil),
        FloatOp::Floor => |x, y| each(x, y, C::floor),
        FloatOp::Round => |x, y| each(x, y, C::round),
    }
}

/// The loop of an operation with a scalar, which is rounded to the storage type first.
fn with_scalar<T: Number<Compute: Real>>(op: ScalarOp, scalar: Scalar) -> Box<Kernel1<T::Compute>> {
    let a = T::from_scalar(scalar).to_compute();
    match op {
        ScalarOp::Powf => Box::new(move |x, y| each(x, y, |x| x.pow(a))),
        ScalarOp::Elu => Box::new(move |x, y| each(x, y, |x| x.elu(a))),
        ScalarOp::LeakyRelu => Box::new(move |x, y| each(x, y, |x| x.leaky_relu(a))),
    }
}

#[inline(always)]
fn each<C: Copy>(x: &[C], y: &mut [C], f: impl Fn(C) -> C) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y = f(*x));
}
