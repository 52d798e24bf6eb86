//! A scalar argument without a dtype.

use std::fmt;

use half::{bf16, f16};

use crate::float8::F8E4M3;

/// A scalar argument. It is stored without loss, and the operation rounds it once to the tensor's dtype.
///
/// It converts as `to_dtype` does. For an integer tensor, floats are truncated and saturate, NaN becomes 0, and
/// integers wrap. For a float tensor everything is rounded to nearest even.
///
/// ```
/// use tensor_core::{Element, Scalar};
///
/// assert_eq!(f32::from_scalar(Scalar::from(16_777_217)), 16_777_216.0);
/// assert_eq!(i64::from_scalar(Scalar::from(i64::MAX)), i64::MAX); // no detour through f64
/// assert_eq!(u8::from_scalar(Scalar::from(-3.7)), 0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// A floating point number.
    Float(f64),
    /// An integer.
    Int(i64),
}

impl Scalar {
    /// The value as `f64`, rounded to nearest.
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::Float(x) => x,
            Scalar::Int(i) => i as f64,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Float(x) => fmt::Display::fmt(x, f),
            Scalar::Int(i) => fmt::Display::fmt(i, f),
        }
    }
}

macro_rules! from {
    ($variant:ident: $($type:ty),+) => {
        $(impl From<$type> for Scalar {
            fn from(value: $type) -> Scalar {
                Scalar::$variant(value.into())
            }
        })+
    };
}

from!(Float: f64, f32, f16, bf16, F8E4M3);
from!(Int: i64, i32, i16, u32, u8);
