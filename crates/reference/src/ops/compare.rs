//! Comparisons of two arrays, with broadcasting.

use super::binary::Pairs;
use super::{from_int, operations};
use crate::array::Data;
use crate::{Array, DType, Error, Judge, Outcome};

operations! {
    /// A comparison: 1 where it holds, else 0. −0 equals +0. NaN is unequal to everything and unordered.
    CmpOp {
        /// a = b.
        Eq = "eq",
        /// a ≠ b.
        Ne = "ne",
        /// a < b.
        Lt = "lt",
        /// a ≤ b.
        Le = "le",
        /// a > b.
        Gt = "gt",
        /// a ≥ b.
        Ge = "ge",
    }
}

impl CmpOp {
    /// Whether the operation supports a dtype: all support all.
    pub fn supports(self, _dtype: DType) -> bool {
        true
    }

    fn holds<N: PartialOrd>(self, a: N, b: N) -> bool {
        match self {
            CmpOp::Eq => a == b,
            CmpOp::Ne => a != b,
            CmpOp::Lt => a < b,
            CmpOp::Le => a <= b,
            CmpOp::Gt => a > b,
            CmpOp::Ge => a >= b,
        }
    }
}

/// `op` on the pairs of elements of `a` and `b`, which have the same dtype and broadcast. The result is `u8`.
///
/// # Errors
/// [`Error::DTypes`], [`Error::Broadcast`], [`Error::TooLarge`].
pub fn compare<'a>(op: CmpOp, a: &'a Array, b: &'a Array) -> Result<Outcome<'a>, Error> {
    let Pairs { shape, left, right } = Pairs::new(op.name(), a, b)?;
    let answer = |holds: bool| from_int(DType::U8, holds.into());
    Ok(match (&a.data, &b.data) {
        (Data::Int(x), Data::Int(y)) => Outcome::new(DType::U8, shape, Judge::Exact, move |i| {
            answer(op.holds(x[left.offset_of(i)], y[right.offset_of(i)]))
        }),
        (Data::Float(x), Data::Float(y)) => Outcome::new(DType::U8, shape, Judge::Exact, move |i| {
            answer(op.holds(x[left.offset_of(i)], y[right.offset_of(i)]))
        }),
        _ => unreachable!("equal dtypes have equal representations"),
    })
}
