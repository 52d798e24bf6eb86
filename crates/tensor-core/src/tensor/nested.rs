//! Nested arrays and vectors as the contents of a tensor.

use half::{bf16, f16};

use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::float8::F8E4M3;
use crate::shape::Shape;

/// A number, or an array, slice or vector of them, nested to any depth. An argument of [`crate::Tensor::new`].
pub trait Nested {
    /// The numbers inside.
    type Item: Element;

    /// The lengths, outermost first.
    ///
    /// # Errors
    /// [`ErrorKind::Ragged`] if two rows differ in shape.
    fn shape(&self) -> Result<Shape>;

    /// The shape if it holds no elements: the lengths fixed by the type, and 0 elsewhere.
    fn empty_shape() -> Shape;

    /// Appends the numbers in row-major order.
    fn append_to(&self, elements: &mut Vec<Self::Item>);
}

macro_rules! scalars {
    ($($type:ty),+) => {
        $(impl Nested for $type {
            type Item = $type;

            fn shape(&self) -> Result<Shape> {
                Ok(Shape::default())
            }

            fn empty_shape() -> Shape {
                Shape::default()
            }

            fn append_to(&self, elements: &mut Vec<$type>) {
                elements.push(*self);
            }
        })+
    };
}

scalars!(u8, u32, i16, i32, i64, F8E4M3, bf16, f16, f32, f64);

impl<A: Nested> Nested for [A] {
    type Item = A::Item;

    fn shape(&self) -> Result<Shape> {
        let mut shape = match self.first() {
            Some(first) => first.shape()?,
            None => A::empty_shape(),
        };
        for row in self {
            let other = row.shape()?;
            if other != shape {
                return Err(Error::new("new", ErrorKind::Ragged { first: shape, other }));
            }
        }
        shape.dims_mut().insert(0, self.len());
        Ok(shape)
    }

    fn empty_shape() -> Shape {
        prepend(0, A::empty_shape())
    }

    fn append_to(&self, elements: &mut Vec<A::Item>) {
        self.iter().for_each(|row| row.append_to(elements));
    }
}

impl<A: Nested, const N: usize> Nested for [A; N] {
    type Item = A::Item;

    fn shape(&self) -> Result<Shape> {
        self[..].shape()
    }

    fn empty_shape() -> Shape {
        prepend(N, A::empty_shape())
    }

    fn append_to(&self, elements: &mut Vec<A::Item>) {
        self[..].append_to(elements);
    }
}

impl<A: Nested> Nested for Vec<A> {
    type Item = A::Item;

    fn shape(&self) -> Result<Shape> {
        self[..].shape()
    }

    fn empty_shape() -> Shape {
        prepend(0, A::empty_shape())
    }

    fn append_to(&self, elements: &mut Vec<A::Item>) {
        self[..].append_to(elements);
    }
}

impl<A: Nested + ?Sized> Nested for &A {
    type Item = A::Item;

    fn shape(&self) -> Result<Shape> {
        (**self).shape()
    }

    fn empty_shape() -> Shape {
        A::empty_shape()
    }

    fn append_to(&self, elements: &mut Vec<A::Item>) {
        (**self).append_to(elements);
    }
}

/// `shape` with a further dimension in front.
fn prepend(length: usize, mut shape: Shape) -> Shape {
    shape.dims_mut().insert(0, length);
    shape
}
