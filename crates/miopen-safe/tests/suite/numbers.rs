//! Numbers to compute with, and how far results may be from the reference.

use crate::under_test::units;
use half::{bf16, f16};
use miopen_safe::Element;
use reference::DType;
use reference::network::Sum;
use reference::round::ulp;

/// A float that layers are computed in.
pub(crate) trait Real: Element {
    const DTYPE: DType;

    fn of(x: f64) -> Self;
    fn value(self) -> f64;
}

macro_rules! reals {
    ($($type:ty, $name:ident, $of:expr, $value:expr;)*) => {$(
        impl Real for $type {
            const DTYPE: DType = DType::$name;

            fn of(x: f64) -> Self {
                let of: fn(f64) -> Self = $of;
                of(x)
            }

            fn value(self) -> f64 {
                let value: fn(Self) -> f64 = $value;
                value(self)
            }
        }
    )*};
}

reals! {
    f16, F16, f16::from_f64, f16::to_f64;
    bf16, BF16, bf16::from_f64, bf16::to_f64;
    f32, F32, |x| x as f32, f64::from;
    f64, F64, |x| x, |x| x;
}

/// Numbers in −1‥1 that a seed gives, rounded into the type.
pub(crate) fn noise<T: Real>(seed: u64, len: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        T::of((state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0).value()
    };
    (0..len).map(|_| next()).collect()
}

/// Each result is within t · Σ|terms| and one unit in the last place (or what [`units`] says), with t = 2e-7 · √(number of terms) for types up to `f32`.
pub(crate) fn check<T: Real>(what: &str, got: &[f64], wanted: &[Sum]) {
    assert_eq!(got.len(), wanted.len(), "{what}: the number of results");
    let unit = if T::DTYPE == DType::F64 { 4e-16 } else { 2e-7 };
    for (at, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        let last = units(what) * ulp(T::DTYPE, wanted.value);
        let allowed = unit * (wanted.count as f64).sqrt() * wanted.scale + last;
        let off = (got - wanted.value).abs();
        assert!(
            off <= allowed,
            "{what}, element {at}: {got} instead of {}, {off:e} off of {allowed:e}",
            wanted.value
        );
    }
}

/// Results that are exact.
pub(crate) fn check_exact(what: &str, got: &[f64], wanted: &[f64]) {
    assert_eq!(got, wanted, "{what}");
}

/// An elementwise result whose relative error is that of so many rounded steps.
pub(crate) fn steps(value: f64, count: usize) -> Sum {
    Sum { value, scale: value.abs() * count as f64, count: 1 }
}
