//! Operations on one array and scalar arguments.
//!
//! Scalars are rounded once to the array's dtype before the computation.

use super::{exact_float, from_f32, from_f64, from_int, maximum, minimum, operations, precise};
use crate::array::Data;
use crate::formula;
use crate::{Array, DType, Error, Judge, Outcome, Value, bounds};

operations! {
    /// An operation on one element and one scalar.
    ScalarOp {
        /// x^scalar, with the special cases of C's pow.
        Powf = "powf",
        /// x above zero, scalar · (e^x − 1) elsewhere.
        Elu = "elu",
        /// x above zero, scalar · x elsewhere.
        LeakyRelu = "leaky_relu",
    }
}

impl ScalarOp {
    /// Whether the operation supports a dtype: floats only.
    pub fn supports(self, dtype: DType) -> bool {
        dtype.is_float()
    }
}

/// `op` on each element of `a` with `scalar`; the result has the shape and dtype of `a`.
///
/// # Errors
/// [`Error::Unsupported`] for integers.
pub fn unary_scalar(op: ScalarOp, a: &Array, scalar: impl Into<Value>) -> Result<Outcome<'_>, Error> {
    let dtype = a.dtype();
    let Data::Float(values) = &a.data else {
        return Err(Error::Unsupported { op: op.name(), dtype });
    };
    let s = float(dtype, scalar.into());
    let shape = a.shape().to_vec();
    Ok(match op {
        ScalarOp::LeakyRelu => Outcome::new(dtype, shape, Judge::Exact, move |i| {
            let single = |x: f32| if x > 0.0 { x } else { x * s as f32 };
            exact_float(dtype, values[i], single, |x| if x > 0.0 { x } else { x * s })
        }),
        ScalarOp::Powf => Outcome::new(dtype, shape, bounds::transcendental("powf", dtype), move |i| {
            precise(dtype, || formula::pow_fast(values[i], s), || formula::pow(values[i], s))
        }),
        ScalarOp::Elu => Outcome::new(dtype, shape, bounds::transcendental("elu", dtype), move |i| {
            precise(dtype, || formula::elu_fast(values[i], s), || formula::elu(values[i], s))
        }),
    })
}

/// `a · mul + add`, element by element. Floats use one fused multiply-add in the compute type, rounded once to it and
/// once to the dtype. Integers wrap.
pub fn affine(a: &Array, mul: impl Into<Value>, add: impl Into<Value>) -> Outcome<'_> {
    let (dtype, shape, mul, add) = (a.dtype(), a.shape().to_vec(), mul.into(), add.into());
    match &a.data {
        Data::Int(values) => {
            let (mul, add) = (int(dtype, mul), int(dtype, add));
            Outcome::new(dtype, shape, Judge::Exact, move |i| {
                from_int(dtype, i128::from(values[i]) * mul + add)
            })
        }
        Data::Float(values) if dtype == DType::F64 => {
            let (mul, add) = (float(dtype, mul), float(dtype, add));
            Outcome::new(dtype, shape, Judge::Exact, move |i| from_f64(values[i].mul_add(mul, add)))
        }
        Data::Float(values) => {
            let (mul, add) = (float(dtype, mul) as f32, float(dtype, add) as f32);
            Outcome::new(dtype, shape, Judge::Exact, move |i| {
                from_f32(dtype, formula::fma32(values[i] as f32, mul, add))
            })
        }
    }
}

/// min(max(x, lowest), highest), element by element. The upper bound takes precedence if lowest > highest. A NaN in any
/// of the three propagates; −0 is less than +0.
pub fn clamp(a: &Array, lowest: impl Into<Value>, highest: impl Into<Value>) -> Outcome<'_> {
    let (dtype, shape, lowest, highest) = (a.dtype(), a.shape().to_vec(), lowest.into(), highest.into());
    match &a.data {
        Data::Int(values) => {
            let (lowest, highest) = (int(dtype, lowest), int(dtype, highest));
            Outcome::new(dtype, shape, Judge::Exact, move |i| {
                from_int(dtype, i128::from(values[i]).max(lowest).min(highest))
            })
        }
        Data::Float(values) => {
            let (lowest, highest) = (float(dtype, lowest), float(dtype, highest));
            Outcome::new(dtype, shape, Judge::Exact, move |i| {
                let single = |x| minimum(maximum(x, lowest as f32), highest as f32);
                exact_float(dtype, values[i], single, |x| minimum(maximum(x, lowest), highest))
            })
        }
    }
}

/// A scalar rounded to a float dtype.
fn float(dtype: DType, value: Value) -> f64 {
    match value.round_to(dtype) {
        Value::Float(x) => x,
        Value::Int(i) => i as f64,
    }
}

/// A scalar rounded to an integer dtype.
fn int(dtype: DType, value: Value) -> i128 {
    match value.round_to(dtype) {
        Value::Int(i) => i,
        Value::Float(x) => x as i128,
    }
}
