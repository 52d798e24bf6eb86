//! The number types of BLAS in the C functions, and their arithmetic.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use hip_sys::rocblas::{rocblas_bfloat16, rocblas_double_complex, rocblas_float_complex, rocblas_half};
use num_complex::{Complex, Complex32, Complex64};
use std::ops::{Add, Mul, Neg, Sub};

/// A type of the C functions, stored as a type with the same layout.
pub(super) trait Element: Copy + Send + Sync + 'static {
    type Value: Scalar;
}

/// The type in memory.
pub(super) trait Scalar: Copy + Default + PartialEq + Send + Sync + 'static {
    /// The type for arithmetic. A sum is rounded once, when it is stored.
    type Wide: Field;
    /// The type in which its absolute value is stored.
    type Real: Scalar<Wide = <Self::Wide as Field>::Part>;

    fn wide(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;

    /// As `wide`, for as many elements as both slices have.
    fn widen(from: &[Self], to: &mut [Self::Wide]) {
        for (to, from) in to.iter_mut().zip(from) {
            *to = from.wide();
        }
    }

    /// `alpha * sum + beta * old`; without `old`, only `alpha * sum`.
    fn combine(alpha: Self::Wide, sum: Self::Wide, beta: Self::Wide, old: Option<Self>) -> Self {
        let product = alpha * sum;
        Self::narrow(old.map_or(product, |old| product + beta * old.wide()))
    }
}

/// A type for arithmetic: f32, f64, or a complex number of them.
pub(super) trait Field:
    Copy
    + Default
    + PartialEq
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + Scale<Self>
    + Scalar<Wide = Self, Real = <Self as Field>::Part>
{
    /// The type of its parts.
    type Part: Real;
    const ZERO: Self;
    const ONE: Self;

    fn conj(self) -> Self;
    fn over(self, by: Self) -> Self;
    fn of_real(real: Self::Part) -> Self;
    /// The real part.
    fn real(self) -> Self::Part;
    /// The imaginary part; zero for a real number.
    fn imaginary(self) -> Self::Part;

    fn conj_if(self, conj: bool) -> Self {
        if conj { self.conj() } else { self }
    }

    /// |re| + |im|.
    fn taxicab(self) -> Self::Part {
        self.real().abs() + self.imaginary().abs()
    }
}

/// A real number as this type.
pub(super) trait Real: Field<Part = Self> + PartialOrd + Scale<Self> {
    fn abs(self) -> Self;
    fn hypot(self, other: Self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    fn to_f64(self) -> f64;
    fn of_f64(value: f64) -> Self;
}

/// A factor of an `X`. A real factor multiplies both parts of a complex number separately.
pub(super) trait Scale<X>: Copy + Send + Sync + 'static {
    fn scale(self, x: X) -> X;
}

macro_rules! real {
    ($t:ident) => {
        impl Element for $t {
            type Value = Self;
        }
        impl Scalar for $t {
            type Wide = Self;
            type Real = Self;
            fn wide(self) -> Self {
                self
            }
            fn narrow(wide: Self) -> Self {
                wide
            }
        }
        impl Field for $t {
            type Part = Self;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            fn conj(self) -> Self {
                self
            }
            fn over(self, by: Self) -> Self {
                self / by
            }
            fn of_real(real: Self) -> Self {
                real
            }
            fn real(self) -> Self {
                self
            }
            fn imaginary(self) -> Self {
                0.0
            }
        }
        impl Real for $t {
            fn abs(self) -> Self {
                $t::abs(self)
            }
            fn hypot(self, other: Self) -> Self {
                $t::hypot(self, other)
            }
            fn copysign(self, sign: Self) -> Self {
                $t::copysign(self, sign)
            }
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            fn of_f64(value: f64) -> Self {
                value as $t
            }
        }
        impl Scale<$t> for $t {
            fn scale(self, x: $t) -> $t {
                self * x
            }
        }
        impl Scale<Complex<$t>> for $t {
            fn scale(self, x: Complex<$t>) -> Complex<$t> {
                Complex::new(self * x.re, self * x.im)
            }
        }
        impl Scale<Complex<$t>> for Complex<$t> {
            fn scale(self, x: Complex<$t>) -> Complex<$t> {
                self * x
            }
        }
        impl Scalar for Complex<$t> {
            type Wide = Self;
            type Real = $t;
            fn wide(self) -> Self {
                self
            }
            fn narrow(wide: Self) -> Self {
                wide
            }
        }
        impl Field for Complex<$t> {
            type Part = $t;
            const ZERO: Self = Complex::new(0.0, 0.0);
            const ONE: Self = Complex::new(1.0, 0.0);
            fn conj(self) -> Self {
                Complex::new(self.re, -self.im)
            }
            /// Divides by the larger part of the divisor first, so that no square overflows.
            fn over(self, by: Self) -> Self {
                if by.re.abs() >= by.im.abs() {
                    let ratio = by.im / by.re;
                    let scale = by.re + by.im * ratio;
                    Complex::new((self.re + self.im * ratio) / scale, (self.im - self.re * ratio) / scale)
                } else {
                    let ratio = by.re / by.im;
                    let scale = by.re * ratio + by.im;
                    Complex::new((self.re * ratio + self.im) / scale, (self.im * ratio - self.re) / scale)
                }
            }
            fn of_real(real: $t) -> Self {
                Complex::new(real, 0.0)
            }
            fn real(self) -> $t {
                self.re
            }
            fn imaginary(self) -> $t {
                self.im
            }
        }
    };
}

real!(f32);
real!(f64);

macro_rules! half {
    ($c:ident, $t:ident) => {
        impl Element for $c {
            type Value = $t;
        }
        impl Scalar for $t {
            type Wide = f32;
            type Real = Self;
            fn wide(self) -> f32 {
                self.to_f32()
            }
            fn narrow(wide: f32) -> Self {
                $t::from_f32(wide)
            }
            fn widen(from: &[Self], to: &mut [f32]) {
                let count = from.len().min(to.len());
                from[..count].convert_to_f32_slice(&mut to[..count]);
            }
        }
    };
}

half!(rocblas_half, f16);
half!(rocblas_bfloat16, bf16);

impl Element for rocblas_float_complex {
    type Value = Complex32;
}

impl Element for rocblas_double_complex {
    type Value = Complex64;
}

/// Products of these integers, and all sums of them that fit memory, are exact in f64.
impl Scalar for i8 {
    type Wide = f64;
    type Real = f64;
    fn wide(self) -> f64 {
        f64::from(self)
    }
    fn narrow(wide: f64) -> Self {
        wide as Self
    }
}

impl Element for i32 {
    type Value = Self;
}

/// Its arithmetic wraps.
impl Scalar for i32 {
    type Wide = f64;
    type Real = f64;
    fn wide(self) -> f64 {
        f64::from(self)
    }
    fn narrow(wide: f64) -> Self {
        wide as i64 as Self
    }
    fn combine(alpha: f64, sum: f64, beta: f64, old: Option<Self>) -> Self {
        let product = (alpha as i64 as Self).wrapping_mul(sum as i64 as Self);
        old.map_or(product, |old| product.wrapping_add((beta as i64 as Self).wrapping_mul(old)))
    }
}

/// A width of sizes: the larger one is for functions whose names end in `_64`.
pub(super) trait Int: Copy + Default + Send + Sync + 'static {
    fn wide(self) -> i64;
    /// The index of an element, from 1; 0 for none.
    fn of_index(index: usize) -> Self;
}

impl Int for i32 {
    fn wide(self) -> i64 {
        i64::from(self)
    }
    fn of_index(index: usize) -> Self {
        Self::try_from(index).unwrap_or(Self::MAX)
    }
}

impl Int for i64 {
    fn wide(self) -> i64 {
        self
    }
    fn of_index(index: usize) -> Self {
        Self::try_from(index).unwrap_or(Self::MAX)
    }
}
