//! Operations on one array, element by element.

use super::{exact_float, from_int, maximum, precise};
use crate::array::Data;
use crate::formula::{self, Formula};
use crate::{Array, DType, Error, Judge, Outcome, bounds};

/// An operation on each element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// −x; integers wrap.
    Neg,
    /// |x|; the minimum integer stays.
    Abs,
    /// 1, 0 or −1; 0 for NaN, and +0 for −0, as in candle and PyTorch.
    Sign,
    /// x²; integers wrap.
    Sqr,
    /// √x.
    Sqrt,
    /// 1/√x.
    Rsqrt,
    /// 1/x.
    Recip,
    /// e^x.
    Exp,
    /// Natural logarithm.
    Log,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Hyperbolic tangent.
    Tanh,
    /// 1/(1 + e^−x).
    Sigmoid,
    /// Error function.
    Erf,
    /// x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))); NaN at −∞, as in candle and PyTorch.
    Gelu,
    /// x/2 · (1 + erf(x/√2)); NaN at −∞, as in candle and PyTorch.
    GeluErf,
    /// max(x, 0). NaN gives NaN, −0 gives +0.
    Relu,
    /// x/(1 + e^−x); NaN at −∞, as in candle and PyTorch.
    Silu,
    /// log(1 + e^x).
    Softplus,
    /// The least integer not below x.
    Ceil,
    /// The greatest integer not above x.
    Floor,
    /// The nearest integer, halves away from zero.
    Round,
}

/// How an operation is computed.
enum Rule {
    /// Exact in the compute type.
    Exact(fn(f32) -> f32, fn(f64) -> f64),
    /// Computed in high precision.
    Precise(Formula),
}

impl UnaryOp {
    /// All of them.
    pub const ALL: [UnaryOp; 23] = [
        UnaryOp::Neg,
        UnaryOp::Abs,
        UnaryOp::Sign,
        UnaryOp::Sqr,
        UnaryOp::Sqrt,
        UnaryOp::Rsqrt,
        UnaryOp::Recip,
        UnaryOp::Exp,
        UnaryOp::Log,
        UnaryOp::Sin,
        UnaryOp::Cos,
        UnaryOp::Tan,
        UnaryOp::Tanh,
        UnaryOp::Sigmoid,
        UnaryOp::Erf,
        UnaryOp::Gelu,
        UnaryOp::GeluErf,
        UnaryOp::Relu,
        UnaryOp::Silu,
        UnaryOp::Softplus,
        UnaryOp::Ceil,
        UnaryOp::Floor,
        UnaryOp::Round,
    ];

    /// The name in kernels: "neg", "gelu_erf", …
    pub fn name(self) -> &'static str {
        match self {
            UnaryOp::Neg => "neg",
            UnaryOp::Abs => "abs",
            UnaryOp::Sign => "sign",
            UnaryOp::Sqr => "sqr",
            UnaryOp::Sqrt => "sqrt",
            UnaryOp::Rsqrt => "rsqrt",
            UnaryOp::Recip => "recip",
            UnaryOp::Exp => "exp",
            UnaryOp::Log => "log",
            UnaryOp::Sin => "sin",
            UnaryOp::Cos => "cos",
            UnaryOp::Tan => "tan",
            UnaryOp::Tanh => "tanh",
            UnaryOp::Sigmoid => "sigmoid",
            UnaryOp::Erf => "erf",
            UnaryOp::Gelu => "gelu",
            UnaryOp::GeluErf => "gelu_erf",
            UnaryOp::Relu => "relu",
            UnaryOp::Silu => "silu",
            UnaryOp::Softplus => "softplus",
            UnaryOp::Ceil => "ceil",
            UnaryOp::Floor => "floor",
            UnaryOp::Round => "round",
        }
    }

    /// Whether the operation supports a dtype: all support floats; neg, abs, sign, sqr and relu also support integers.
    pub fn supports(self, dtype: DType) -> bool {
        dtype.is_float()
            || matches!(self, UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Sign | UnaryOp::Sqr | UnaryOp::Relu)
    }

    fn on_int(self, x: i128) -> i128 {
        match self {
            UnaryOp::Neg => -x,
            UnaryOp::Abs => x.abs(),
            UnaryOp::Sign => x.signum(),
            UnaryOp::Sqr => x * x,
            UnaryOp::Relu => x.max(0),
            _ => unreachable!("not defined for integers"),
        }
    }

    fn rule(self) -> Rule {
        match self {
            UnaryOp::Neg => Rule::Exact(|x| -x, |x| -x),
            UnaryOp::Abs => Rule::Exact(f32::abs, f64::abs),
            UnaryOp::Sign => Rule::Exact(
                |x| {
                    if x > 0.0 {
                        1.0
                    } else if x < 0.0 {
                        -1.0
                    } else {
                        0.0
                    }
                },
                |x| {
                    if x > 0.0 {
                        1.0
                    } else if x < 0.0 {
                        -1.0
                    } else {
                        0.0
                    }
                },
            ),
            UnaryOp::Sqr => Rule::Exact(|x| x * x, |x| x * x),
            UnaryOp::Sqrt => Rule::Exact(f32::sqrt, f64::sqrt),
            UnaryOp::Recip => Rule::Exact(|x| 1.0 / x, |x| 1.0 / x),
            UnaryOp::Relu => Rule::Exact(|x| maximum(x, 0.0), |x| maximum(x, 0.0)),
            UnaryOp::Ceil => Rule::Exact(f32::ceil, f64::ceil),
            UnaryOp::Floor => Rule::Exact(f32::floor, f64::floor),
            UnaryOp::Round => Rule::Exact(f32::round, f64::round),
            UnaryOp::Rsqrt => Rule::Precise(formula::RSQRT),
            UnaryOp::Exp => Rule::Precise(formula::EXP),
            UnaryOp::Log => Rule::Precise(formula::LOG),
            UnaryOp::Sin => Rule::Precise(formula::SIN),
            UnaryOp::Cos => Rule::Precise(formula::COS),
            UnaryOp::Tan => Rule::Precise(formula::TAN),
            UnaryOp::Tanh => Rule::Precise(formula::TANH),
            UnaryOp::Sigmoid => Rule::Precise(formula::SIGMOID),
            UnaryOp::Erf => Rule::Precise(formula::ERF),
            UnaryOp::Gelu => Rule::Precise(formula::GELU),
            UnaryOp::GeluErf => Rule::Precise(formula::GELU_ERF),
            UnaryOp::Silu => Rule::Precise(formula::SILU),
            UnaryOp::Softplus => Rule::Precise(formula::SOFTPLUS),
        }
    }
}

/// `op` on each element of `a`; the result has the shape and dtype of `a`.
///
/// # Errors
/// [`Error::Unsupported`] where [`UnaryOp::supports`] is false.
pub fn unary(op: UnaryOp, a: &Array) -> Result<Outcome<'_>, Error> {
    let dtype = a.dtype();
    if !op.supports(dtype) {
        return Err(Error::Unsupported { op: op.name(), dtype });
    }
    let shape = a.shape().to_vec();
    Ok(match (&a.data, op.rule()) {
        (Data::Int(values), _) => {
            Outcome::new(dtype, shape, Judge::Exact, move |i| from_int(dtype, op.on_int(values[i].into())))
        }
        (Data::Float(values), Rule::Exact(single, double)) => {
            Outcome::new(dtype, shape, Judge::Exact, move |i| exact_float(dtype, values[i], single, double))
        }
        (Data::Float(values), Rule::Precise(formula)) => {
            let judge = bounds::transcendental(op.name(), dtype);
            let has_tail = op == UnaryOp::GeluErf;
            Outcome::new(dtype, shape, judge, move |i| {
                let x = values[i];
                let mut expected = precise(dtype, || (formula.fast)(x), || (formula.full)(x));
                if has_tail {
                    expected.scale = bounds::subnormal_tail(dtype, x, expected.value.hi);
                }
                expected
            })
        }
    })
}
