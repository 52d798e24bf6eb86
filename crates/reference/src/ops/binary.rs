//! Operations on two arrays, with broadcasting.

use super::{Float, from_f32, from_f64, from_int, maximum, minimum, operations, precise};
use crate::array::Data;
use crate::formula;
use crate::shape::{IndexMap, broadcast_shapes, broadcast_strides, count};
use crate::{Array, DType, Dd, Error, Expected, Judge, Outcome, UnaryOp, bounds};

operations! {
    /// An operation on pairs of elements.
    BinaryOp {
        /// a + b; integers wrap.
        Add = "add",
        /// a − b; integers wrap.
        Sub = "sub",
        /// a · b; integers wrap.
        Mul = "mul",
        /// a / b. Integers truncate towards zero; a/0 is 0, and the minimum divided by −1 is itself.
        Div = "div",
        /// The remainder with the sign of a, exact: C's fmod for floats, and 0 for an integer modulo 0.
        Rem = "rem",
        /// The smaller one: NaN propagates, −0 is less than +0.
        Minimum = "minimum",
        /// The larger one: NaN propagates, −0 is less than +0.
        Maximum = "maximum",
        /// a^b with the special cases of C's pow; floats only.
        Pow = "pow",
        /// silu(a) · b; floats only.
        SiluMul = "silu_mul",
        /// gelu(a) · b by the tanh formula; floats only.
        GeluMul = "gelu_mul",
    }
}

impl BinaryOp {
    /// Whether the operation supports a dtype: all support all, except that pow and the gates are for floats only.
    pub fn supports(self, dtype: DType) -> bool {
        dtype.is_float() || !(self == BinaryOp::Pow || self.activation().is_some())
    }

    /// The activation of a gate.
    fn activation(self) -> Option<UnaryOp> {
        match self {
            BinaryOp::SiluMul => Some(UnaryOp::Silu),
            BinaryOp::GeluMul => Some(UnaryOp::Gelu),
            _ => None,
        }
    }

    fn on_ints(self, a: i128, b: i128) -> i128 {
        match self {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => a.checked_div(b).unwrap_or(0),
            BinaryOp::Rem => a.checked_rem(b).unwrap_or(0),
            BinaryOp::Minimum => a.min(b),
            BinaryOp::Maximum => a.max(b),
            BinaryOp::Pow | BinaryOp::SiluMul | BinaryOp::GeluMul => {
                unreachable!("not defined for integers")
            }
        }
    }

    fn on_floats(self, dtype: DType, a: f64, b: f64) -> Expected {
        if self == BinaryOp::Pow {
            return precise(dtype, || formula::pow_fast(a, b), || formula::pow(a, b));
        }
        if let Some(activation) = self.activation() {
            return gated(dtype, activation.precise(dtype, a), a, b);
        }
        match dtype {
            DType::F64 => from_f64(self.on_float(a, b)),
            _ => from_f32(dtype, self.on_float(a as f32, b as f32)),
        }
    }

    fn on_float<F: Float>(self, a: F, b: F) -> F {
        match self {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => a / b,
            BinaryOp::Rem => a % b,
            BinaryOp::Minimum => minimum(a, b),
            BinaryOp::Maximum => maximum(a, b),
            BinaryOp::Pow | BinaryOp::SiluMul | BinaryOp::GeluMul => {
                unreachable!("computed in high precision")
            }
        }
    }
}

/// `op` on the pairs of elements of `a` and `b`, which have the same dtype and broadcast.
///
/// # Errors
/// [`Error::Unsupported`], [`Error::DTypes`], [`Error::Broadcast`], [`Error::TooLarge`].
pub fn binary<'a>(op: BinaryOp, a: &'a Array, b: &'a Array) -> Result<Outcome<'a>, Error> {
    let dtype = a.dtype();
    let Pairs { shape, left, right } = Pairs::new(op.name(), a, b)?;
    if !op.supports(dtype) {
        return Err(Error::Unsupported { op: op.name(), dtype });
    }
    let is_exact = op != BinaryOp::Pow && op.activation().is_none();
    let judge = if is_exact { Judge::Exact } else { bounds::transcendental(op.name(), dtype) };
    Ok(match (&a.data, &b.data) {
        (Data::Int(x), Data::Int(y)) => Outcome::new(dtype, shape, judge, move |i| {
            from_int(dtype, op.on_ints(x[left.offset_of(i)].into(), y[right.offset_of(i)].into()))
        }),
        (Data::Float(x), Data::Float(y)) => Outcome::new(dtype, shape, judge, move |i| {
            op.on_floats(dtype, x[left.offset_of(i)], y[right.offset_of(i)])
        }),
        _ => unreachable!("equal dtypes have equal representations"),
    })
}

/// `gate` · b, where `gate` is an activation of a. Devices round it to the compute type before they multiply. So its product
/// with an infinity is NaN where the gate is 0 in that type, and an infinity or NaN where it is subnormal.
fn gated(dtype: DType, gate: Dd, a: f64, b: f64) -> Expected {
    if bounds::is_zero_everywhere(dtype, gate.hi) {
        return Expected::rounded(dtype, Dd::from(0f64.copysign(gate.hi) * b), 0.0);
    }
    let (value, scale) = (gate * Dd::from(b), bounds::subnormal_gate(dtype, gate.hi, a, b));
    if b.is_infinite() {
        return Expected { overflow: scale > 0.0, ..Expected::rounded(dtype, value, 0.0) };
    }
    Expected::rounded(dtype, value, scale)
}

/// Two arrays, expanded to their broadcast shape.
pub(super) struct Pairs {
    pub(super) shape: Vec<usize>,
    pub(super) left: IndexMap,
    pub(super) right: IndexMap,
}

impl Pairs {
    pub(super) fn new(op: &'static str, a: &Array, b: &Array) -> Result<Pairs, Error> {
        if a.dtype() != b.dtype() {
            return Err(Error::DTypes { op, left: a.dtype(), right: b.dtype() });
        }
        let shape = broadcast_shapes(op, a.shape(), b.shape())?;
        count(&shape)?;
        let left = IndexMap::new(&shape, &broadcast_strides(a.shape(), &shape));
        let right = IndexMap::new(&shape, &broadcast_strides(b.shape(), &shape));
        Ok(Pairs { shape, left, right })
    }
}
