//! Sorting along an axis.

use std::cmp::Ordering;
use std::sync::OnceLock;

use super::from_int;
use crate::array::Data;
use crate::round;
use crate::shape::dense_strides;
use crate::{Array, DType, Error, Expected, Judge, Outcome};

/// Which result of a sort to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sorted {
    /// The elements.
    Values,
    /// Their former positions along the axis, as `u32`.
    Positions,
}

/// The first `keep` sorted elements of `a` along `axis`, or their positions.
///
/// NaN is the largest, and −0 comes before +0; `descending` reverses this order. The sort is stable in both directions,
/// and all NaN are equal. The first access to an element sorts everything; later ones look it up.
///
/// # Errors
/// [`Error::Axis`]; [`Error::View`] if there are fewer than `keep` elements along the axis.
pub fn sort<'a>(
    a: &'a Array,
    axis: usize,
    descending: bool,
    keep: usize,
    what: Sorted,
) -> Result<Outcome<'a>, Error> {
    let shape = a.shape().to_vec();
    let Some(&length) = shape.get(axis) else { return Err(Error::Axis { op: "sort", axis, shape }) };
    let mut dims = shape.clone();
    dims[axis] = keep;
    let stride = dense_strides(&shape)[axis];
    if keep > length {
        return Err(Error::View { dims, strides: vec![stride as isize], offset: 0, len: length });
    }
    let sorted = OnceLock::new();
    let element = move |index: usize| {
        // The result is `outer × keep × stride`, the array is `outer × length × stride`.
        let (outer, rank, inner) = (index / (keep * stride), index / stride % keep, index % stride);
        let orders = sorted.get_or_init(|| orders(a, length, stride, descending));
        let position = orders[outer * stride + inner][rank];
        match what {
            Sorted::Positions => from_int(DType::U32, position as i128),
            Sorted::Values => value(a, (outer * length + position) * stride + inner),
        }
    };
    let dtype = if what == Sorted::Positions { DType::U32 } else { a.dtype() };
    Ok(Outcome::new(dtype, dims, Judge::Exact, element))
}

/// The sorted positions of every line, with lines in row-major order.
fn orders(a: &Array, length: usize, stride: usize, descending: bool) -> Vec<Vec<usize>> {
    let lines = a.len() / length;
    let line = |number: usize| {
        let first = number / stride * length * stride + number % stride;
        let compare = |left: &usize, right: &usize| {
            let (left, right) = (first + left * stride, first + right * stride);
            let order = match &a.data {
                Data::Int(values) => values[left].cmp(&values[right]),
                Data::Float(values) => compare_floats(values[left], values[right]),
            };
            if descending { order.reverse() } else { order }
        };
        let mut positions: Vec<usize> = (0..length).collect();
        positions.sort_by(compare);
        positions
    };
    (0..lines).map(line).collect()
}

fn compare_floats(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        _ if a < b => Ordering::Less,
        _ if a > b => Ordering::Greater,
        // Zeros of different sign are equal numbers.
        _ => b.is_sign_negative().cmp(&a.is_sign_negative()),
    }
}

fn value(a: &Array, index: usize) -> Expected {
    match &a.data {
        Data::Int(values) => from_int(a.dtype(), values[index].into()),
        Data::Float(values) => Expected::exact(a.dtype(), round::round_f64(a.dtype(), values[index])),
    }
}
