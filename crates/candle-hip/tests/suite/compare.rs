//! How near a result is to candle's.

use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, DType};

/// How far a result may be from candle's: `ulps` units in the last place of the larger of the two, or of `scale`.
///
/// candle's own result has an error too, so each number is the sum of both bounds.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    ulps: f64,
    scale: f64,
}

impl Tolerance {
    /// So many units in the last place of the result, or of a number as large as `scale`.
    pub const fn of(ulps: f64, scale: f64) -> Tolerance {
        Tolerance { ulps, scale }
    }
}

/// Equal numbers: moves, integers, comparisons, and operations that both round once from the exact result.
pub const EXACT: Tolerance = Tolerance { ulps: 0.0, scale: 0.0 };

/// One function of the C library on each side: each is within two units of the exact result. In types of 16 and 8 bits both
/// round a result in `f32`, so that they differ by one unit at most.
pub const FUNCTION: Tolerance = Tolerance { ulps: 4.0, scale: 0.0 };

/// Formulas of several steps, which candle rounds after each step in types of 16 and 8 bits: up to five roundings, each of a
/// number as large as the operand.
pub const FORMULA: Tolerance = Tolerance { ulps: 8.0, scale: 1.0 };

/// Sums of `terms` products or numbers: candle accumulates in the type itself, one after another, and rounds up to `terms`
/// times a sum as large as `terms` times the largest term.
pub const fn sum(terms: usize, largest: f64) -> Tolerance {
    Tolerance { ulps: terms as f64, scale: terms as f64 * largest }
}

/// Compares element by element. NaN is equal to NaN.
pub fn assert_near(got: &CpuStorage, expected: &CpuStorage, tolerance: Tolerance, what: &str) {
    assert_eq!(got.dtype(), expected.dtype(), "{what}");
    let (got, dtype) = (numbers(got), got.dtype());
    let expected = numbers(expected);
    assert_eq!(got.len(), expected.len(), "{what}: the number of elements");
    for (at, (got, expected)) in got.iter().zip(&expected).enumerate() {
        let near = got == expected
            || got.is_nan() && expected.is_nan()
            || (got - expected).abs() <= bound(*got, *expected, tolerance, dtype);
        assert!(near, "{what}: element {at} is {got:e}, candle has {expected:e}; tolerance {tolerance:?}");
    }
}

fn bound(a: f64, b: f64, tolerance: Tolerance, dtype: DType) -> f64 {
    if tolerance.ulps == 0.0 || !a.is_finite() || !b.is_finite() {
        return 0.0;
    }
    // The distance of neighbours at 1, and that of the least numbers.
    let (unit, least) = match dtype {
        DType::F8E4M3 => (0.125, 2f64.powi(-9)),
        DType::BF16 => (2f64.powi(-7), 2f64.powi(-133)),
        DType::F16 => (2f64.powi(-10), 2f64.powi(-24)),
        DType::F32 => (f64::from(f32::EPSILON), 2f64.powi(-149)),
        DType::F64 => (f64::EPSILON, 5e-324),
        _ => return 0.0,
    };
    tolerance.ulps * (unit * a.abs().max(b.abs()).max(tolerance.scale)).max(least)
}

/// The elements as `f64`; of integers only those that `f64` has.
pub fn numbers(storage: &CpuStorage) -> Vec<f64> {
    match storage {
        CpuStorage::U8(v) => v.iter().map(|x| f64::from(*x)).collect(),
        CpuStorage::U32(v) => v.iter().map(|x| f64::from(*x)).collect(),
        CpuStorage::I16(v) => v.iter().map(|x| f64::from(*x)).collect(),
        CpuStorage::I32(v) => v.iter().map(|x| f64::from(*x)).collect(),
        CpuStorage::I64(v) => v
            .iter()
            .map(|x| {
                assert!(x.unsigned_abs() < 1 << 53 || *x == i64::MAX || *x == i64::MIN, "{x} is no f64");
                *x as f64
            })
            .collect(),
        CpuStorage::BF16(v) => v.iter().map(|x| x.to_f64()).collect(),
        CpuStorage::F16(v) => v.iter().map(|x| x.to_f64()).collect(),
        CpuStorage::F32(v) => v.iter().map(|x| f64::from(*x)).collect(),
        CpuStorage::F64(v) => v.clone(),
        CpuStorage::F8E4M3(v) => v.iter().map(|x| f64::from(x.to_f32())).collect(),
        other => panic!("no numbers of {:?}", other.dtype()),
    }
}
