//! Dense row-major arrays, and strided views of them.

use crate::shape::{broadcast_shapes, broadcast_strides, count, dense_strides};
use crate::{DType, Error, Value};

/// A dense row-major array of one dtype. Elements are stored as numbers, so that NaN payloads are lost.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    dtype: DType,
    shape: Vec<usize>,
    pub(crate) data: Data,
}

/// The elements. Every integer dtype fits `i64`, every float dtype fits `f64`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    Int(Vec<i64>),
    Float(Vec<f64>),
}

impl Array {
    /// An array from the bytes of its elements: little-endian, dense, row-major.
    pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Array, Error> {
        let len = count(shape)?;
        if len.checked_mul(dtype.size()) != Some(bytes.len()) {
            let expected = len.saturating_mul(dtype.size());
            let (shape, got) = (shape.to_vec(), bytes.len());
            return Err(Error::Length { dtype, shape, unit: "bytes", expected, got });
        }
        let bits = bytes
            .chunks_exact(dtype.size())
            .map(|element| element.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)));
        Ok(Array::collect(dtype, shape, bits.map(|bits| dtype.decode(bits))))
    }

    /// An array from values, each rounded to the dtype as by [`DType::encode`].
    pub fn from_values(dtype: DType, shape: &[usize], values: &[Value]) -> Result<Array, Error> {
        let expected = count(shape)?;
        if expected != values.len() {
            let (shape, got) = (shape.to_vec(), values.len());
            return Err(Error::Length { dtype, shape, unit: "values", expected, got });
        }
        Ok(Array::collect(dtype, shape, values.iter().map(|value| value.round_to(dtype))))
    }

    /// An array from floating point values, each rounded to the dtype.
    pub fn from_f64(dtype: DType, shape: &[usize], values: &[f64]) -> Result<Array, Error> {
        Array::from_values(dtype, shape, &values.iter().map(|x| Value::Float(*x)).collect::<Vec<_>>())
    }

    /// An array from integers, each rounded to the dtype.
    pub fn from_i64(dtype: DType, shape: &[usize], values: &[i64]) -> Result<Array, Error> {
        Array::from_values(dtype, shape, &values.iter().map(|i| Value::from(*i)).collect::<Vec<_>>())
    }

    fn collect(dtype: DType, shape: &[usize], values: impl Iterator<Item = Value>) -> Array {
        let data = if dtype.is_int() {
            Data::Int(values.map(|value| if let Value::Int(i) = value { i as i64 } else { 0 }).collect())
        } else {
            Data::Float(values.map(|value| if let Value::Float(x) = value { x } else { 0.0 }).collect())
        };
        Array { dtype, shape: shape.to_vec(), data }
    }

    /// The elements' dtype.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match &self.data {
            Data::Int(values) => values.len(),
            Data::Float(values) => values.len(),
        }
    }

    /// Whether the array is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at a row-major index. Panics if the index is out of range.
    pub fn get(&self, index: usize) -> Value {
        match &self.data {
            Data::Int(values) => Value::Int(values[index].into()),
            Data::Float(values) => Value::Float(values[index]),
        }
    }

    /// The bit pattern of the element at a row-major index. All NaN have the dtype's canonical pattern. Panics if the
    /// index is out of range.
    pub fn bits(&self, index: usize) -> u64 {
        self.dtype.encode(self.get(index))
    }

    /// The array with another shape of the same element count.
    pub fn reshape(mut self, shape: &[usize]) -> Result<Array, Error> {
        let (dtype, expected, got) = (self.dtype, count(shape)?, self.len());
        if expected != got {
            return Err(Error::Length { dtype, shape: shape.to_vec(), unit: "values", expected, got });
        }
        self.shape = shape.to_vec();
        Ok(self)
    }

    /// The elements `offset + Σ index·stride` of the flat array, as a new dense array of shape `dims`. Strides are in
    /// elements, and may be zero (broadcast) or negative (flip).
    pub fn strided(&self, offset: usize, dims: &[usize], strides: &[isize]) -> Result<Array, Error> {
        let mut offsets = Vec::with_capacity(count(dims)?);
        self.visit(offset, dims, strides, |index| offsets.push(index))?;
        let data = match &self.data {
            Data::Int(values) => Data::Int(offsets.into_iter().map(|index| values[index]).collect()),
            Data::Float(values) => Data::Float(offsets.into_iter().map(|index| values[index]).collect()),
        };
        Ok(Array { dtype: self.dtype, shape: dims.to_vec(), data })
    }

    /// Writes `value`, rounded to the dtype, to the elements that [`Array::strided`] reads: `const_set`.
    pub fn set_strided(
        &mut self,
        offset: usize,
        dims: &[usize],
        strides: &[isize],
        value: Value,
    ) -> Result<(), Error> {
        let source = Array::from_values(self.dtype, &[], &[value])?.broadcast_to(dims)?;
        self.write_strided(offset, dims, strides, &source)
    }

    /// Writes the elements of `source` (same dtype, shape `dims`), in row-major order, to the elements that
    /// [`Array::strided`] reads: a copy into a view.
    pub fn write_strided(
        &mut self,
        offset: usize,
        dims: &[usize],
        strides: &[isize],
        source: &Array,
    ) -> Result<(), Error> {
        if source.dtype != self.dtype {
            return Err(Error::DTypes { op: "write_strided", left: self.dtype, right: source.dtype });
        }
        if source.shape != dims {
            let (left, right) = (dims.to_vec(), source.shape.clone());
            return Err(Error::Broadcast { op: "write_strided", left, right });
        }
        let mut offsets = Vec::with_capacity(count(dims)?);
        self.visit(offset, dims, strides, |offset| offsets.push(offset))?;
        match (&mut self.data, &source.data) {
            (Data::Int(to), Data::Int(from)) => offsets.into_iter().zip(from).for_each(|(i, x)| to[i] = *x),
            (Data::Float(to), Data::Float(from)) => {
                offsets.into_iter().zip(from).for_each(|(i, x)| to[i] = *x)
            }
            _ => unreachable!("equal dtypes have equal representations"),
        }
        Ok(())
    }

    /// Permutes the dimensions: dimension `i` of the result is dimension `axes[i]` of this array.
    pub fn permute(&self, axes: &[usize]) -> Result<Array, Error> {
        let mut seen = vec![false; self.shape.len()];
        for axis in axes {
            match seen.get_mut(*axis) {
                Some(used) if !*used => *used = true,
                _ => return Err(Error::Axis { op: "permute", axis: *axis, shape: self.shape.clone() }),
            }
        }
        if axes.len() != self.shape.len() {
            return Err(Error::Axis { op: "permute", axis: axes.len(), shape: self.shape.clone() });
        }
        let own = dense_strides(&self.shape);
        let dims: Vec<usize> = axes.iter().map(|axis| self.shape[*axis]).collect();
        let strides: Vec<isize> = axes.iter().map(|axis| own[*axis] as isize).collect();
        self.strided(0, &dims, &strides)
    }

    /// `len` elements along `axis`, from `start` on.
    pub fn narrow(&self, axis: usize, start: usize, len: usize) -> Result<Array, Error> {
        let Some(size) = self.shape.get(axis) else {
            return Err(Error::Axis { op: "narrow", axis, shape: self.shape.clone() });
        };
        let own = dense_strides(&self.shape);
        let strides: Vec<isize> = own.iter().map(|stride| *stride as isize).collect();
        let mut dims = self.shape.clone();
        dims[axis] = len;
        if start.checked_add(len).is_none_or(|end| end > *size) {
            let (offset, len) = (start.saturating_mul(own[axis]), self.len());
            return Err(Error::View { dims, strides, offset, len });
        }
        self.strided(start * own[axis], &dims, &strides)
    }

    /// The array broadcast to a shape.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Array, Error> {
        if broadcast_shapes("broadcast_to", &self.shape, shape)? != shape {
            let (left, right) = (self.shape.clone(), shape.to_vec());
            return Err(Error::Broadcast { op: "broadcast_to", left, right });
        }
        let strides: Vec<isize> = broadcast_strides(&self.shape, shape).iter().map(|s| *s as isize).collect();
        self.strided(0, shape, &strides)
    }

    /// Calls `f` with the position of every element of a view, in row-major order. An error if the view leaves the
    /// array.
    fn visit(
        &self,
        offset: usize,
        dims: &[usize],
        strides: &[isize],
        mut f: impl FnMut(usize),
    ) -> Result<(), Error> {
        let len = self.len();
        let outside = || Error::View { dims: dims.to_vec(), strides: strides.to_vec(), offset, len };
        if dims.len() != strides.len() {
            return Err(outside());
        }
        let total = count(dims)?;
        if total == 0 {
            return Ok(());
        }
        let (mut low, mut high) = (offset as i128, offset as i128);
        for (dim, stride) in dims.iter().zip(strides) {
            let reach = (*dim as i128 - 1) * *stride as i128;
            *(if reach < 0 { &mut low } else { &mut high }) += reach;
        }
        if low < 0 || high >= len as i128 {
            return Err(outside());
        }
        let mut index = vec![0; dims.len()];
        let mut position = offset as isize;
        for _ in 0..total {
            f(position as usize);
            for axis in (0..dims.len()).rev() {
                index[axis] += 1;
                position += strides[axis];
                if index[axis] < dims[axis] {
                    break;
                }
                position -= strides[axis] * dims[axis] as isize;
                index[axis] = 0;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iota(shape: &[usize]) -> Array {
        let len = shape.iter().product::<usize>() as i64;
        Array::from_i64(DType::I32, shape, &(0..len).collect::<Vec<_>>()).expect("the length is the shape's")
    }

    fn ints(array: &Array) -> Vec<i64> {
        (0..array.len()).map(|i| if let Value::Int(i) = array.get(i) { i as i64 } else { panic!() }).collect()
    }

    #[test]
    fn views_take_the_right_elements() {
        let a = iota(&[2, 3]);
        assert_eq!(ints(&a.permute(&[1, 0]).unwrap()), [0, 3, 1, 4, 2, 5]);
        assert_eq!(ints(&a.narrow(1, 1, 2).unwrap()), [1, 2, 4, 5]);
        assert_eq!(ints(&a.narrow(0, 1, 1).unwrap()), [3, 4, 5]);
        assert_eq!(
            ints(&iota(&[2, 1]).broadcast_to(&[2, 2, 3]).unwrap()),
            [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1]
        );
        assert_eq!(ints(&a.strided(5, &[2, 2], &[-3, -2]).unwrap()), [5, 3, 2, 0]);
        assert_eq!(a.strided(99, &[0, 2], &[1, 1]).unwrap().len(), 0);
    }

    #[test]
    fn writes_reach_only_the_view() {
        let mut a = iota(&[2, 3]);
        a.set_strided(1, &[2], &[3], Value::Float(7.9)).unwrap();
        assert_eq!(ints(&a), [0, 7, 2, 3, 7, 5]);
        a.write_strided(0, &[3], &[2], &iota(&[3])).unwrap();
        assert_eq!(ints(&a), [0, 7, 1, 3, 2, 5]);
    }

    #[test]
    fn mismatched_sizes_are_errors() {
        assert!(matches!(
            Array::from_bytes(DType::F16, &[3], &[0; 5]),
            Err(Error::Length { expected: 6, got: 5, .. })
        ));
        assert!(matches!(iota(&[4]).strided(1, &[4], &[1]), Err(Error::View { .. })));
        assert!(matches!(iota(&[4]).strided(1, &[3], &[-1]), Err(Error::View { .. })));
        assert!(matches!(iota(&[4]).narrow(0, 3, 2), Err(Error::View { .. })));
        assert!(matches!(iota(&[2, 2]).permute(&[0, 0]), Err(Error::Axis { axis: 0, .. })));
        assert!(matches!(iota(&[3]).broadcast_to(&[2]), Err(Error::Broadcast { .. })));
    }

    #[test]
    fn bytes_are_little_endian() {
        let a = Array::from_bytes(DType::I16, &[2], &[0x34, 0x12, 0xff, 0xff]).unwrap();
        assert_eq!(ints(&a), [0x1234, -1]);
        assert_eq!(a.bits(1), 0xffff);
        let f = Array::from_bytes(DType::F16, &[1], &[0x00, 0x3c]).unwrap();
        assert_eq!((f.get(0), f.bits(0)), (Value::Float(1.0), 0x3c00));
    }
}
