//! Numbers of each type, as complex ones of `f64`.

use rocsparse_safe::{Complex, Scalar};

pub(crate) type C = Complex<f64>;

/// A type of numbers under test.
pub(crate) trait Number: Scalar {
    /// The unit roundoff of its real numbers.
    const UNIT: f64;
    fn of(number: C) -> Self;
    fn to(self) -> C;
    fn is_complex() -> bool {
        Self::of(C::i()).to() == C::i()
    }
}

macro_rules! numbers {
    ($($T:ident, $unit:expr;)*) => {$(
        impl Number for $T {
            const UNIT: f64 = $unit;
            fn of(number: C) -> Self {
                number.re as $T
            }
            fn to(self) -> C {
                C::new(self.into(), 0.0)
            }
        }
        impl Number for Complex<$T> {
            const UNIT: f64 = $unit;
            fn of(number: C) -> Self {
                Self::new(number.re as $T, number.im as $T)
            }
            fn to(self) -> C {
                C::new(self.re.into(), self.im.into())
            }
        }
    )*};
}

numbers! {
    f32, f32::EPSILON as f64 / 2.0;
    f64, f64::EPSILON / 2.0;
}

/// Pseudo-random numbers: splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// A real number from -1 to 1, not zero, which an `f32` can be.
    fn real(&mut self) -> f64 {
        let magnitude = (self.below(1 << 23) + 1) as f64 / f64::from(1 << 23);
        if self.next().is_multiple_of(2) { magnitude } else { -magnitude }
    }

    pub(crate) fn number(&mut self) -> C {
        C::new(self.real(), self.real())
    }

    pub(crate) fn numbers<T: Number>(&mut self, count: usize) -> Vec<T> {
        (0..count).map(|_| T::of(self.number())).collect()
    }
}

/// Runs a test for each type of indices and of numbers.
macro_rules! for_all_types {
    ($test:ident) => {
        $test::<i32, f32>();
        $test::<i32, f64>();
        $test::<i32, rocsparse_safe::Complex<f32>>();
        $test::<i32, rocsparse_safe::Complex<f64>>();
        $test::<i64, f32>();
        $test::<i64, f64>();
        $test::<i64, rocsparse_safe::Complex<f32>>();
        $test::<i64, rocsparse_safe::Complex<f64>>();
    };
}
pub(crate) use for_all_types;

/// Runs a test for each type of numbers.
macro_rules! for_all_numbers {
    ($test:ident) => {
        $test::<f32>();
        $test::<f64>();
        $test::<rocsparse_safe::Complex<f32>>();
        $test::<rocsparse_safe::Complex<f64>>();
    };
}
pub(crate) use for_all_numbers;
