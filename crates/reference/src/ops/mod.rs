//! One file per group of operations.

pub(crate) mod attention;
pub(crate) mod binary;
pub(crate) mod cast;
pub(crate) mod compare;
pub(crate) mod conv;
pub(crate) mod index;
pub(crate) mod matmul;
pub(crate) mod nn;
pub(crate) mod order;
pub(crate) mod pool;
pub(crate) mod random;
pub(crate) mod rearrange;
pub(crate) mod reduce;
pub(crate) mod rope;
pub(crate) mod scaled;
pub(crate) mod scan;
pub(crate) mod select;
pub(crate) mod stat;
pub(crate) mod sums;
pub(crate) mod unary;

use std::ops::{Add, Div, Mul, Rem, Sub};

use crate::round;
use crate::{DType, Dd, Expected};

/// Makes an enum of operations with their names.
macro_rules! operations {
    ($(#[$doc:meta])* $enum:ident { $($(#[$op_doc:meta])* $op:ident = $name:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $enum {
            $($(#[$op_doc])* $op,)+
        }

        impl $enum {
            /// All of them.
            pub const ALL: [$enum; [$($enum::$op),+].len()] = [$($enum::$op),+];

            /// The name in kernels.
            pub fn name(self) -> &'static str {
                match self {
                    $($enum::$op => $name,)+
                }
            }
        }
    };
}
use operations;

/// A result of exact `f32` arithmetic, rounded once more to a dtype up to `f32`.
pub(crate) fn from_f32(dtype: DType, x: f32) -> Expected {
    let bits = if dtype == DType::F32 && !x.is_nan() {
        u64::from(x.to_bits())
    } else {
        round::round_f64(dtype, f64::from(x))
    };
    let value = if dtype == DType::F32 { f64::from(x) } else { round::decode_float(dtype, bits) };
    Expected { value: Dd::from(value), bits, scale: 0.0, overflow: false }
}

/// A result of exact `f64` arithmetic.
fn from_f64(x: f64) -> Expected {
    Expected { value: Dd::from(x), bits: round::round_f64(DType::F64, x), scale: 0.0, overflow: false }
}

/// An integer result, wrapped.
fn from_int(dtype: DType, i: i128) -> Expected {
    Expected::exact(dtype, round::wrap(dtype, i))
}

/// A function on floats, exact in the compute type: `single` for the dtypes up to `f32`, `double` for `f64`.
fn exact_float(dtype: DType, x: f64, single: impl Fn(f32) -> f32, double: impl Fn(f64) -> f64) -> Expected {
    if dtype == DType::F64 { from_f64(double(x)) } else { from_f32(dtype, single(x as f32)) }
}

/// A high-precision value, from the computation for the dtype, rounded once.
fn precise(dtype: DType, fast: impl Fn() -> f64, full: impl Fn() -> Dd) -> Expected {
    let value = if dtype == DType::F64 { full() } else { Dd::from(fast()) };
    Expected::rounded(dtype, value, 0.0)
}

/// The larger of two floats: NaN propagates, −0 is less than +0.
fn maximum<F: Float>(a: F, b: F) -> F {
    if a.nan() {
        a
    } else if b.nan() || b > a || b == a && a.negative() {
        b
    } else {
        a
    }
}

/// The smaller of two floats: NaN propagates, −0 is less than +0.
fn minimum<F: Float>(a: F, b: F) -> F {
    if a.nan() {
        a
    } else if b.nan() || b < a || b == a && b.negative() {
        b
    } else {
        a
    }
}

/// What binary operations need of a float.
trait Float:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
{
    fn nan(self) -> bool;
    fn negative(self) -> bool;
}

impl Float for f32 {
    fn nan(self) -> bool {
        self.is_nan()
    }
    fn negative(self) -> bool {
        self.is_sign_negative()
    }
}

impl Float for f64 {
    fn nan(self) -> bool {
        self.is_nan()
    }
    fn negative(self) -> bool {
        self.is_sign_negative()
    }
}
