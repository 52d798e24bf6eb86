//! The expected result of an operation, element by element, and the allowed deviation.

use crate::round::{self, ulp};
use crate::{DType, Dd};

/// The expected value of one element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// The result before its last rounding, to high precision. For [`Judge::Exact`] the value of `bits`.
    pub value: Dd,
    /// Bit pattern of the correctly rounded result in the outcome's dtype. A NaN stands for any NaN.
    pub bits: u64,
    /// Σ|terms| of a sum, or the corresponding magnitude, which the judge's `t` is multiplied with; 0 if `t` is not
    /// used.
    pub scale: f64,
    /// Some order of evaluation overflows in an intermediate result, so that an infinity or a NaN is also right.
    pub overflow: bool,
}

/// How a device's results may differ from the reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Judge {
    /// The bits are equal.
    Exact,
    /// `|got − value| ≤ ulps · ulp(value) + t · scale`.
    Within {
        /// Ulps of the outcome's dtype, at the expected value.
        ulps: f64,
        /// Factor of [`Expected::scale`].
        t: f64,
    },
}

impl Judge {
    /// The maximum allowed `|got − value|`; 0 for exact and for non-finite results.
    pub fn tolerance(self, dtype: DType, expected: &Expected) -> f64 {
        match self {
            Judge::Within { ulps, t } if expected.value.is_finite() => {
                ulps * ulp(dtype, expected.value.hi) + t * expected.scale
            }
            _ => 0.0,
        }
    }

    /// Whether the bit pattern `got` is right.
    pub fn accepts(self, dtype: DType, expected: &Expected, got: u64) -> bool {
        if got == expected.bits || dtype.is_nan(got) && dtype.is_nan(expected.bits) {
            return true;
        }
        if self == Judge::Exact {
            return false;
        }
        if expected.overflow && !round::decode_float(dtype, got).is_finite() {
            return true;
        }
        // A NaN in place of a number gives a NaN difference, which no tolerance accepts.
        difference(dtype, expected, got) <= self.tolerance(dtype, expected)
    }
}

/// `|got − value|` for a bit pattern `got`: 0 for equal infinities and for two NaNs, NaN if only one is NaN.
///
/// Divide by [`ulp`] of the value for the error in ulp. If a device returns an infinity for a finite value, it counts
/// as the number after the dtype's largest finite one, so that a result one step too large is one step off. `f8e4m3`
/// saturates, so its value is first clamped to ±448. For integers this is the plain distance.
pub fn difference(dtype: DType, expected: &Expected, got: u64) -> f64 {
    if got == expected.bits || dtype.is_nan(got) && dtype.is_nan(expected.bits) {
        return 0.0;
    }
    match dtype.decode(got) {
        crate::Value::Int(i) => (Dd::from_int(i) - expected.value).abs().hi,
        crate::Value::Float(x) => {
            let value = if dtype == DType::F8E4M3 { expected.value.clamp(448.0) } else { expected.value };
            if x.abs() < 1.0 && value.hi.abs() < 1.0 {
                return (Dd::from(x) - value).abs().hi;
            }
            // Computes with halves, because the number after the largest f64 is not an f64. For smaller numbers it does
            // not, because the half of a subnormal may be inexact.
            let half_step = round::half_step_past_max(dtype);
            let got_half = if x.is_infinite() && value.is_finite() { half_step.copysign(x) } else { x * 0.5 };
            (Dd::from(got_half) - value.scale(0.5)).abs().hi * 2.0
        }
    }
}

/// The result of an operation, computed lazily per element.
pub struct Outcome<'a> {
    dtype: DType,
    shape: Vec<usize>,
    len: usize,
    judge: Judge,
    element: Box<dyn Fn(usize) -> Expected + Send + Sync + 'a>,
}

impl<'a> Outcome<'a> {
    /// The result of an operation with this dtype and shape. `element` gives the expected value at each row-major index.
    /// It may be called from many threads, and several times for an index.
    ///
    /// ```
    /// use reference::{Array, DType, Dd, Expected, Judge, Outcome, Value};
    ///
    /// # fn main() -> Result<(), reference::Error> {
    /// // x² + 1 in f32, whose two roundings are at most 1 ulp together.
    /// let x = Array::from_f64(DType::F32, &[2], &[3.0, 0.5])?;
    /// let square = |i: usize| match x.get(i) {
    ///     Value::Float(x) => Dd::product(x, x) + Dd::ONE,
    ///     Value::Int(i) => Dd::from_int(i * i + 1),
    /// };
    /// let judge = Judge::Within { ulps: 1.0, t: 0.0 };
    /// let outcome = Outcome::new(x.dtype(), vec![2], judge, |i| Expected::rounded(DType::F32, square(i), 0.0));
    /// assert_eq!(outcome.at(0).bits, u64::from(10f32.to_bits()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(
        dtype: DType,
        shape: Vec<usize>,
        judge: Judge,
        element: impl Fn(usize) -> Expected + Send + Sync + 'a,
    ) -> Outcome<'a> {
        let len = shape.iter().product();
        Outcome { dtype, shape, len, judge, element: Box::new(element) }
    }

    /// Dtype of the result.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Shape of the result.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The rule that a device's results are judged by.
    pub fn judge(&self) -> Judge {
        self.judge
    }

    /// The expected element at the row-major `index`. Panics if `index` is not below [`Outcome::len`].
    pub fn at(&self, index: usize) -> Expected {
        assert!(index < self.len, "element {index} of a result of {} elements", self.len);
        (self.element)(index)
    }

    /// All expected elements in order.
    pub fn iter(&self) -> impl Iterator<Item = Expected> + '_ {
        (0..self.len).map(|index| self.at(index))
    }

    /// The correctly rounded results as dense little-endian bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len * self.dtype.size());
        for expected in self.iter() {
            self.dtype.write(expected.bits, &mut bytes);
        }
        bytes
    }
}

impl std::fmt::Debug for Outcome<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outcome")
            .field("dtype", &self.dtype)
            .field("shape", &self.shape)
            .field("judge", &self.judge)
            .finish_non_exhaustive()
    }
}

impl Expected {
    /// An exact result: these `bits` of `dtype`.
    pub fn exact(dtype: DType, bits: u64) -> Expected {
        let value = match dtype.decode(bits) {
            crate::Value::Int(i) => Dd::from_int(i),
            crate::Value::Float(x) => Dd::from(x),
        };
        Expected { value, bits, scale: 0.0, overflow: false }
    }

    /// A high-precision result, rounded once to the float type `dtype`. `scale` is what the judge's `t` is multiplied with.
    pub fn rounded(dtype: DType, value: Dd, scale: f64) -> Expected {
        Expected { value, bits: round::round_dd(dtype, value), scale, overflow: false }
    }
}
