//! Selecting elements by a mask or by position, and arrays without inputs.

use super::rearrange::built;
use crate::shape::broadcast_shapes;
use crate::{Array, DType, Error, Outcome, Value};

/// `on_true` where `mask` is not zero, else `on_false`. The three broadcast together.
///
/// # Errors
/// [`Error::Broadcast`], [`Error::DTypes`], [`Error::Unsupported`] for a mask of another dtype than u8, u32, i64.
pub fn where_cond(mask: &Array, on_true: &Array, on_false: &Array) -> Result<Outcome<'static>, Error> {
    const OP: &str = "where_cond";
    if !matches!(mask.dtype(), DType::U8 | DType::U32 | DType::I64) {
        return Err(Error::Unsupported { op: OP, dtype: mask.dtype() });
    }
    if on_true.dtype() != on_false.dtype() {
        return Err(Error::DTypes { op: OP, left: on_true.dtype(), right: on_false.dtype() });
    }
    let pair = broadcast_shapes(OP, on_true.shape(), on_false.shape())?;
    let shape = broadcast_shapes(OP, mask.shape(), &pair)?;
    let (mask, a, b) =
        (mask.broadcast_to(&shape)?, on_true.broadcast_to(&shape)?, on_false.broadcast_to(&shape)?);
    let values: Vec<Value> =
        (0..mask.len()).map(|i| if mask.get(i) != Value::Int(0) { a.get(i) } else { b.get(i) }).collect();
    built(on_true.dtype(), &shape, values)
}

/// `value`, rounded to the dtype, where `mask` is not zero, else the elements of `a`. The mask broadcasts to the shape
/// of `a`.
///
/// # Errors
/// As [`where_cond`].
pub fn masked_fill(a: &Array, mask: &Array, value: impl Into<Value>) -> Result<Outcome<'static>, Error> {
    let value = Array::from_values(a.dtype(), &[], &[value.into()])?;
    where_cond(&mask.broadcast_to(a.shape())?, &value, a)
}

/// Keeps the elements of the matrices in the last two axes whose column − row is at most (`upper`: at least)
/// `diagonal`, and sets the others to 0.
///
/// # Errors
/// [`Error::Rank`] below two dimensions.
pub fn triangle(a: &Array, diagonal: i64, upper: bool) -> Result<Outcome<'static>, Error> {
    let [.., rows, columns] = *a.shape() else { return Err(Error::Rank { op: "triangle" }) };
    let value = |i: usize| {
        let (row, column) = ((i / columns % rows) as i128, (i % columns) as i128);
        let distance = column - row;
        let stays = if upper { distance >= diagonal.into() } else { distance <= diagonal.into() };
        if stays { a.get(i) } else { Value::Int(0).round_to(a.dtype()) }
    };
    built(a.dtype(), a.shape(), (0..a.len()).map(value).collect())
}

/// Ones on the main diagonal of a square matrix, zeros elsewhere.
///
/// # Errors
/// [`Error::TooLarge`].
pub fn eye(dtype: DType, size: usize) -> Result<Outcome<'static>, Error> {
    let values = (0..size * size).map(|i| Value::Int(i128::from(i / size == i % size)));
    built(dtype, &[size, size], values.collect())
}

/// `start`, `start + step`, … up to `end`, exclusive, each rounded once.
///
/// # Errors
/// None for the arguments of the cases.
pub fn arange(dtype: DType, start: f64, end: f64, step: f64) -> Result<Outcome<'static>, Error> {
    let mut values = Vec::new();
    loop {
        let value = start + values.len() as f64 * step;
        if (step > 0.0 && value >= end) || (step <= 0.0 && value <= end) {
            return built(dtype, &[values.len()], values);
        }
        values.push(Value::Float(value));
    }
}

/// `count` evenly spaced numbers from `start` to `end`, inclusive, each rounded once.
///
/// # Errors
/// None for the arguments of the cases.
pub fn linspace(dtype: DType, start: f64, end: f64, count: usize) -> Result<Outcome<'static>, Error> {
    let value = |i: usize| {
        if i + 1 == count && i > 0 {
            end
        } else {
            start + i as f64 * (end - start) / (count.max(2) - 1) as f64
        }
    };
    built(dtype, &[count], (0..count).map(|i| Value::Float(value(i))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(outcome: Outcome<'_>) -> Vec<u8> {
        outcome.to_bytes()
    }

    #[test]
    fn where_by_hand() {
        let mask = Array::from_i64(DType::I64, &[2, 1], &[0, -7]).unwrap();
        let a = Array::from_i64(DType::U8, &[3], &[1, 2, 3]).unwrap();
        let b = Array::from_i64(DType::U8, &[], &[9]).unwrap();
        let outcome = where_cond(&mask, &a, &b).unwrap();
        assert_eq!(outcome.shape(), [2, 3]);
        assert_eq!(bytes(outcome), [9, 9, 9, 1, 2, 3]);
        let filled = masked_fill(&a, &Array::from_i64(DType::U8, &[3], &[1, 0, 2]).unwrap(), 5i64).unwrap();
        assert_eq!(bytes(filled), [5, 2, 5]);
        assert!(where_cond(&a, &b, &mask).is_err());
    }

    #[test]
    fn triangles_by_hand() {
        let a = Array::from_i64(DType::U8, &[1, 2, 3], &[1, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!(bytes(triangle(&a, 0, false).unwrap()), [1, 0, 0, 4, 5, 0]);
        assert_eq!(bytes(triangle(&a, 1, true).unwrap()), [0, 2, 3, 0, 0, 6]);
        assert_eq!(bytes(triangle(&a, -5, true).unwrap()), [1, 2, 3, 4, 5, 6]);
        assert_eq!(bytes(eye(DType::U8, 2).unwrap()), [1, 0, 0, 1]);
    }

    #[test]
    fn ranges_by_hand() {
        assert_eq!(bytes(arange(DType::U8, 2.0, 9.0, 3.0).unwrap()), [2, 5, 8]);
        assert_eq!(bytes(arange(DType::U8, 5.0, 2.0, -2.0).unwrap()), [5, 3]);
        assert_eq!(bytes(linspace(DType::U8, 1.0, 9.0, 5).unwrap()), [1, 3, 5, 7, 9]);
        assert_eq!(bytes(linspace(DType::U8, 4.0, 9.0, 1).unwrap()), [4]);
        assert!(linspace(DType::F32, 0.0, 1.0, 0).unwrap().is_empty());
    }
}
