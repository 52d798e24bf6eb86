//! Rearranging elements: join, repeat, roll, flip, pad.

use crate::shape::{count, dense_strides};
use crate::{Array, DType, Error, Expected, Judge, Outcome, Value};

/// An exact outcome of the given values, each rounded once.
pub(super) fn built(dtype: DType, shape: &[usize], values: Vec<Value>) -> Result<Outcome<'static>, Error> {
    let array = Array::from_values(dtype, shape, &values)?;
    Ok(Outcome::new(dtype, shape.to_vec(), Judge::Exact, move |i| Expected::exact(dtype, array.bits(i))))
}

/// An outcome whose element at each index is the element of `a` at index `source(index)`, or `other` if that is `None`.
fn moved(
    a: &Array,
    shape: &[usize],
    other: Value,
    source: impl Fn(&[usize]) -> Option<Vec<usize>>,
) -> Result<Outcome<'static>, Error> {
    let (own, strides) = (dense_strides(a.shape()), dense_strides(shape));
    let value = |i: usize| {
        let index: Vec<usize> = strides.iter().zip(shape).map(|(stride, dim)| i / stride % dim).collect();
        let offset = source(&index).map(|index| index.iter().zip(&own).map(|(i, stride)| i * stride).sum());
        offset.map_or(other, |offset: usize| a.get(offset))
    };
    built(a.dtype(), shape, (0..count(shape)?).map(value).collect())
}

/// Concatenates arrays, at least one, along `axis`.
///
/// # Errors
/// [`Error::DTypes`], [`Error::Broadcast`] if shapes differ along another axis, [`Error::Axis`].
pub fn cat(arrays: &[&Array], axis: usize) -> Result<Outcome<'static>, Error> {
    const OP: &str = "cat";
    let first = arrays[0];
    let mut shape = first.shape().to_vec();
    if axis >= shape.len() {
        return Err(Error::Axis { op: OP, axis, shape });
    }
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    for other in &arrays[1..] {
        if other.dtype() != first.dtype() {
            return Err(Error::DTypes { op: OP, left: first.dtype(), right: other.dtype() });
        }
        let mut expected = first.shape().to_vec();
        expected[axis] = other.shape().get(axis).copied().unwrap_or(0);
        if other.shape() != expected {
            let (left, right) = (first.shape().to_vec(), other.shape().to_vec());
            return Err(Error::Broadcast { op: OP, left, right });
        }
        shape[axis] += expected[axis];
    }
    let mut values = Vec::new();
    for row in 0..outer {
        for array in arrays {
            let width = array.shape()[axis] * inner;
            values.extend((row * width..(row + 1) * width).map(|i| array.get(i)));
        }
    }
    built(first.dtype(), &shape, values)
}

/// Concatenates arrays of the same shape along a new `axis`.
///
/// # Errors
/// As [`cat`].
pub fn stack(arrays: &[&Array], axis: usize) -> Result<Outcome<'static>, Error> {
    let longer = |array: &Array| {
        let mut shape = array.shape().to_vec();
        shape.insert(axis, 1);
        array.clone().reshape(&shape)
    };
    let arrays = arrays.iter().map(|array| longer(array)).collect::<Result<Vec<_>, _>>()?;
    cat(&arrays.iter().collect::<Vec<_>>(), axis)
}

/// The array repeated `repeats[i]` times along axis `i`. There is one number per axis.
///
/// # Errors
/// [`Error::TooLarge`].
pub fn repeat(a: &Array, repeats: &[usize]) -> Result<Outcome<'static>, Error> {
    let shape: Vec<usize> = a.shape().iter().zip(repeats).map(|(dim, times)| dim * times).collect();
    moved(a, &shape, Value::Int(0), |index| {
        Some(index.iter().zip(a.shape()).map(|(i, dim)| i % dim).collect())
    })
}

/// Shifts the elements cyclically by `shift` towards higher indices along `axis`.
///
/// # Errors
/// [`Error::Axis`].
pub fn roll(a: &Array, shift: i64, axis: usize) -> Result<Outcome<'static>, Error> {
    let Some(&length) = a.shape().get(axis) else {
        return Err(Error::Axis { op: "roll", axis, shape: a.shape().to_vec() });
    };
    moved(a, a.shape(), Value::Int(0), |index| {
        let mut index = index.to_vec();
        index[axis] = (index[axis] as i128 - i128::from(shift)).rem_euclid(length as i128) as usize;
        Some(index)
    })
}

/// The elements in reverse order along `axes`.
///
/// # Errors
/// [`Error::Axis`].
pub fn flip(a: &Array, axes: &[usize]) -> Result<Outcome<'static>, Error> {
    if let Some(&axis) = axes.iter().find(|axis| **axis >= a.shape().len()) {
        return Err(Error::Axis { op: "flip", axis, shape: a.shape().to_vec() });
    }
    moved(a, a.shape(), Value::Int(0), |index| {
        let turned =
            |(axis, i): (usize, &usize)| if axes.contains(&axis) { a.shape()[axis] - 1 - i } else { *i };
        Some(index.iter().enumerate().map(turned).collect())
    })
}

/// The padding of an array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Border {
    /// One value, rounded to the dtype.
    Constant(Value),
    /// The nearest element.
    Nearest,
}

/// Pads the array with `sides[i].0` elements before and `sides[i].1` after along axis `i`.
///
/// # Errors
/// [`Error::TooLarge`].
pub fn pad(a: &Array, sides: &[(usize, usize)], border: Border) -> Result<Outcome<'static>, Error> {
    let shape: Vec<usize> =
        a.shape().iter().zip(sides).map(|(dim, (left, right))| left + dim + right).collect();
    let other = if let Border::Constant(value) = border { value } else { Value::Int(0) };
    moved(a, &shape, other, |index| {
        let inside = index.iter().zip(sides).zip(a.shape());
        inside
            .map(|((i, (left, _)), dim)| match i.checked_sub(*left) {
                Some(i) if i < *dim => Some(i),
                _ if matches!(border, Border::Constant(_)) => None,
                None => Some(0),
                Some(_) => Some(dim - 1),
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(shape: &[usize]) -> Array {
        let len = shape.iter().product::<usize>() as i64;
        Array::from_i64(DType::U8, shape, &(1..=len).collect::<Vec<_>>()).unwrap()
    }

    fn bytes(outcome: Result<Outcome<'_>, Error>) -> Vec<u8> {
        outcome.unwrap().to_bytes()
    }

    #[test]
    fn joins_by_hand() {
        let (a, b) = (array(&[2, 2]), array(&[2, 1]));
        assert_eq!(bytes(cat(&[&a, &b], 1)), [1, 2, 1, 3, 4, 2]);
        assert_eq!(bytes(cat(&[&b, &b], 0)), [1, 2, 1, 2]);
        assert_eq!(bytes(stack(&[&a, &a], 2)), [1, 1, 2, 2, 3, 3, 4, 4]);
        assert!(cat(&[&a, &b], 0).is_err());
        assert!(cat(&[&a], 2).is_err());
    }

    #[test]
    fn moves_by_hand() {
        let a = array(&[2, 3]);
        assert_eq!(bytes(repeat(&a, &[1, 2])), [1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6]);
        assert_eq!(bytes(roll(&a, 1, 1)), [3, 1, 2, 6, 4, 5]);
        assert_eq!(bytes(roll(&a, -4, 1)), [2, 3, 1, 5, 6, 4]);
        assert_eq!(bytes(flip(&a, &[0])), [4, 5, 6, 1, 2, 3]);
        assert_eq!(bytes(flip(&a, &[0, 1])), [6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn borders_by_hand() {
        let a = array(&[1, 2]);
        let constant = Border::Constant(Value::Int(9));
        assert_eq!(bytes(pad(&a, &[(1, 0), (0, 1)], constant)), [9, 9, 9, 1, 2, 9]);
        assert_eq!(bytes(pad(&a, &[(0, 0), (2, 1)], Border::Nearest)), [1, 1, 1, 2, 2]);
    }
}
