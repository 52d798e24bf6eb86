//! Operations on one element.

use crate::activation::{Activation, Step};
use crate::cpu::arith::Arith;
use crate::cpu::blocks::{Kernel1, map1, update1};
use crate::cpu::dispatch::{dispatch, dispatch_float};
use crate::cpu::number::Number;
use crate::cpu::real::Real;
use crate::cpu::room::Room;
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
            map1::<T>(elements, layout, name, (&for_floats(op), op.work::<<T as Number>::Compute>())).map(T::store)
        }, else Err(unsupported(name, storage))),
    }
}

/// `op` of each element, in place.
pub(crate) fn unary_assign(storage: &mut CpuStorage, layout: &Layout, op: UnaryOp) -> Result<()> {
    match split(op) {
        Kind::Any(op) => dispatch!(storage, elements: T => update1::<T>(elements, layout, (&for_all(op), 1))),
        Kind::Float(function) => dispatch_float!(storage, elements: T => {
            update1::<T>(elements, layout, (&for_floats(function), function.work::<<T as Number>::Compute>()));
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

/// The activation of each element, in place.
pub(crate) fn activate_assign(
    storage: &mut CpuStorage,
    layout: &Layout,
    activation: Activation,
) -> Result<()> {
    match activation.step() {
        Step::Unary(op) => unary_assign(storage, layout, op),
        Step::Scalar(op, scalar) => {
            dispatch_float!(storage, elements: T => {
                update1::<T>(elements, layout, (&*with_scalar::<T>(op, scalar.into()), FUNCTION));
            }, else return Err(unsupported(op.name(), storage)));
            Ok(())
        }
    }
}

/// The operations, by the types that support them.
enum Kind {
    Any(AnyOp),
    Float(FloatOp),
}

/// An operation that all compute types support.
#[derive(Clone, Copy)]
enum AnyOp {
    Neg,
    Abs,
    Sign,
    Sqr,
    Relu,
}

/// An operation that only floats support.
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

/// The cost of a function of the system's math library, in units of [`crate::cpu::chunks`].
const FUNCTION: usize = 32;
/// The cost of a formula with several such functions.
const FORMULA: usize = 64;
/// The cost of a vectorised formula, in `f32`.
const LOOP: usize = 8;

impl FloatOp {
    /// The cost per element with compute type `C`.
    fn work<C>(self) -> usize {
        use FloatOp::*;
        match self {
            Sqrt | Rsqrt | Recip | Ceil | Floor | Round => 1,
            Exp | Sigmoid | Gelu | Silu if size_of::<C>() == size_of::<f32>() => LOOP,
            Log | Sin | Cos | Tan | Exp => FUNCTION,
            Tanh | Erf | GeluErf | Softplus | Sigmoid | Gelu | Silu => FORMULA,
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

/// The loop of an operation that all compute types support.
fn for_all<C: Arith>(op: AnyOp) -> fn(&[C], &mut Room<'_, C>) {
    match op {
        AnyOp::Neg => |x, y| y.each(x, C::neg),
        AnyOp::Abs => |x, y| y.each(x, C::abs),
        AnyOp::Sign => |x, y| y.each(x, C::sign),
        AnyOp::Sqr => |x, y| y.each(x, |x| x.mul(x)),
        AnyOp::Relu => |x, y| y.each(x, |x| x.max(C::default())),
    }
}

/// The loop of an operation that only floats support.
fn for_floats<C: Real>(op: FloatOp) -> fn(&[C], &mut Room<'_, C>) {
    match op {
        FloatOp::Sqrt => |x, y| y.each(x, C::sqrt),
        FloatOp::Rsqrt => |x, y| y.each(x, C::rsqrt),
        FloatOp::Recip => |x, y| y.each(x, C::recip),
        FloatOp::Exp => |x, y| y.each(x, C::exp),
        FloatOp::Log => |x, y| y.each(x, C::log),
        FloatOp::Sin => |x, y| y.each(x, C::sin),
        FloatOp::Cos => |x, y| y.each(x, C::cos),
        FloatOp::Tan => |x, y| y.each(x, C::tan),
        FloatOp::Tanh => |x, y| y.each(x, C::tanh),
        FloatOp::Sigmoid => |x, y| y.each(x, C::sigmoid),
        FloatOp::Erf => |x, y| y.each(x, C::erf),
        FloatOp::Gelu => |x, y| y.each(x, C::gelu),
        FloatOp::GeluErf => |x, y| y.each(x, C::gelu_erf),
        FloatOp::Silu => |x, y| y.each(x, C::silu),
        FloatOp::Softplus => |x, y| y.each(x, C::softplus),
        FloatOp::Ceil => |x, y| y.each(x, C::ceil),
        FloatOp::Floor => |x, y| y.each(x, C::floor),
        FloatOp::Round => |x, y| y.each(x, C::round),
    }
}

/// The loop of an operation with a scalar, which is rounded to the storage type first.
fn with_scalar<T: Number<Compute: Real>>(op: ScalarOp, scalar: Scalar) -> Box<Kernel1<T::Compute>> {
    let a = T::from_scalar(scalar).to_compute();
    match op {
        ScalarOp::Powf => Box::new(move |x, y| y.each(x, |x| x.pow(a))),
        ScalarOp::Elu => Box::new(move |x, y| y.each(x, |x| x.elu(a))),
        ScalarOp::LeakyRelu => Box::new(move |x, y| y.each(x, |x| x.leaky_relu(a))),
    }
}
