//! Conversions between C's numbers and ours.

use crate::raw::Failure;
use crate::{Error, Result};
use std::ffi::{c_int, c_void};

/// The largest size that the library supports.
pub(crate) const MOST: usize = i32::MAX as usize;

/// A size as C's `int`.
pub(crate) fn int(what: &'static str, value: usize) -> Result<c_int> {
    c_int::try_from(value).map_err(|_| Error::TooLarge { what, value, limit: MOST })
}

/// Several sizes as C's `int`.
pub(crate) fn ints(what: &'static str, values: &[usize]) -> Result<Vec<c_int>> {
    values.iter().map(|value| int(what, *value)).collect()
}

/// Returns what a call writes through its out-pointer.
pub(crate) fn out<T: Default>(call: impl FnOnce(*mut T) -> Result<(), Failure>) -> Result<T, Failure> {
    let mut value = T::default();
    call(&mut value)?;
    Ok(value)
}

/// The product of lengths, if the library supports a size that large.
pub(crate) fn product(what: &'static str, lengths: &[usize]) -> Result<usize> {
    let product = lengths.iter().try_fold(1_usize, |product, length| product.checked_mul(*length));
    match product {
        Some(value) if value <= MOST => Ok(value),
        value => Err(Error::TooLarge { what, value: value.unwrap_or(usize::MAX), limit: MOST }),
    }
}

/// How a result is combined with the old output: `alpha · result + beta · output`. The output is not read if `beta` is 0.
///
/// Only some functions of MIOpen accept values other than 1 and 0; the others return an error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Blend {
    /// Factor of the result.
    pub alpha: f32,
    /// Factor of the old output.
    pub beta: f32,
}

impl Default for Blend {
    fn default() -> Self {
        Self::SET
    }
}

impl Blend {
    /// The result replaces the output.
    pub const SET: Self = Self { alpha: 1.0, beta: 0.0 };
    /// The result is added to the output.
    pub const ADD: Self = Self { alpha: 1.0, beta: 1.0 };
}

/// A number on the host that a call reads.
pub(crate) fn host(value: &f32) -> *const c_void {
    std::ptr::from_ref(value).cast()
}

/// Converts an enum of ours to C's newtype.
macro_rules! c_enum {
    ($(#[$outer:meta])* $name:ident = $raw:ident { $($(#[$inner:meta])* $variant:ident = $value:expr,)* }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$inner])* $variant,)*
        }

        impl $name {
            pub(crate) fn raw(self) -> hip_sys::miopen::$raw {
                match self {
                    $(Self::$variant => $value,)*
                }
            }
        }
    };
}

pub(crate) use c_enum;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_32_bits_are_refused() {
        assert_eq!(int("x", MOST).ok(), Some(i32::MAX));
        assert!(matches!(int("x", MOST + 1), Err(Error::TooLarge { what: "x", .. })));
        assert_eq!(product("x", &[3, 4]).ok(), Some(12));
        assert!(product("x", &[1 << 16, 1 << 15]).is_err());
        assert!(matches!(product("x", &[usize::MAX, 2]), Err(Error::TooLarge { value: usize::MAX, .. })));
    }
}
