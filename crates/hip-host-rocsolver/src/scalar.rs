//! The numbers of matrices.

use hip_sys::provider::SolverElement;
use hip_sys::rocblas::{rocblas_double_complex, rocblas_float_complex};
use num_complex::Complex;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, Neg, Sub, SubAssign};

/// A type of the C functions, and the type with the same layout that is computed with.
pub(crate) trait Element: SolverElement<Real = <Self::Value as Scalar>::Part> {
    type Value: Scalar;
}

impl Element for f32 {
    type Value = Self;
}

impl Element for f64 {
    type Value = Self;
}

impl Element for rocblas_float_complex {
    type Value = Complex<f32>;
}

impl Element for rocblas_double_complex {
    type Value = Complex<f64>;
}

/// A real or complex number.
pub(crate) trait Scalar:
    Copy
    + PartialEq
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + DivAssign
    + faer::traits::ComplexField
{
    /// The type of its parts.
    type Part: Real;
    const ZERO: Self;
    const ONE: Self;
    const COMPLEX: bool;

    fn parts(self) -> [Self::Part; 2];
    fn of_parts(parts: [Self::Part; 2]) -> Self;

    fn conjugate(self) -> Self {
        let [re, im] = self.parts();
        Self::of_parts([re, -im])
    }

    fn conjugate_if(self, conjugate: bool) -> Self {
        if conjugate { self.conjugate() } else { self }
    }

    fn real_part(self) -> Self::Part {
        self.parts()[0]
    }

    fn of_real(real: Self::Part) -> Self {
        Self::of_parts([real, Self::Part::ZERO])
    }

    /// |re| + |im|, by which LAPACK chooses pivots.
    fn taxicab(self) -> Self::Part {
        let [re, im] = self.parts();
        re.magnitude() + im.magnitude()
    }
}

/// A real number.
pub(crate) trait Real: Scalar<Part = Self> + PartialOrd {
    fn magnitude(self) -> Self;
    fn root(self) -> Self;
    fn with_sign_of(self, sign: Self) -> Self;
    fn is_number(self) -> bool;
}

macro_rules! real {
    ($($t:ident)*) => {$(
        impl Scalar for $t {
            type Part = Self;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const COMPLEX: bool = false;

            fn parts(self) -> [Self; 2] {
                [self, 0.0]
            }

            fn of_parts(parts: [Self; 2]) -> Self {
                parts[0]
            }
        }

        impl Real for $t {
            fn magnitude(self) -> Self {
                $t::abs(self)
            }

            fn root(self) -> Self {
                $t::sqrt(self)
            }

            fn with_sign_of(self, sign: Self) -> Self {
                $t::copysign(self, sign)
            }

            fn is_number(self) -> bool {
                $t::is_finite(self)
            }
        }

        impl Scalar for Complex<$t> {
            type Part = $t;
            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
            const COMPLEX: bool = true;

            fn parts(self) -> [$t; 2] {
                [self.re, self.im]
            }

            fn of_parts([re, im]: [$t; 2]) -> Self {
                Complex::new(re, im)
            }
        }
    )*};
}

real!(f32 f64);
