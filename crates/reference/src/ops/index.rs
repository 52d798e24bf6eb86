//! Reading and writing by ids, and replacing slices.
//!
//! ids are integer arrays that index one axis. A negative id, or one past the axis's end, is an error.

use super::{from_f32, from_f64, from_int};
use crate::array::Data;
use crate::shape::{count, dense_strides};
use crate::{Array, Error, Expected, Judge, Outcome};

/// What repeated ids do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Put {
    /// The last write stays.
    Replace,
    /// Terms are added in the order of the ids along the axis.
    Add,
}

/// The slices of `a` at `ids`, which has one dimension, along `axis`.
///
/// # Errors
/// [`Error::Axis`], [`Error::Ids`], [`Error::Fit`], [`Error::OutOfRange`], [`Error::TooLarge`].
pub fn index_select<'a>(a: &'a Array, ids: &Array, axis: usize) -> Result<Outcome<'a>, Error> {
    let op = "index_select";
    let ids = list(op, ids, a, axis)?;
    let mut shape = a.shape().to_vec();
    shape[axis] = ids.len();
    count(&shape)?;
    let (own, strides) = (dense_strides(&shape), dense_strides(a.shape()));
    let dims = shape.clone();
    Ok(Outcome::new(a.dtype(), shape, Judge::Exact, move |i| {
        let along = |d: usize| i / own[d] % dims[d];
        let position = |d: usize| if d == axis { ids[along(d)] } else { along(d) };
        element(a, (0..dims.len()).map(|d| position(d) * strides[d]).sum())
    }))
}

/// For each id the element at that index along `axis`, and at the id's own indices along the other axes. `ids` has the
/// rank of `a`, and is no longer than `a` along any other axis.
///
/// # Errors
/// As [`index_select`].
pub fn gather<'a>(a: &'a Array, ids: &Array, axis: usize) -> Result<Outcome<'a>, Error> {
    let op = "gather";
    fit(op, a, ids.shape(), axis)?;
    let numbers = checked_ids(op, ids, a.shape(), axis)?;
    let dims = ids.shape().to_vec();
    let (own, strides) = (dense_strides(&dims), dense_strides(a.shape()));
    Ok(Outcome::new(a.dtype(), dims.clone(), Judge::Exact, move |i| {
        let position = |d: usize| if d == axis { numbers[i] } else { i / own[d] % dims[d] };
        element(a, (0..dims.len()).map(|d| position(d) * strides[d]).sum())
    }))
}

/// The rows of the matrix `table` at `ids` of any shape. The result has one more dimension.
///
/// # Errors
/// As [`index_select`].
pub fn embedding<'a>(table: &'a Array, ids: &Array) -> Result<Outcome<'a>, Error> {
    let op = "embedding";
    let &[_, width] = table.shape() else {
        return Err(Error::Fit { op, left: table.shape().to_vec(), right: ids.shape().to_vec() });
    };
    let rows = checked_ids(op, ids, table.shape(), 0)?;
    let mut shape = ids.shape().to_vec();
    shape.push(width);
    count(&shape)?;
    Ok(Outcome::new(table.dtype(), shape, Judge::Exact, move |i| {
        element(table, rows[i / width] * width + i % width)
    }))
}

/// `a` with each element of `source` written at its id along `axis`. For repeated ids the last write stays. `ids` and
/// `source` have the same shape, with the conditions of [`gather`].
///
/// # Errors
/// As [`index_select`], and [`Error::DTypes`].
pub fn scatter<'a>(a: &'a Array, ids: &Array, source: &'a Array, axis: usize) -> Result<Outcome<'a>, Error> {
    scattered("scatter", a, ids, source, axis, Put::Replace)
}

/// As [`scatter`], but adds the elements in the order of the ids along the axis. Integers wrap. Floats up to `f32` are
/// accumulated in `f32` and rounded once, `f64` in `f64`.
///
/// # Errors
/// As [`scatter`].
pub fn scatter_add<'a>(
    a: &'a Array,
    ids: &Array,
    source: &'a Array,
    axis: usize,
) -> Result<Outcome<'a>, Error> {
    scattered("scatter_add", a, ids, source, axis, Put::Add)
}

/// `a` with the slices of `source` added at `ids`, of one dimension, along `axis`. Sums are as in [`scatter_add`].
///
/// # Errors
/// As [`scatter`].
pub fn index_add<'a>(
    a: &'a Array,
    ids: &Array,
    source: &'a Array,
    axis: usize,
) -> Result<Outcome<'a>, Error> {
    let op = "index_add";
    alike(op, a, source)?;
    let ids = list(op, ids, a, axis)?;
    let mut shape = a.shape().to_vec();
    shape[axis] = ids.len();
    if source.shape() != shape {
        return Err(Error::Fit { op, left: a.shape().to_vec(), right: source.shape().to_vec() });
    }
    let mut steps = vec![0; shape.len()];
    steps[axis] = 1;
    Ok(put(a, (ids, steps), source, axis, Put::Add))
}

/// `a` with the slices from `start` on along `axis` replaced by `source`.
///
/// # Errors
/// [`Error::Axis`], [`Error::DTypes`], [`Error::Fit`] if the shapes differ along another axis or `source` goes past the
/// end.
pub fn slice_scatter<'a>(
    a: &'a Array,
    source: &'a Array,
    axis: usize,
    start: usize,
) -> Result<Outcome<'a>, Error> {
    let op = "slice_scatter";
    alike(op, a, source)?;
    along(op, a.shape(), axis)?;
    let (dims, part) = (a.shape().to_vec(), source.shape().to_vec());
    let fits = part.len() == dims.len()
        && (0..dims.len()).all(|d| d == axis || part[d] == dims[d])
        && start.checked_add(part[axis]).is_some_and(|end| end <= dims[axis]);
    if !fits {
        return Err(Error::Fit { op, left: dims, right: part });
    }
    let (own, strides) = (dense_strides(&dims), dense_strides(&part));
    Ok(Outcome::new(a.dtype(), dims.clone(), Judge::Exact, move |i| {
        let index = |d: usize| i / own[d] % dims[d];
        match index(axis).checked_sub(start) {
            Some(slice) if slice < part[axis] => {
                let index = |d: usize| if d == axis { slice } else { index(d) };
                element(source, (0..dims.len()).map(|d| index(d) * strides[d]).sum())
            }
            _ => element(a, i),
        }
    }))
}

fn scattered<'a>(
    op: &'static str,
    a: &'a Array,
    ids: &Array,
    source: &'a Array,
    axis: usize,
    how: Put,
) -> Result<Outcome<'a>, Error> {
    alike(op, a, source)?;
    fit(op, a, ids.shape(), axis)?;
    if ids.shape() != source.shape() {
        return Err(Error::Fit { op, left: ids.shape().to_vec(), right: source.shape().to_vec() });
    }
    let steps = dense_strides(ids.shape());
    Ok(put(a, (checked_ids(op, ids, a.shape(), axis)?, steps), source, axis, how))
}

/// `a` with `source` written or added. The id of an element of `source` is at the sum of its indices times `steps`.
fn put<'a>(
    a: &'a Array,
    (ids, steps): (Vec<usize>, Vec<usize>),
    source: &'a Array,
    axis: usize,
    how: Put,
) -> Outcome<'a> {
    let (dims, part) = (a.shape().to_vec(), source.shape().to_vec());
    let (own, strides) = (dense_strides(&dims), dense_strides(&part));
    let dtype = a.dtype();
    Outcome::new(dtype, dims.clone(), Judge::Exact, move |i| {
        let index = |d: usize| i / own[d] % dims[d];
        let others = || (0..dims.len()).filter(move |d| *d != axis);
        if others().any(|d| index(d) >= part[d]) {
            return element(a, i);
        }
        let first_id: usize = others().map(|d| index(d) * steps[d]).sum();
        let first: usize = others().map(|d| index(d) * strides[d]).sum();
        let named = |j: &usize| ids[first_id + j * steps[axis]] == index(axis);
        let mut sources = (0..part[axis]).filter(named).map(|j| first + j * strides[axis]);
        match (how, &a.data, &source.data) {
            (Put::Replace, ..) => match sources.next_back() {
                Some(source_index) => element(source, source_index),
                None => element(a, i),
            },
            (Put::Add, Data::Int(x), Data::Int(y)) => {
                let sum: i128 = sources.map(|source_index| i128::from(y[source_index])).sum();
                from_int(dtype, i128::from(x[i]) + sum)
            }
            (Put::Add, Data::Float(x), Data::Float(y)) if dtype == crate::DType::F64 => {
                from_f64(sources.fold(x[i], |sum, source_index| sum + y[source_index]))
            }
            (Put::Add, Data::Float(x), Data::Float(y)) => {
                from_f32(dtype, sources.fold(x[i] as f32, |sum, source_index| sum + y[source_index] as f32))
            }
            _ => unreachable!("equal dtypes have equal representations"),
        }
    })
}

fn element(a: &Array, index: usize) -> Expected {
    Expected::exact(a.dtype(), a.bits(index))
}

fn alike(op: &'static str, left: &Array, right: &Array) -> Result<(), Error> {
    if left.dtype() == right.dtype() {
        return Ok(());
    }
    Err(Error::DTypes { op, left: left.dtype(), right: right.dtype() })
}

fn along(op: &'static str, shape: &[usize], axis: usize) -> Result<usize, Error> {
    shape.get(axis).copied().ok_or_else(|| Error::Axis { op, axis, shape: shape.to_vec() })
}

/// An error unless `ids` has the rank of `a` and is no longer than it along any axis but `axis`.
fn fit(op: &'static str, a: &Array, ids: &[usize], axis: usize) -> Result<(), Error> {
    along(op, a.shape(), axis)?;
    let shorter = |d: usize| d == axis || ids[d] <= a.shape()[d];
    if ids.len() == a.shape().len() && (0..ids.len()).all(shorter) {
        return Ok(());
    }
    Err(Error::Fit { op, left: a.shape().to_vec(), right: ids.to_vec() })
}

/// The ids, which must have one dimension, as indices.
fn list(op: &'static str, ids: &Array, a: &Array, axis: usize) -> Result<Vec<usize>, Error> {
    if ids.shape().len() != 1 {
        return Err(Error::Fit { op, left: a.shape().to_vec(), right: ids.shape().to_vec() });
    }
    checked_ids(op, ids, a.shape(), axis)
}

/// The ids as indices along an axis; an error if one is out of range.
pub(crate) fn checked_ids(
    op: &'static str,
    ids: &Array,
    shape: &[usize],
    axis: usize,
) -> Result<Vec<usize>, Error> {
    let length = along(op, shape, axis)?;
    let Data::Int(ids) = &ids.data else { return Err(Error::Ids { op, dtype: ids.dtype() }) };
    let position = |index: &i64| {
        let inside = usize::try_from(*index).ok().filter(|position| *position < length);
        inside.ok_or(Error::OutOfRange { op, index: *index, axis, length })
    };
    ids.iter().map(position).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    fn array(dtype: DType, shape: &[usize], values: &[i64]) -> Array {
        Array::from_i64(dtype, shape, values).unwrap()
    }

    fn ids(shape: &[usize], values: &[i64]) -> Array {
        array(DType::I64, shape, values)
    }

    fn numbers(outcome: Result<Outcome<'_>, Error>) -> Vec<f64> {
        outcome.unwrap().iter().map(|expected| expected.value.hi).collect()
    }

    /// [[0, 1, 2], [10, 11, 12]].
    fn matrix(dtype: DType) -> Array {
        array(dtype, &[2, 3], &[0, 1, 2, 10, 11, 12])
    }

    #[test]
    fn slices_are_selected() {
        for dtype in DType::ALL {
            let x = matrix(dtype);
            assert_eq!(numbers(index_select(&x, &ids(&[2], &[1, 1]), 0)), [10., 11., 12., 10., 11., 12.]);
            let columns = ids(&[2], &[2, 0]);
            let columns = index_select(&x, &columns, 1);
            assert_eq!(columns.as_ref().unwrap().shape(), [2, 2]);
            assert_eq!(numbers(columns), [2., 0., 12., 10.]);
        }
        let x = matrix(DType::F32);
        assert_eq!(index_select(&x, &ids(&[0], &[]), 1).unwrap().shape(), [2, 0]);
    }

    #[test]
    fn elements_are_gathered_and_rows_looked_up() {
        let x = matrix(DType::I16);
        assert_eq!(numbers(gather(&x, &ids(&[2, 2], &[2, 2, 0, 1]), 1)), [2., 2., 10., 11.]);
        assert_eq!(numbers(gather(&x, &ids(&[3, 2], &[1, 0, 0, 0, 1, 1]), 0)), [10., 1., 0., 1., 10., 11.]);
        let words = embedding(&x, &ids(&[2, 1], &[1, 0])).unwrap();
        assert_eq!(words.shape(), [2, 1, 3]);
        assert_eq!(words.at(1).value.hi, 11.0);
        assert_eq!(words.at(5).value.hi, 2.0);
    }

    #[test]
    fn the_last_of_several_scattered_elements_remains() {
        let (x, y) = (matrix(DType::U8), array(DType::U8, &[2, 2], &[1, 2, 3, 4]));
        let at = ids(&[2, 2], &[1, 1, 2, 0]);
        assert_eq!(numbers(scatter(&x, &at, &y, 1)), [0., 2., 2., 4., 11., 3.]);
        let at = ids(&[2, 2], &[1, 0, 1, 1]);
        assert_eq!(numbers(scatter(&x, &at, &y, 0)), [0., 2., 2., 3., 4., 12.]);
    }

    #[test]
    fn sums_run_in_the_order_of_the_ids() {
        let zero = array(DType::F32, &[1], &[0]);
        let at = ids(&[3], &[0, 0, 0]);
        let rising = array(DType::F32, &[3], &[1, 1, 1 << 24]);
        let falling = array(DType::F32, &[3], &[1 << 24, 1, 1]);
        assert_eq!(numbers(scatter_add(&zero, &at, &rising, 0)), [16_777_218.0]);
        assert_eq!(numbers(index_add(&zero, &at, &falling, 0)), [16_777_216.0]);
        // In f16, which cannot represent 2049, with one rounding at the end.
        let (zero, terms) = (array(DType::F16, &[1], &[0]), array(DType::F16, &[3], &[2048, 1, 1]));
        assert_eq!(numbers(index_add(&zero, &at, &terms, 0)), [2050.0]);
        let (most, ones) = (array(DType::U8, &[1], &[255]), array(DType::U8, &[3], &[1, 1, 1]));
        assert_eq!(numbers(index_add(&most, &at, &ones, 0)), [2.0]);
        let x = matrix(DType::F64);
        let columns = array(DType::F64, &[2, 2], &[1, 2, 3, 4]);
        assert_eq!(numbers(index_add(&x, &ids(&[2], &[2, 2]), &columns, 1)), [0., 1., 5., 10., 11., 19.]);
    }

    #[test]
    fn parts_are_written_over() {
        let (x, y) = (matrix(DType::I32), array(DType::I32, &[2, 1], &[7, 8]));
        assert_eq!(numbers(slice_scatter(&x, &y, 1, 1)), [0., 7., 2., 10., 8., 12.]);
        assert!(matches!(slice_scatter(&x, &y, 1, 3), Err(Error::Fit { .. })));
        assert!(matches!(slice_scatter(&x, &y, 0, 0), Err(Error::Fit { .. })));
    }

    #[test]
    fn what_has_no_answer() {
        let x = matrix(DType::F32);
        let error = index_select(&x, &ids(&[1], &[3]), 1).unwrap_err();
        assert_eq!(error, Error::OutOfRange { op: "index_select", index: 3, axis: 1, length: 3 });
        assert!(matches!(embedding(&x, &ids(&[1], &[-1])), Err(Error::OutOfRange { index: -1, .. })));
        assert!(matches!(index_select(&x, &x, 0), Err(Error::Fit { .. })));
        assert!(matches!(gather(&x, &x, 0), Err(Error::Ids { dtype: DType::F32, .. })));
        assert!(matches!(gather(&x, &ids(&[3, 1], &[0; 3]), 1), Err(Error::Fit { .. })));
        assert!(matches!(index_select(&x, &ids(&[1], &[0]), 2), Err(Error::Axis { axis: 2, .. })));
    }
}
