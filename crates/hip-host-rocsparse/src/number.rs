//! The types that operations compute in.

use num_complex::Complex;
use std::ops::{Add, Div, Mul, Sub};

pub(crate) trait Number:
    Copy
    + PartialEq
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;
    fn conjugate(self) -> Self;

    /// The product with a factor. A factor of zero gives zero, even for infinities and NaN.
    fn scaled(self, factor: Self) -> Self {
        if factor == Self::ZERO { Self::ZERO } else { factor * self }
    }
}

macro_rules! real {
    ($($T:ident)*) => {$(
        impl Number for $T {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            fn conjugate(self) -> Self {
                self
            }
        }
        impl Number for Complex<$T> {
            const ZERO: Self = Self::new(0.0, 0.0);
            const ONE: Self = Self::new(1.0, 0.0);
            fn conjugate(self) -> Self {
                self.conj()
            }
        }
    )*};
}

real! { f32 f64 }

/// Calls a function of a type of numbers with the type that a descriptor has.
macro_rules! by_scalar {
    ($scalar:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $scalar {
            hip_sys::provider::sparse::Scalar::F32 => $function::<f32>($($argument),*),
            hip_sys::provider::sparse::Scalar::F64 => $function::<f64>($($argument),*),
            hip_sys::provider::sparse::Scalar::C32 => $function::<num_complex::Complex<f32>>($($argument),*),
            hip_sys::provider::sparse::Scalar::C64 => $function::<num_complex::Complex<f64>>($($argument),*),
        }
    };
}
pub(crate) use by_scalar;
