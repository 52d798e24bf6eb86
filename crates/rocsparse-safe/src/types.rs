//! The types of indices and of numbers.

use crate::Complex;
use crate::raw::Api;
use crate::raw::{self, Transposed};
use hip_safe::AnyBits;
use hip_sys::rocsparse::{
    rocsparse_datatype, rocsparse_double_complex, rocsparse_float_complex, rocsparse_indextype,
};
use std::fmt::{Debug, Display};

/// A type of indices: `i32` or `i64`. It bounds the rows, the columns and the stored entries of a matrix.
pub trait Index: AnyBits + Ord + Debug + Display + sealed::Sealed {
    #[doc(hidden)]
    const TYPE: rocsparse_indextype;
    /// Its name.
    const NAME: &'static str;
    /// Its greatest value.
    const MOST: usize;
    /// What ends a row in ELL: −1.
    const PADDING: Self;
    /// The index as a size; `None` if it is negative.
    fn to_size(self) -> Option<usize>;
    /// The index as a number.
    fn to_i64(self) -> i64;
    /// A size as an index; `None` beyond the greatest value.
    fn of_size(size: usize) -> Option<Self>;
}

/// A type of numbers: `f32`, `f64`, and complex numbers of both.
pub trait Scalar: AnyBits + PartialEq + Debug + sealed::Sealed {
    #[doc(hidden)]
    const TYPE: rocsparse_datatype;
    #[doc(hidden)]
    const COMPLEX: bool;
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "no other crate can call it")]
    /// # Safety
    /// As `rocsparse_scsr2csc`.
    unsafe fn transpose(api: Api<'_>, of: &Transposed) -> raw::Result;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! index {
    ($($T:ty, $kind:ident;)*) => {$(
        impl sealed::Sealed for $T {}
        impl Index for $T {
            const TYPE: rocsparse_indextype = rocsparse_indextype::$kind;
            const NAME: &'static str = stringify!($T);
            const MOST: usize = <$T>::MAX as usize;
            const PADDING: Self = -1;
            fn to_size(self) -> Option<usize> {
                usize::try_from(self).ok()
            }
            fn to_i64(self) -> i64 {
                self.into()
            }
            fn of_size(size: usize) -> Option<Self> {
                Self::try_from(size).ok()
            }
        }
    )*};
}

index! {
    i32, rocsparse_indextype_i32;
    i64, rocsparse_indextype_i64;
}

macro_rules! scalar {
    ($($T:ty, $kind:ident, $complex:literal, [$zero:expr, $one:expr], $transpose:ident, $Raw:ty;)*) => {$(
        impl sealed::Sealed for $T {}
        #[expect(private_interfaces, reason = "no other crate can call it")]
        impl Scalar for $T {
            const TYPE: rocsparse_datatype = rocsparse_datatype::$kind;
            const COMPLEX: bool = $complex;
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            unsafe fn transpose(api: Api<'_>, of: &Transposed) -> raw::Result {
                // SAFETY: S1, S2, S3: the caller vouches for the arguments.
                unsafe { raw::$transpose(api, of) }
            }
        }
        const _: () = assert!(size_of::<$T>() == size_of::<$Raw>() && align_of::<$T>() == align_of::<$Raw>());
    )*};
}

scalar! {
    f32, rocsparse_datatype_f32_r, false, [0.0, 1.0], scsr2csc, f32;
    f64, rocsparse_datatype_f64_r, false, [0.0, 1.0], dcsr2csc, f64;
    Complex<f32>, rocsparse_datatype_f32_c, true, [Complex::new(0.0, 0.0), Complex::new(1.0, 0.0)], ccsr2csc, rocsparse_float_complex;
    Complex<f64>, rocsparse_datatype_f64_c, true, [Complex::new(0.0, 0.0), Complex::new(1.0, 0.0)], zcsr2csc, rocsparse_double_complex;
}
