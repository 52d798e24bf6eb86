//! Matrix products with broadcast batches.

use super::sums;
use crate::array::Data;
use crate::round;
use crate::shape::{IndexMap, broadcast_shapes, broadcast_strides, count};
use crate::{Array, DType, Error, Expected, Judge, Outcome, bounds};

/// The matrix product of `a` [.., m, k] and `b` [.., k, n]: [.., m, n], with broadcast leading dimensions. An operand
/// of one dimension is a row on the left or a column on the right, and this dimension is dropped from the result.
/// Floats only; types up to `f32` accumulate in `f32`.
///
/// If the operands are integers and Σ|terms| is below 2^24 (2^53 for `f64`), the result is exact: [`Expected::bits`]. A
/// caller with such operands may demand equal bits.
///
/// # Errors
/// [`Error::Unsupported`], [`Error::DTypes`], [`Error::Rank`], [`Error::Inner`], [`Error::Broadcast`],
/// [`Error::TooLarge`].
pub fn matmul<'a>(a: &'a Array, b: &'a Array) -> Result<Outcome<'a>, Error> {
    let op = "matmul";
    let dtype = a.dtype();
    if b.dtype() != dtype {
        return Err(Error::DTypes { op, left: dtype, right: b.dtype() });
    }
    let (Data::Float(x), Data::Float(y)) = (&a.data, &b.data) else {
        return Err(Error::Unsupported { op, dtype });
    };
    let inner = || Error::Inner { left: a.shape().to_vec(), right: b.shape().to_vec() };
    let (a_batch, m, k) = match *a.shape() {
        [] => return Err(Error::Rank { op }),
        [k] => (&[][..], None, k),
        [ref batch @ .., m, k] => (batch, Some(m), k),
    };
    let (b_batch, n) = match *b.shape() {
        [] => return Err(Error::Rank { op }),
        [rows] if rows == k => (&[][..], None),
        [ref batch @ .., rows, n] if rows == k => (batch, Some(n)),
        _ => return Err(inner()),
    };
    let mut shape = broadcast_shapes(op, a_batch, b_batch)?;
    let left = IndexMap::new(&shape, &broadcast_strides(a_batch, &shape));
    let right = IndexMap::new(&shape, &broadcast_strides(b_batch, &shape));
    shape.extend(m);
    shape.extend(n);
    count(&shape)?;

    let (m, n) = (m.unwrap_or(1), n.unwrap_or(1));
    let columns = transpose(y, k, n);
    let judge = Judge::Within { ulps: 1.0, t: bounds::sum_tolerance(dtype, k) };
    Ok(Outcome::new(dtype, shape, judge, move |i| {
        let (batch, row, column) = (i / (m * n), i / n % m, i % n);
        let row = &x[(left.offset_of(batch) * m + row) * k..][..k];
        let column = &columns[(right.offset_of(batch) * n + column) * k..][..k];
        dot(dtype, row, column)
    }))
}

/// Transposes every k×n matrix of `y` to n×k, which makes columns contiguous.
fn transpose(y: &[f64], k: usize, n: usize) -> Vec<f64> {
    let mut columns = Vec::with_capacity(y.len());
    for matrix in y.chunks_exact((k * n).max(1)) {
        for column in 0..n {
            columns.extend(matrix.iter().skip(column).step_by(n));
        }
    }
    columns
}

fn dot(dtype: DType, row: &[f64], column: &[f64]) -> Expected {
    let mut expected = sums::expected(dtype, 1.0, 2, |factor, sum| {
        if dtype == DType::F64 {
            row.iter().zip(column).for_each(|(x, y)| sum.add_product(x * factor, y * factor));
        } else {
            sum.add_products_of_singles(row, column, factor);
        }
    });
    // A product below the normal numbers of the compute type has an error of up to half the smallest subnormal. Times
    // √k from t, this covers k of them.
    let compute = bounds::compute(dtype);
    expected.scale += 0.3 * round::min_normal(compute) * (row.len() as f64).sqrt();
    expected
}
