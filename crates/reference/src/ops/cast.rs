//! Casting, copying, filling: results that are moved or converted, not computed.

use crate::shape::count;
use crate::{Array, DType, Error, Expected, Judge, Outcome, Value};

/// Each element in another dtype, as [`DType::encode`] converts it: one rounding to nearest even, `f8e4m3`
/// saturates; float to integer truncates and saturates, NaN becomes 0; integers wrap.
pub fn cast(a: &Array, to: DType) -> Outcome<'_> {
    Outcome::new(to, a.shape().to_vec(), Judge::Exact, move |i| Expected::exact(to, to.encode(a.get(i))))
}

/// The elements as they are. For copies of views, make the view with [`Array::strided`], [`Array::permute`],
/// [`Array::narrow`] or [`Array::broadcast_to`] first; for copies into views, use [`Array::write_strided`].
pub fn copy(a: &Array) -> Outcome<'_> {
    cast(a, a.dtype())
}

/// An array of one value, rounded once into the dtype. For filling a view (const_set), use
/// [`Array::set_strided`] and [`copy`].
///
/// # Errors
/// [`Error::TooLarge`].
pub fn fill(dtype: DType, shape: &[usize], value: impl Into<Value>) -> Result<Outcome<'static>, Error> {
    count(shape)?;
    let element = Expected::exact(dtype, dtype.encode(value.into()));
    Ok(Outcome::new(dtype, shape.to_vec(), Judge::Exact, move |_| element))
}
