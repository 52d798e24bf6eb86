//! A sum and its error bound.

use super::Number;
use crate::round::ulp;
use crate::{DType, Dd};
use std::ops::Index;

/// A sum to about 30 digits, with the magnitude that its rounding errors are relative to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sum {
    /// Its value.
    pub value: Number,
    /// Σ|terms|. For complex terms, the product of the factors' [`Number::size`]s.
    pub scale: f64,
    /// The number of terms.
    pub terms: usize,
}

impl Sum {
    /// Adds a term, the product of these factors.
    #[must_use]
    pub fn plus(self, factors: &[Number]) -> Self {
        let term = factors.iter().fold(Number::ONE, |product, &factor| product * factor);
        let size: f64 = factors.iter().map(|factor| factor.size()).product();
        Self { value: self.value + term, scale: self.scale + size, terms: self.terms + 1 }
    }

    /// A number that is not a sum.
    pub fn exactly(value: Number) -> Self {
        Self { value, scale: 0.0, terms: 0 }
    }

    /// The maximum error of each part of a result: `t · Σ|terms|` plus one ulp, where t is `4e-16 √terms` for `f64` and
    /// `2e-7 √terms` for the others, which accumulate in `f32`. For one term this is 3.4 unit roundoffs, enough for a
    /// product with a factor and an addition. It grows like the sum of independent rounding errors.
    pub fn tolerance(&self, dtype: DType) -> [f64; 2] {
        let t = if dtype == DType::F64 { 4e-16 } else { 2e-7 } * (self.terms.max(1) as f64).sqrt();
        [self.value.re, self.value.im].map(|part| t * self.scale + ulp(dtype, part.hi))
    }

    /// Whether a result, given by real and imaginary part, is right.
    pub fn accepts(&self, dtype: DType, got: [f64; 2]) -> bool {
        let tolerance = self.tolerance(dtype);
        let parts = [self.value.re, self.value.im];
        (0..2).all(|part| (Dd::from(got[part]) - parts[part]).abs().hi <= tolerance[part])
    }
}

/// The elements of a matrix result.
#[derive(Debug, Clone, PartialEq)]
pub struct Sums {
    rows: usize,
    elements: Vec<Sum>,
}

impl Sums {
    pub(super) fn from_fn(rows: usize, cols: usize, element: impl Fn(usize, usize) -> Sum) -> Self {
        let elements = (0..cols).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| element(i, j));
        Self { rows, elements: elements.collect() }
    }
}

impl Index<(usize, usize)> for Sums {
    type Output = Sum;

    fn index(&self, (row, col): (usize, usize)) -> &Sum {
        assert!(row < self.rows);
        &self.elements[row + col * self.rows]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accepted() {
        let sum = Sum::default().plus(&[1.0.into(), 3.0.into()]).plus(&[(-1.0).into(), 2.0.into()]);
        assert_eq!((sum.value, sum.scale, sum.terms), (Number::ONE, 5.0, 2));
        // An ulp of f32 at 1 is 1.19e-7; 2e-7 · √2 · 5 is 1.414e-6.
        assert!(sum.accepts(DType::F32, [1.0 + 1.5e-6, 0.0]));
        assert!(!sum.accepts(DType::F32, [1.0 + 1.6e-6, 0.0]));
        assert!(!sum.accepts(DType::F32, [1.0, 1.6e-6]));
        assert!(!sum.accepts(DType::F64, [1.0 + 1e-14, 0.0]));
        assert!(!sum.accepts(DType::F32, [f64::NAN, 0.0]));
        assert!(!sum.accepts(DType::F32, [f64::INFINITY, 0.0]));
        assert!(sum.accepts(DType::BF16, [1.0078125, 0.0]));
    }
}
