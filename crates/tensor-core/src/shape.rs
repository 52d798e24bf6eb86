//! Shapes: the lengths of a tensor's dimensions, stored inline up to rank 8.

use std::fmt;
use std::ops::Deref;

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result};

/// One number per dimension, stored inline up to rank 8. Any rank works.
pub(crate) type Dims = SmallVec<[usize; INLINE]>;

/// The largest rank that needs no allocation.
const INLINE: usize = 8;

/// The lengths of a tensor's dimensions, outermost first. A scalar has none.
///
/// It is made from a number, an array, a slice, a vector, a tuple or `()`, and dereferences to a slice.
///
/// ```
/// use tensor_core::Shape;
///
/// let shape = Shape::from([2, 3, 4]);
/// assert_eq!(shape.rank(), 3);
/// assert_eq!(shape[1], 3);
/// assert_eq!(shape.elements("example").unwrap(), 24);
/// assert_eq!(shape.to_string(), "[2, 3, 4]");
/// assert_eq!(shape, Shape::from((2, 3, 4)));
/// ```
#[derive(PartialEq, Eq, Hash, Default)]
pub struct Shape(Dims);

impl Clone for Shape {
    fn clone(&self) -> Shape {
        // Copies the memory; the derived implementation copies number by number.
        Shape(Dims::from_slice(&self.0))
    }
}

impl Shape {
    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The lengths, outermost first.
    pub fn dims(&self) -> &[usize] {
        &self.0
    }

    /// The number of elements: the product of the lengths, 1 for a scalar.
    ///
    /// A shape with a zero has no elements, however large its other lengths are.
    ///
    /// # Errors
    /// [`ErrorKind::Overflow`] of `operation` if the product does not fit `usize`.
    pub fn elements(&self, operation: &'static str) -> Result<usize> {
        self.count().ok_or_else(|| Error::new(operation, ErrorKind::Overflow { shape: self.clone() }))
    }

    /// The common broadcast shape: dimensions are aligned at the end, and a length of 1 matches any length. `None` if
    /// the shapes do not broadcast.
    ///
    /// ```
    /// use tensor_core::Shape;
    ///
    /// let broadcast = Shape::from([2, 1, 4]).broadcast(&Shape::from([3, 1]));
    /// assert_eq!(broadcast, Some(Shape::from([2, 3, 4])));
    /// assert_eq!(Shape::from([2]).broadcast(&Shape::from([3])), None);
    /// ```
    pub fn broadcast(&self, other: &Shape) -> Option<Shape> {
        let rank = self.rank().max(other.rank());
        let length = |shape: &Shape, axis: usize| match (axis + shape.rank()).checked_sub(rank) {
            Some(axis) => shape[axis],
            None => 1,
        };
        (0..rank)
            .map(|axis| match (length(self, axis), length(other, axis)) {
                (a, b) if a == b => Some(a),
                (1, b) => Some(b),
                (a, 1) => Some(a),
                _ => None,
            })
            .collect()
    }

    /// The strides, in elements, of a contiguous row-major array of this shape.
    pub(crate) fn row_major_strides(&self) -> Dims {
        let lengths = self.dims();
        let fill = |strides: &mut [usize]| {
            let mut stride = 1usize;
            for (slot, &length) in strides.iter_mut().zip(lengths).rev() {
                *slot = stride;
                // Saturates only in a shape with a zero, whose strides are never used.
                stride = stride.saturating_mul(length);
            }
        };
        let mut few = [0; INLINE];
        if let Some(strides) = few.get_mut(..lengths.len()) {
            fill(strides);
            return Dims::from_buf_and_len(few, lengths.len());
        }
        let mut strides = Dims::from_elem(0, lengths.len());
        fill(&mut strides);
        strides
    }

    /// A copy of the shape, and its [`Self::row_major_strides`].
    #[inline]
    pub(crate) fn with_row_major_strides(&self) -> (Shape, Dims) {
        let rank = self.rank();
        let (mut lengths, mut strides) = ([0; INLINE], [0; INLINE]);
        let (Some(own), Some(slots)) = (lengths.get_mut(..rank), strides.get_mut(..rank)) else {
            return (self.clone(), self.row_major_strides());
        };
        // One loop for both, instead of a copy and a second loop.
        let mut stride = 1usize;
        for ((&length, own), slot) in self.dims().iter().zip(own).zip(slots).rev() {
            (*own, *slot) = (length, stride);
            stride = stride.saturating_mul(length);
        }
        (Shape(Dims::from_buf_and_len(lengths, rank)), Dims::from_buf_and_len(strides, rank))
    }

    /// The lengths, mutably.
    pub(crate) fn dims_mut(&mut self) -> &mut Dims {
        &mut self.0
    }

    /// The product of the lengths; `None` if it overflows. With a zero it is 0, even if the others overflow.
    pub(crate) fn count(&self) -> Option<usize> {
        let product = self.0.iter().try_fold(1usize, |product, &length| product.checked_mul(length));
        product.or_else(|| self.0.contains(&0).then_some(0))
    }

    /// The number of elements in words, for messages.
    pub(crate) fn count_text(&self) -> String {
        self.count().map_or_else(|| "more than 2^64".to_owned(), |count| count.to_string())
    }
}

impl Deref for Shape {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.dims())
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(lengths: I) -> Shape {
        Shape(lengths.into_iter().collect())
    }
}

impl From<usize> for Shape {
    fn from(length: usize) -> Shape {
        Shape::from([length])
    }
}

impl From<&[usize]> for Shape {
    fn from(lengths: &[usize]) -> Shape {
        Shape(Dims::from_slice(lengths))
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(lengths: [usize; N]) -> Shape {
        Shape::from(&lengths[..])
    }
}

impl<const N: usize> From<&[usize; N]> for Shape {
    fn from(lengths: &[usize; N]) -> Shape {
        Shape::from(&lengths[..])
    }
}

impl From<Vec<usize>> for Shape {
    fn from(lengths: Vec<usize>) -> Shape {
        Shape::from(&lengths[..])
    }
}

impl From<&Vec<usize>> for Shape {
    fn from(lengths: &Vec<usize>) -> Shape {
        Shape::from(&lengths[..])
    }
}

impl From<&Shape> for Shape {
    fn from(shape: &Shape) -> Shape {
        shape.clone()
    }
}

impl From<()> for Shape {
    fn from((): ()) -> Shape {
        Shape::default()
    }
}

macro_rules! from_tuple {
    ($($name:ident: $type:ident),+) => {
        impl From<($($type,)+)> for Shape {
            fn from(($($name,)+): ($($type,)+)) -> Shape {
                Shape::from([$($name),+])
            }
        }
    };
}

from_tuple!(a: usize);
from_tuple!(a: usize, b: usize);
from_tuple!(a: usize, b: usize, c: usize);
from_tuple!(a: usize, b: usize, c: usize, d: usize);
from_tuple!(a: usize, b: usize, c: usize, d: usize, e: usize);
from_tuple!(a: usize, b: usize, c: usize, d: usize, e: usize, f: usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_checked() {
        let huge = Shape::from([1 << 40, 1 << 40]);
        assert_eq!(
            huge.elements("zeros").unwrap_err().to_string(),
            "zeros: [1099511627776, 1099511627776] is too large: its size does not fit the 64-bit address space"
        );
        assert_eq!(Shape::from([1 << 40, 1 << 40, 0]).count(), Some(0));
        assert_eq!(Shape::from(()).count(), Some(1));
    }

    #[test]
    fn broadcasting_follows_pytorch() {
        type Case = (&'static [usize], &'static [usize], Option<&'static [usize]>);
        let cases: [Case; 7] = [
            (&[], &[], Some(&[])),
            (&[], &[2, 3], Some(&[2, 3])),
            (&[3, 1], &[1, 4], Some(&[3, 4])),
            (&[0], &[1], Some(&[0])),
            (&[5, 0], &[1, 1], Some(&[5, 0])),
            (&[0], &[2], None),
            (&[2, 3], &[3, 2], None),
        ];
        for (a, b, expected) in cases {
            assert_eq!(Shape::from(a).broadcast(&Shape::from(b)), expected.map(Shape::from));
            assert_eq!(Shape::from(b).broadcast(&Shape::from(a)), expected.map(Shape::from));
        }
    }

    #[test]
    fn any_rank_works() {
        for rank in 0..=12 {
            let shape: Shape = (1..=rank).collect();
            assert_eq!(shape.with_row_major_strides(), (shape.clone(), shape.row_major_strides()));
        }
        let lengths: Vec<usize> = (1..=12).collect();
        let shape = Shape::from(&lengths);
        assert_eq!(shape.rank(), 12);
        assert_eq!(shape.count(), Some(479_001_600));
        assert_eq!(shape.row_major_strides()[0], 479_001_600);
    }
}
