//! The element types, made from numbers and read back, and numbers to test with.

use half::{bf16, f16};
use num_complex::{Complex32, Complex64};
use reference::DType;
use reference::blas::Number;
use rocblas_safe::Element;

/// A type of elements under test.
pub(crate) trait Sample: Element<Scale: Part, Real: Part> + Part {
    /// The type of one part.
    const DTYPE: DType;
}

/// A number of the host.
pub(crate) trait Part: Copy + PartialEq + std::fmt::Debug + Send + Sync {
    fn of(re: f64, im: f64) -> Self;
    fn parts(self) -> [f64; 2];

    fn number(self) -> Number {
        let [re, im] = self.parts();
        Number::new(re, im)
    }
}

macro_rules! real {
    ($($T:ty: $from:path, $to:path;)*) => {$(
        impl Part for $T {
            fn of(re: f64, _: f64) -> Self {
                $from(re)
            }

            fn parts(self) -> [f64; 2] {
                [$to(self), 0.0]
            }
        }
    )*};
}

fn narrow(x: f64) -> f32 {
    x as f32
}

real! {
    f32: narrow, f64::from;
    f64: f64::from, f64::from;
    f16: f16::from_f64, f64::from;
    bf16: bf16::from_f64, f64::from;
}

impl Part for Complex32 {
    fn of(re: f64, im: f64) -> Self {
        Self::new(narrow(re), narrow(im))
    }

    fn parts(self) -> [f64; 2] {
        [self.re.into(), self.im.into()]
    }
}

impl Part for Complex64 {
    fn of(re: f64, im: f64) -> Self {
        Self::new(re, im)
    }

    fn parts(self) -> [f64; 2] {
        [self.re, self.im]
    }
}

macro_rules! sample {
    ($($T:ty: $dtype:ident;)*) => {$(
        impl Sample for $T {
            const DTYPE: DType = DType::$dtype;
        }
    )*};
}

sample! { f32: F32; f64: F64; f16: F16; bf16: BF16; Complex32: F32; Complex64: F64; }

/// Calls a generic function with each type given.
macro_rules! for_types {
    ($function:ident: $($T:ty),+ $(,)?) => {$( $function::<$T>(); )+};
}

pub(crate) use for_types;

/// Numbers that are the same each time.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x0123_4567_89ab_cdef)
    }

    fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From -1 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// A value with both parts from -1 to 1.
    pub(crate) fn value<T: Part>(&mut self) -> T {
        let re = self.unit();
        T::of(re, self.unit())
    }

    /// A value with whole parts from -3 to 3.
    pub(crate) fn whole<T: Part>(&mut self) -> T {
        let mut part = || (self.next() % 7) as f64 - 3.0;
        let re = part();
        T::of(re, part())
    }

    /// One of a list.
    pub(crate) fn pick<X: Copy>(&mut self, list: &[X]) -> X {
        list[self.next() as usize % list.len()]
    }
}
