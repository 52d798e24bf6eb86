//! Shapes with one length left open, as `reshape` takes them.

use crate::error::{Error, ErrorKind, Result};
use crate::shape::Shape;

/// The shape that [`Tensor::reshape`](crate::Tensor::reshape) gives a tensor: anything that a [`Shape`] is made from, or a
/// tuple with `()` for one length. That length follows from the number of elements.
///
/// ```
/// use tensor_core::{Device, Tensor};
///
/// # fn main() -> tensor_core::Result<()> {
/// let x = Tensor::arange(0f32, 24.0, &Device::Cpu)?;
/// assert_eq!(x.reshape((2, (), 4))?.dims(), [2, 3, 4]);
/// assert_eq!(x.reshape(((), 6))?.dims(), [4, 6]);
/// # Ok(())
/// # }
/// ```
pub trait ShapeWithHole {
    /// The shape for a tensor of `elements` elements.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] of `operation` if no length fits for `()`, or every length does.
    fn into_shape(self, elements: usize, operation: &'static str) -> Result<Shape>;
}

impl<S: Into<Shape>> ShapeWithHole for S {
    fn into_shape(self, _: usize, _: &'static str) -> Result<Shape> {
        Ok(self.into())
    }
}

/// The shape of `elements` elements with these lengths around a hole.
fn filled(before: &[usize], after: &[usize], elements: usize, operation: &'static str) -> Result<Shape> {
    let known: Shape = before.iter().chain(after).copied().collect();
    let missing = known.count().and_then(|count| Some((elements.checked_div(count)?, count)));
    match missing {
        Some((missing, count)) if missing * count == elements => {
            Ok(before.iter().copied().chain([missing]).chain(after.iter().copied()).collect())
        }
        _ => {
            let text =
                |lengths: &[usize]| lengths.iter().map(|length| format!("{length}, ")).collect::<String>();
            let shape = format!("[{}(), {}", text(before), text(after));
            let shape = shape.trim_end_matches(", ");
            let what = format!("no single length in place of () gives {shape}] {elements} elements");
            Err(Error::new(operation, ErrorKind::Argument { what }))
        }
    }
}

macro_rules! holes {
    ($(($($before:ident)*; $($after:ident)*))+) => {
        $(impl ShapeWithHole for ($(length!($before),)* (), $(length!($after),)*) {
            fn into_shape(self, elements: usize, operation: &'static str) -> Result<Shape> {
                let ($($before,)* (), $($after,)*) = self;
                filled(&[$($before),*], &[$($after),*], elements, operation)
            }
        })+
    };
}

macro_rules! length {
    ($name:ident) => {
        usize
    };
}

holes! {
    (;)
    (; a) (a;)
    (; a b) (a; b) (a b;)
    (; a b c) (a; b c) (a b; c) (a b c;)
    (; a b c d) (a; b c d) (a b; c d) (a b c; d) (a b c d;)
    (; a b c d e) (a; b c d e) (a b; c d e) (a b c; d e) (a b c d; e) (a b c d e;)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_missing_length_follows_from_the_others() {
        let shape = |shape: Result<Shape>| shape.unwrap().to_vec();
        assert_eq!(shape(((),).into_shape(7, "reshape")), [7]);
        assert_eq!(shape(((), 2).into_shape(6, "reshape")), [3, 2]);
        assert_eq!(shape((2, ()).into_shape(6, "reshape")), [2, 3]);
        assert_eq!(shape((2, (), 5, 1).into_shape(30, "reshape")), [2, 3, 5, 1]);
        assert_eq!(shape((1, 2, 3, 4, 5, ()).into_shape(720, "reshape")), [1, 2, 3, 4, 5, 6]);
        assert_eq!(shape((4, ()).into_shape(0, "reshape")), [4, 0]);
        assert_eq!(shape((2, 3).into_shape(7, "reshape")), [2, 3]);
    }

    #[test]
    fn no_length_fits_or_all_do() {
        let message = |shape: Result<Shape>| shape.unwrap_err().to_string();
        let expected = "reshape: no single length in place of () gives [5, ()] 12 elements";
        assert_eq!(message((5, ()).into_shape(12, "reshape")), expected);
        let expected = "reshape: no single length in place of () gives [(), 0, 2] 0 elements";
        assert_eq!(message(((), 0, 2).into_shape(0, "reshape")), expected);
        assert!(((), usize::MAX, 2).into_shape(4, "reshape").is_err());
    }
}
