//! Operations on one array, element by element.

use super::{exact_float, from_int, maximum, operations, precise};
use crate::array::Data;
use crate::dd::erf_fast;
use crate::{Array, DType, Dd, Error, Judge, Outcome, bounds, formula};

/// How an operation is computed for floats.
enum Rule {
    /// Exact in the compute type: for `f32` and for `f64`.
    Exact(fn(f32) -> f32, fn(f64) -> f64),
    /// In high precision: for arguments that are exact in `f32`, with a relative error below 1e-13, and for any `f64`,
    /// with one below 1e-28.
    Precise(fn(f64) -> f64, fn(f64) -> Dd),
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const LN_2: f64 = std::f64::consts::LN_2;

macro_rules! rule {
    ($x:ident exact $formula:expr) => {
        Rule::Exact(|$x| $formula, |$x| $formula)
    };
    ($x:ident precise $fast:expr, $full:expr) => {
        Rule::Precise($fast, $full)
    };
}

macro_rules! unary {
    (|$x:ident| $(
        $(#[$doc:meta])*
        $op:ident = $name:literal, $limits:expr, $kind:ident($($rule:tt)+) $(, integers($int:expr))?;
    )+) => {
        operations! {
            /// An operation on each element.
            UnaryOp {
                $($(#[$doc])* $op = $name,)+
            }
        }

        impl UnaryOp {
            /// The results at +0, −0, +∞ and −∞, worked out by hand. That at NaN is NaN, except for sign.
            pub fn at_limits(self) -> [f64; 4] {
                match self {
                    $(UnaryOp::$op => $limits,)+
                }
            }

            fn rule(self) -> Rule {
                match self {
                    $(UnaryOp::$op => rule!($x $kind $($rule)+),)+
                }
            }

            /// The result for integers before it wraps, if there is one.
            fn on_int(self, $x: i128) -> Option<i128> {
                match self {
                    $($(UnaryOp::$op => Some($int),)?)+
                    _ => None,
                }
            }
        }
    };
}

// Each row has the name in kernels, the results at the limits, and the rule. If integers are supported, theirs is last.
unary! { |x|
    /// −x; integers wrap.
    Neg = "neg", [-0.0, 0.0, -INF, INF], exact(-x), integers(-x);
    /// |x|; the minimum integer stays.
    Abs = "abs", [0.0, 0.0, INF, INF], exact(x.abs()), integers(x.abs());
    /// 1, 0 or −1; 0 for NaN, and +0 for −0, as in candle and PyTorch.
    Sign = "sign", [0.0, 0.0, 1.0, -1.0],
        exact(if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { 0.0 }), integers(x.signum());
    /// x²; integers wrap.
    Sqr = "sqr", [0.0, 0.0, INF, INF], exact(x * x), integers(x * x);
    /// √x.
    Sqrt = "sqrt", [0.0, -0.0, INF, NAN], exact(x.sqrt());
    /// 1/√x.
    Rsqrt = "rsqrt", [INF, -INF, 0.0, NAN], precise(|x| 1.0 / x.sqrt(), |x| Dd::ONE / Dd::from(x).sqrt());
    /// 1/x.
    Recip = "recip", [INF, -INF, 0.0, -0.0], exact(1.0 / x);
    /// e^x.
    Exp = "exp", [1.0, 1.0, INF, 0.0], precise(f64::exp, |x| Dd::from(x).exp());
    /// Natural logarithm.
    Log = "log", [-INF, -INF, INF, NAN], precise(f64::ln, |x| Dd::from(x).ln());
    /// Sine.
    Sin = "sin", [0.0, -0.0, NAN, NAN], precise(f64::sin, Dd::sin_of);
    /// Cosine.
    Cos = "cos", [1.0, 1.0, NAN, NAN], precise(f64::cos, Dd::cos_of);
    /// Tangent.
    Tan = "tan", [0.0, -0.0, NAN, NAN], precise(f64::tan, Dd::tan_of);
    /// Hyperbolic tangent.
    Tanh = "tanh", [0.0, -0.0, 1.0, -1.0], precise(f64::tanh, formula::tanh);
    /// 1/(1 + e^−x).
    Sigmoid = "sigmoid", [0.5, 0.5, 1.0, 0.0],
        precise(formula::sigmoid_fast, |x| formula::times_sigmoid(Dd::ONE, Dd::from(x)));
    /// Error function.
    Erf = "erf", [0.0, -0.0, 1.0, -1.0], precise(erf_fast, |x| Dd::from(x).erf());
    /// x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))); NaN at −∞, as in candle and PyTorch.
    Gelu = "gelu", [0.0, -0.0, INF, NAN], precise(formula::gelu_fast, formula::gelu);
    /// x/2 · (1 + erf(x/√2)); NaN at −∞, as in candle and PyTorch.
    GeluErf = "gelu_erf", [0.0, -0.0, INF, NAN], precise(formula::gelu_erf_fast, formula::gelu_erf);
    /// max(x, 0). NaN gives NaN, −0 gives +0.
    Relu = "relu", [0.0, 0.0, INF, 0.0], exact(maximum(x, 0.0)), integers(x.max(0));
    /// x/(1 + e^−x); NaN at −∞, as in candle and PyTorch.
    Silu = "silu", [0.0, -0.0, INF, NAN],
        precise(|x| x * formula::sigmoid_fast(x), |x| formula::times_sigmoid(Dd::from(x), Dd::from(x)));
    /// log(1 + e^x).
    Softplus = "softplus", [LN_2, LN_2, INF, 0.0], precise(formula::softplus_fast, formula::softplus);
    /// The least integer not below x.
    Ceil = "ceil", [0.0, -0.0, INF, -INF], exact(x.ceil());
    /// The greatest integer not above x.
    Floor = "floor", [0.0, -0.0, INF, -INF], exact(x.floor());
    /// The nearest integer, halves away from zero.
    Round = "round", [0.0, -0.0, INF, -INF], exact(x.round());
}

impl UnaryOp {
    /// Whether the operation supports a dtype: all support floats; some also support integers.
    pub fn supports(self, dtype: DType) -> bool {
        dtype.is_float() || self.on_int(0).is_some()
    }

    /// The result for a float before it is rounded.
    pub(super) fn precise(self, dtype: DType, x: f64) -> Dd {
        match self.rule() {
            Rule::Exact(_, double) => Dd::from(double(x)),
            Rule::Precise(_, full) if dtype == DType::F64 => full(x),
            Rule::Precise(fast, _) => Dd::from(fast(x)),
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
        (Data::Int(values), _) => Outcome::new(dtype, shape, Judge::Exact, move |i| {
            from_int(dtype, op.on_int(values[i].into()).expect("the operation supports the dtype"))
        }),
        (Data::Float(values), Rule::Exact(single, double)) => {
            Outcome::new(dtype, shape, Judge::Exact, move |i| exact_float(dtype, values[i], single, double))
        }
        (Data::Float(values), Rule::Precise(fast, full)) => {
            let judge = bounds::transcendental(op.name(), dtype);
            let has_tail = op == UnaryOp::GeluErf;
            Outcome::new(dtype, shape, judge, move |i| {
                let x = values[i];
                let mut expected = precise(dtype, || fast(x), || full(x));
                if has_tail {
                    expected.scale = bounds::subnormal_tail(dtype, x, expected.value.hi);
                }
                expected
            })
        }
    })
}
