//! The types of numbers that are transformed.

use half::f16;
use hip_safe::DeviceRepr;
use hip_sys::rocfft::rocfft_precision;
use num_complex::Complex;

/// A type of real numbers: `f32`, `f64`, and `f16` where the library has it (rocFFT since ROCm 5.6).
pub trait Real: DeviceRepr + sealed::Sealed
where
    Complex<Self>: DeviceRepr,
{
    #[doc(hidden)]
    const PRECISION: rocfft_precision;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! real {
    ($($T:ty, $precision:ident;)*) => {$(
        impl sealed::Sealed for $T {}
        impl Real for $T {
            const PRECISION: rocfft_precision = rocfft_precision::$precision;
        }
    )*};
}

real! {
    f16, rocfft_precision_half;
    f32, rocfft_precision_single;
    f64, rocfft_precision_double;
}
