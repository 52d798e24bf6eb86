//! The transform by its definition, in f64, and how far a result may be off.

use hip_safe::{AnyBits, DeviceRepr};
use rocfft_safe::{Complex, Direction, Real};

pub(crate) type C64 = Complex<f64>;

/// A type whose results are judged.
pub(crate) trait Judged: Real + AnyBits + Into<f64> + Copy + PartialEq + std::fmt::Debug
where
    Complex<Self>: DeviceRepr + AnyBits,
{
    /// Half the distance from 1 to the next larger number.
    const EPS: f64;
    fn of(x: f64) -> Self;
}

impl Judged for f32 {
    const EPS: f64 = f32::EPSILON as f64 / 2.0;
    fn of(x: f64) -> Self {
        x as Self
    }
}

impl Judged for f64 {
    const EPS: f64 = f64::EPSILON / 2.0;
    fn of(x: f64) -> Self {
        x
    }
}

/// Numbers between -1 and 1 that have nothing to do with each other: multiples of 2^-20, which every type here has.
pub(crate) fn numbers(count: usize) -> Vec<f64> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 43) as f64 / f64::from(1 << 20) - 1.0
    };
    (0..count).map(|_| next()).collect()
}

pub(crate) fn complex_numbers(count: usize) -> Vec<C64> {
    numbers(2 * count).chunks(2).map(|pair| C64::new(pair[0], pair[1])).collect()
}

pub(crate) fn narrow<T: Judged>(numbers: &[C64]) -> Vec<Complex<T>>
where
    Complex<T>: DeviceRepr + AnyBits,
{
    numbers.iter().map(|z| Complex::new(T::of(z.re), T::of(z.im))).collect()
}

/// The transform of a contiguous grid, the last length the fastest.
pub(crate) fn transform(grid: &[C64], lengths: &[usize], direction: Direction) -> Vec<C64> {
    let sign = if direction == Direction::Forward { -1.0 } else { 1.0 };
    let mut grid = grid.to_vec();
    let mut stride = 1;
    for &length in lengths.iter().rev() {
        let step = sign * std::f64::consts::TAU / length as f64;
        let factors: Vec<_> = (0..length).map(|k| C64::from_polar(1.0, step * k as f64)).collect();
        let source = grid.clone();
        for (offset, result) in grid.iter_mut().enumerate() {
            let index = offset / stride % length;
            let start = offset - index * stride;
            *result = (0..length).map(|j| source[start + j * stride] * factors[index * j % length]).sum();
        }
        stride *= length;
    }
    grid
}

/// The first half of the fastest direction, and the middle.
pub(crate) fn half(grid: &[C64], row: usize) -> Vec<C64> {
    grid.chunks(row).flat_map(|row_of| row_of[..row / 2 + 1].to_vec()).collect()
}

/// Compares by the norm of the difference. Each of log2(n) stages of a fast transform adds an error of 8 rounding errors at most relative to the
/// norm (N. Higham, "Accuracy and Stability of Numerical Algorithms", 24.1). A prime length is computed by three transforms of up to four times the
/// length.
#[track_caller]
pub(crate) fn check<T: Judged>(what: &str, found: &[Complex<T>], expected: &[C64], size: usize)
where
    Complex<T>: DeviceRepr + AnyBits,
{
    assert_eq!(found.len(), expected.len(), "{what}");
    let wide = found.iter().map(|z| C64::new(z.re.into(), z.im.into()));
    let difference: f64 = wide.zip(expected).map(|(found, expected)| (found - expected).norm_sqr()).sum();
    let norm: f64 = expected.iter().map(C64::norm_sqr).sum();
    let stages = 3.0 * (4.0 * size as f64).log2();
    let bound = 8.0 * T::EPS * stages * norm.sqrt();
    assert!(difference.sqrt() <= bound, "{what}: off by {}, not within {bound}", difference.sqrt());
}

/// The same for real results.
#[track_caller]
pub(crate) fn check_real<T: Judged>(what: &str, found: &[T], expected: &[f64], size: usize)
where
    Complex<T>: DeviceRepr + AnyBits,
{
    let found: Vec<_> = found.iter().map(|&x| Complex::new(x, T::of(0.0))).collect();
    let expected: Vec<_> = expected.iter().map(|&x| C64::new(x, 0.0)).collect();
    check(what, &found, &expected, size);
}
