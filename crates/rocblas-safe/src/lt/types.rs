//! Which types a product may have.

use super::{F8E4M3, F8E4M3Fnuz, F8E5M2, F8E5M2Fnuz};
use crate::{MathMode, Operable};
use half::{bf16, f16};
use hip_safe::AnyBits;
use hip_sys::hipblaslt::{hipDataType, hipblasComputeType_t};

/// What the matrices of a [`Matmul`](super::Matmul) are made of. No other crate implements it.
pub trait LtElement: Operable + sealed::Typed {}

/// An 8-bit float. Those of OCP and those of CDNA 3 are not multiplied with each other: `Kind` tells them apart.
pub trait Float8: LtElement {
    /// `F8E4M3` or `F8E4M3Fnuz`.
    type Kind;
}

/// The types of a product, as `(A, B, D)`: the two factors and the result.
///
/// | factors | results |
/// | --- | --- |
/// | `f32` | `f32` |
/// | `f16` | `f16`, `f32` |
/// | `bf16` | `bf16`, `f32` |
/// | 8-bit floats, both of one kind | `f32`, `f16`, `bf16`, 8-bit floats of that kind |
/// | `i8` | `i32` |
pub trait MatmulTypes: sealed::Compute {
    /// The type of alpha and beta, in which sums are made: `f32`, or `i32` for integers.
    type Scale: AnyBits + PartialEq;
    /// Zero and one.
    #[doc(hidden)]
    const ZERO_ONE: (Self::Scale, Self::Scale);
}

/// The types of a bias for results of type `D`: `f32`, or the type of the result if that has 16 bits.
pub trait BiasFor<D>: LtElement {}

#[allow(unreachable_pub)]
pub(crate) mod sealed {
    use super::{MathMode, hipDataType, hipblasComputeType_t};

    pub trait Typed {
        const DATA_TYPE: hipDataType;
    }

    pub trait Compute {
        const SCALE: hipDataType;

        fn compute(precision: MathMode) -> hipblasComputeType_t;
    }
}

macro_rules! elements {
    ($($T:ty: $data_type:ident;)*) => {$(
        impl sealed::Typed for $T {
            const DATA_TYPE: hipDataType = hipDataType::$data_type;
        }

        impl LtElement for $T {}
    )*};
}

elements! {
    f32: HIP_R_32F;
    f16: HIP_R_16F;
    bf16: HIP_R_16BF;
    i8: HIP_R_8I;
    i32: HIP_R_32I;
    F8E4M3: HIP_R_8F_E4M3;
    F8E5M2: HIP_R_8F_E5M2;
    F8E4M3Fnuz: HIP_R_8F_E4M3_FNUZ;
    F8E5M2Fnuz: HIP_R_8F_E5M2_FNUZ;
}

macro_rules! float8 {
    ($($T:ty: $Kind:ty;)*) => {$(
        crate::types::operable!($T, false);

        impl Float8 for $T {
            type Kind = $Kind;
        }

        impl BiasFor<$T> for f32 {}
    )*};
}

float8! {
    F8E4M3: F8E4M3;
    F8E5M2: F8E4M3;
    F8E4M3Fnuz: F8E4M3Fnuz;
    F8E5M2Fnuz: F8E4M3Fnuz;
}

impl BiasFor<f32> for f32 {}
impl BiasFor<f16> for f32 {}
impl BiasFor<bf16> for f32 {}
impl BiasFor<f16> for f16 {}
impl BiasFor<bf16> for bf16 {}

/// A result of factors of 8 bits.
pub trait Float8Result<Kind>: LtElement {}

impl<Kind> Float8Result<Kind> for f32 {}
impl<Kind> Float8Result<Kind> for f16 {}
impl<Kind> Float8Result<Kind> for bf16 {}
impl Float8Result<F8E4M3> for F8E4M3 {}
impl Float8Result<F8E4M3> for F8E5M2 {}
impl Float8Result<F8E4M3Fnuz> for F8E4M3Fnuz {}
impl Float8Result<F8E4M3Fnuz> for F8E5M2Fnuz {}

macro_rules! floats {
    ([$($generics:tt)*] $types:ty, $reduced:ident) => {
        impl<$($generics)*> sealed::Compute for $types {
            const SCALE: hipDataType = hipDataType::HIP_R_32F;

            fn compute(precision: MathMode) -> hipblasComputeType_t {
                match precision {
                    MathMode::Full => hipblasComputeType_t::HIPBLAS_COMPUTE_32F,
                    MathMode::Reduced => hipblasComputeType_t::$reduced,
                }
            }
        }

        impl<$($generics)*> MatmulTypes for $types {
            type Scale = f32;
            const ZERO_ONE: (f32, f32) = (0.0, 1.0);
        }
    };
}

floats!([](f32, f32, f32), HIPBLAS_COMPUTE_32F_FAST_TF32);
floats!([](f16, f16, f16), HIPBLAS_COMPUTE_32F);
floats!([](f16, f16, f32), HIPBLAS_COMPUTE_32F);
floats!([](bf16, bf16, bf16), HIPBLAS_COMPUTE_32F);
floats!([](bf16, bf16, f32), HIPBLAS_COMPUTE_32F);
floats!([A: Float8, B: Float8<Kind = A::Kind>, D: Float8Result<A::Kind>] (A, B, D), HIPBLAS_COMPUTE_32F);

impl sealed::Compute for (i8, i8, i32) {
    const SCALE: hipDataType = hipDataType::HIP_R_32I;

    fn compute(_precision: MathMode) -> hipblasComputeType_t {
        hipblasComputeType_t::HIPBLAS_COMPUTE_32I
    }
}

impl MatmulTypes for (i8, i8, i32) {
    type Scale = i32;
    const ZERO_ONE: (i32, i32) = (0, 1);
}
