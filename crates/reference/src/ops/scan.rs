//! Cumulative sums and products along an axis.

use super::reduce::product;
use super::{from_int, operations, sums};
use crate::array::Data;
use crate::shape::{IndexMap, dense_strides};
use crate::{Array, Error, Expected, Judge, Outcome, bounds};

operations! {
    /// A cumulative operation.
    CumulativeOp {
        /// The sum of all elements up to each one, inclusive.
        Sum = "cumsum",
        /// The product of all elements up to each one, inclusive.
        Prod = "cumprod",
    }
}

/// Combines all elements of `a` along `axis` up to each one by `op`. Each result is computed from all its terms.
/// Integers wrap.
///
/// A float result is judged as a sum or product of its terms: the scale is Σ|terms| · √terms, or for products |product|
/// · terms.
///
/// # Errors
/// [`Error::Axis`].
pub fn scan<'a>(op: CumulativeOp, a: &'a Array, axis: usize) -> Result<Outcome<'a>, Error> {
    let (dtype, shape) = (a.dtype(), a.shape().to_vec());
    let Some(&length) = shape.get(axis) else { return Err(Error::Axis { op: op.name(), axis, shape }) };
    let stride = dense_strides(&shape)[axis];
    // The number of an element's terms, and the position of the first.
    let terms = move |index: usize| {
        let count = index / stride % length + 1;
        (count, index - (count - 1) * stride)
    };
    Ok(match &a.data {
        Data::Int(values) => Outcome::new(dtype, shape, Judge::Exact, move |index| {
            let (count, first) = terms(index);
            let elements = (0..count).map(|i| i128::from(values[first + i * stride]));
            let result = match op {
                CumulativeOp::Sum => elements.sum(),
                CumulativeOp::Prod => elements.fold(1, i128::wrapping_mul),
            };
            from_int(dtype, result)
        }),
        Data::Float(values) => {
            let t = match op {
                CumulativeOp::Sum => bounds::sum_tolerance(dtype, 1),
                CumulativeOp::Prod => bounds::product_tolerance(dtype, 1),
            };
            Outcome::new(dtype, shape, Judge::Within { ulps: 1.0, t }, move |index| {
                let (count, first) = terms(index);
                let (expected, growth) = match op {
                    CumulativeOp::Sum => (
                        sums::expected(dtype, 1.0, 1, |factor, sum| {
                            (0..count).for_each(|i| sum.add(values[first + i * stride] * factor));
                        }),
                        (count as f64).sqrt(),
                    ),
                    CumulativeOp::Prod => {
                        let walk = IndexMap::new(&[count], &[stride]);
                        (product(dtype, values, first, &walk), count as f64)
                    }
                };
                Expected { scale: (expected.scale * growth).min(f64::MAX), ..expected }
            })
        }
    })
}
