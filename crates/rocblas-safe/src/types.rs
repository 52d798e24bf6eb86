//! The types of elements.

use crate::raw::{
    ComplexCalls, ElementCalls, GemmCalls, HermitianCalls, Level1Calls, Level2Calls, Level3Calls,
    ProductTypes, VectorProductCalls,
};
use half::{bf16, f16};
use hip_safe::AnyBits;
use hip_sys::rocblas::rocblas_datatype;
use num_complex::{Complex32, Complex64};

/// What vectors and matrices are made of: `f32`, `f64`, `Complex32`, `Complex64`, `f16` and `bf16`. No other crate implements it.
///
/// Sums and products of 16-bit numbers are computed in `f32` and rounded once: [`Element::Scale`] is the type of alpha and beta.
pub trait Element: Operable + ElementCalls + GemmCalls {
    /// The type of alpha and beta: `f32` for the 16-bit types, else the type itself.
    type Scale: AnyBits;
    /// The type of norms and of a rotation's cosine: that of the real part.
    type Real: AnyBits;
}

/// What the operands of [`Handle::gemm_ex`](crate::Handle::gemm_ex) are made of: every [`Element`], and `i8` and `i32`; those of [`lt`](crate::lt) are 8-bit floats
/// too. No other crate implements it.
pub trait Operable: AnyBits + sealed::Operable {
    /// Whether conjugating does anything.
    const COMPLEX: bool;
}

/// The four types that every operation has: `f32`, `f64`, `Complex32`, `Complex64`.
pub trait Blas: Element<Scale = Self> + Level1Calls + Level2Calls + Level3Calls {
    /// Zero and one, for operations that are made of others.
    #[doc(hidden)]
    const ZERO_ONE: (Self, Self);
}

/// `Complex32` and `Complex64`.
pub trait Complex: Blas + ComplexCalls + HermitianCalls {}

/// What [`Handle::gemm_ex`](crate::Handle::gemm_ex) computes in: the type of its sums, of alpha and of beta. `In` is the type of the
/// factors, `Out` that of the result.
pub trait Product<In, Out>: AnyBits + sealed::Types<In, Out> {}

/// What [`Handle::gemv_ex`](crate::Handle::gemv_ex) multiplies: `f16` and `bf16`, into a vector of the same type or of `f32`. No other crate
/// implements it.
pub trait VectorProduct<Out>: Element<Scale = f32> + VectorProductCalls<Out> {}

impl VectorProduct<f16> for f16 {}
impl VectorProduct<f32> for f16 {}
impl VectorProduct<bf16> for bf16 {}
impl VectorProduct<f32> for bf16 {}

#[allow(unreachable_pub)]
pub(crate) mod sealed {
    use super::ProductTypes;

    pub trait Operable {}

    pub trait Types<In, Out> {
        const TYPES: ProductTypes;
    }
}

macro_rules! operable {
    ($T:ty, $complex:literal) => {
        impl $crate::types::sealed::Operable for $T {}

        impl $crate::Operable for $T {
            const COMPLEX: bool = $complex;
        }
    };
}

pub(crate) use operable;

macro_rules! element {
    ($T:ty, $Scale:ty, $Real:ty, $complex:literal) => {
        impl Element for $T {
            type Scale = $Scale;
            type Real = $Real;
        }

        operable!($T, $complex);
    };
}

operable!(i8, false);
operable!(i32, false);

element!(f32, f32, f32, false);
element!(f64, f64, f64, false);
element!(Complex32, Complex32, f32, true);
element!(Complex64, Complex64, f64, true);
element!(f16, f32, f16, false);
element!(bf16, f32, bf16, false);

impl Blas for f32 {
    const ZERO_ONE: (Self, Self) = (0.0, 1.0);
}

impl Blas for f64 {
    const ZERO_ONE: (Self, Self) = (0.0, 1.0);
}

impl Blas for Complex32 {
    const ZERO_ONE: (Self, Self) = (Self::new(0.0, 0.0), Self::new(1.0, 0.0));
}

impl Blas for Complex64 {
    const ZERO_ONE: (Self, Self) = (Self::new(0.0, 0.0), Self::new(1.0, 0.0));
}

impl Complex for Complex32 {}
impl Complex for Complex64 {}

macro_rules! product {
    ($In:ty, $Out:ty, $Compute:ty, $input:ident, $output:ident, $compute:ident) => {
        impl sealed::Types<$In, $Out> for $Compute {
            const TYPES: ProductTypes = ProductTypes {
                input: rocblas_datatype::$input,
                output: rocblas_datatype::$output,
                compute: rocblas_datatype::$compute,
            };
        }

        impl Product<$In, $Out> for $Compute {}
    };
}

product!(f32, f32, f32, rocblas_datatype_f32_r, rocblas_datatype_f32_r, rocblas_datatype_f32_r);
product!(f64, f64, f64, rocblas_datatype_f64_r, rocblas_datatype_f64_r, rocblas_datatype_f64_r);
product!(
    Complex32,
    Complex32,
    Complex32,
    rocblas_datatype_f32_c,
    rocblas_datatype_f32_c,
    rocblas_datatype_f32_c
);
product!(
    Complex64,
    Complex64,
    Complex64,
    rocblas_datatype_f64_c,
    rocblas_datatype_f64_c,
    rocblas_datatype_f64_c
);
product!(f16, f16, f32, rocblas_datatype_f16_r, rocblas_datatype_f16_r, rocblas_datatype_f32_r);
product!(f16, f32, f32, rocblas_datatype_f16_r, rocblas_datatype_f32_r, rocblas_datatype_f32_r);
product!(f16, f16, f16, rocblas_datatype_f16_r, rocblas_datatype_f16_r, rocblas_datatype_f16_r);
product!(bf16, bf16, f32, rocblas_datatype_bf16_r, rocblas_datatype_bf16_r, rocblas_datatype_f32_r);
product!(bf16, f32, f32, rocblas_datatype_bf16_r, rocblas_datatype_f32_r, rocblas_datatype_f32_r);
product!(i8, i32, i32, rocblas_datatype_i8_r, rocblas_datatype_i32_r, rocblas_datatype_i32_r);
