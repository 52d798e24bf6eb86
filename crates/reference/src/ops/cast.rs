//! Casting, copying and filling, which compute nothing.

use crate::shape::count;
use crate::{Array, DType, Error, Expected, Judge, Outcome, Value};

/// Converts each element to another dtype, as [`DType::encode`]: to floats with one rounding to nearest even, where
/// `f8e4m3` saturates; from float to integer by truncation with saturation, where NaN becomes 0; between integers by
/// wrapping.
pub fn cast(a: &Array, to: DType) -> Outcome<'_> {
    Outcome::new(to, a.shape().to_vec(), Judge::Exact, move |i| Expected::exact(to, to.encode(a.get(i))))
}

/// The unchanged elements. To copy views, first make the view with [`Array::strided`], [`Array::permute`],
/// [`Array::narrow`] or [`Array::broadcast_to`]. To copy into views, use [`Array::write_strided`].
pub fn copy(a: &Array) -> Outcome<'_> {
    cast(a, a.dtype())
}

/// An array filled with one value, rounded once to the dtype. To fill a view (const_set), use [`Array::set_strided`]
/// and [`copy`].
///
/// # Errors
/// [`Error::TooLarge`].
pub fn fill(dtype: DType, shape: &[usize], value: impl Into<Value>) -> Result<Outcome<'static>, Error> {
    count(shape)?;
    let element = Expected::exact(dtype, dtype.encode(value.into()));
    Ok(Outcome::new(dtype, shape.to_vec(), Judge::Exact, move |_| element))
}
