//! How far two elements may differ.

use std::fmt;

use reference::round::ulp;
use reference::{BOUNDS, DType, SMALL_FLOAT_ULPS, Value};

use crate::Error;

/// How far two elements of a tensor may differ. NaN and a number always differ too much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// Not at all: the bits are equal, or both are NaN.
    Equal,
    /// By this many [`steps`].
    Ulp(u64),
    /// By `atol + rtol · |right|`, as in PyTorch's `allclose` with `equal_nan`, computed in f64. Infinities are equal or
    /// too different.
    Close {
        /// Relative to the second tensor's element.
        rtol: f64,
        /// In addition.
        atol: f64,
    },
    /// By the bound of an operation on either side, because each may be off in another direction. Ulps are those of the
    /// larger magnitude. Integers are equal.
    Operation(reference::Bound),
}

impl Bound {
    /// The bound of an operation.
    ///
    /// # Errors
    /// [`Error::NoBound`] for operations without an entry in [`BOUNDS`], such as sums, whose bound depends on the terms.
    pub fn of_operation(name: &str) -> Result<Bound, Error> {
        let found = BOUNDS.iter().find(|bound| bound.op == name);
        found.map(|bound| Bound::Operation(*bound)).ok_or_else(|| Error::NoBound {
            name: name.to_owned(),
            known: BOUNDS.iter().map(|bound| bound.op).collect::<Vec<_>>().join(", "),
        })
    }

    /// Whether two elements are within the bound.
    pub fn holds(self, dtype: DType, left: u64, right: u64) -> bool {
        if left == right || dtype.is_nan(left) && dtype.is_nan(right) {
            return true;
        }
        if dtype.is_nan(left) || dtype.is_nan(right) {
            return false;
        }
        let (x, y) = (number(dtype.decode(left)), number(dtype.decode(right)));
        match self {
            Bound::Equal => false,
            Bound::Ulp(most) => steps(dtype, left, right) <= most,
            Bound::Close { rtol, atol } => {
                let gap = (x - y).abs();
                gap.is_finite() && gap <= atol + rtol * y.abs()
            }
            Bound::Operation(_) if dtype.is_int() => false,
            Bound::Operation(bound) => {
                let each = match dtype {
                    DType::F64 => bound.f64,
                    DType::F32 => bound.f32,
                    _ => SMALL_FLOAT_ULPS,
                };
                if x.is_infinite() || y.is_infinite() {
                    return steps(dtype, left, right) as f64 <= 2.0 * each;
                }
                (x - y).abs() <= 2.0 * each * ulp(dtype, x.abs().max(y.abs()))
            }
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Equal => f.write_str("equal bits"),
            Bound::Ulp(most) => write!(f, "{most} ulp"),
            Bound::Close { rtol, atol } => write!(f, "{atol:e} + {rtol:e} of the right one"),
            Bound::Operation(bound) => write!(
                f,
                "that of {} on either side: 2·{} ulp for f32, 2·{} for f64, 2·{SMALL_FLOAT_ULPS} for smaller floats",
                bound.op, bound.f32, bound.f64
            ),
        }
    }
}

/// The number of a dtype's numbers from one to the other, not counting the first: 0 for zeros of both signs, 1 for
/// neighbours, also for the largest number and infinity. For integers the distance. Neither is NaN.
pub fn steps(dtype: DType, left: u64, right: u64) -> u64 {
    let rank = |bits: u64| match dtype.decode(bits) {
        Value::Int(i) => i,
        // The bits of floats without their sign are in the order of the magnitudes.
        Value::Float(_) => {
            let sign = 1u64 << (dtype.bits() - 1);
            let magnitude = i128::from(bits & (sign - 1));
            if bits & sign == 0 { magnitude } else { -magnitude }
        }
    };
    u64::try_from(rank(left).abs_diff(rank(right))).unwrap_or(u64::MAX)
}

/// A value in `f64`.
pub(super) fn number(value: Value) -> f64 {
    match value {
        Value::Float(x) => x,
        Value::Int(i) => i as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32s(x: f32, y: f32) -> (u64, u64) {
        (x.to_bits().into(), y.to_bits().into())
    }

    #[test]
    fn steps_by_hand() {
        let of = |(x, y): (u64, u64)| steps(DType::F32, x, y);
        assert_eq!(of(f32s(0.0, -0.0)), 0);
        assert_eq!(of(f32s(1.0, 1.0 + f32::EPSILON)), 1);
        // From 1 down the numbers are half as far apart.
        assert_eq!(of(f32s(1.0 + f32::EPSILON, 1.0 - f32::EPSILON)), 3);
        assert_eq!(of(f32s(f32::MAX, f32::INFINITY)), 1);
        assert_eq!(of((1, 0x8000_0001)), 2, "the smallest numbers of both signs");
        assert_eq!(steps(DType::I64, i64::MIN as u64, i64::MAX as u64), u64::MAX);
        assert_eq!(steps(DType::U8, 3, 250), 247);
        assert_eq!(steps(DType::BF16, 0x3f80, 0x3f82), 2);
    }

    #[test]
    fn pytorchs_tolerance_is_relative_to_the_second() {
        let bound = Bound::Close { rtol: 0.1, atol: 0.0 };
        let holds = |x, y| bound.holds(DType::F32, f32s(x, y).0, f32s(x, y).1);
        assert!(holds(9.0, 10.0) && !holds(10.0, 9.0));
        assert!(holds(f32::NAN, f32::NAN) && !holds(f32::NAN, 1.0) && !holds(1.0, f32::NAN));
        assert!(holds(f32::INFINITY, f32::INFINITY) && !holds(1.0, f32::INFINITY));
        assert!(!holds(f32::INFINITY, f32::NEG_INFINITY));
    }

    #[test]
    fn operations_may_be_off_on_both_sides() {
        let exp = Bound::of_operation("exp").unwrap();
        // 2.5 ulp on either side are 5 between them.
        let one = 1f32.to_bits();
        assert!(exp.holds(DType::F32, (one + 5).into(), one.into()));
        assert!(!exp.holds(DType::F32, (one + 6).into(), one.into()));
        assert!(exp.holds(DType::F16, 0x3c02, 0x3c00) && !exp.holds(DType::F16, 0x3c03, 0x3c00));
        let error = Bound::of_operation("matmul").unwrap_err().to_string();
        assert!(error.contains("matmul") && error.contains("--rtol") && error.contains("exp, "), "{error}");
    }
}
