//! Sums of many terms, in twice the precision of `f64`, together with Σ|terms|.

use crate::dd::{two_product, two_sum};
use crate::round::{self, power_of_two};
use crate::{DType, Dd, Expected, bounds};

/// A running sum. Rounding errors are summed separately.
#[derive(Default)]
pub(crate) struct Sum {
    hi: f64,
    lo: f64,
    /// Σ|terms|.
    magnitude: f64,
    /// The sum of the infinite and NaN terms, once they are kept apart.
    special: f64,
    apart: bool,
}

impl Sum {
    #[inline]
    pub(crate) fn add(&mut self, x: f64) {
        if self.apart && !x.is_finite() {
            self.special += x;
            return;
        }
        let (sum, error) = two_sum(self.hi, x);
        self.hi = sum;
        self.lo += error;
        self.magnitude += x.abs();
    }

    #[inline]
    pub(crate) fn add_product(&mut self, x: f64, y: f64) {
        let (product, error) = two_product(x, y);
        if product.is_finite() {
            self.lo += error;
        }
        self.add(product);
    }

    /// Adds products of numbers that are exact in `f32`. The products are exact in `f64`. Plain sums of them, in eight
    /// lanes, are far more accurate than the tolerance of sums in `f32`.
    pub(crate) fn add_products_of_singles(&mut self, x: &[f64], y: &[f64], factor: f64) {
        const LANES: usize = 8;
        let (mut sums, mut magnitudes) = ([0.0; LANES], [0.0; LANES]);
        let whole = x.len().min(y.len()) / LANES * LANES;
        for (x, y) in x[..whole].chunks_exact(LANES).zip(y[..whole].chunks_exact(LANES)) {
            for lane in 0..LANES {
                let product = x[lane] * factor * (y[lane] * factor);
                sums[lane] += product;
                magnitudes[lane] += product.abs();
            }
        }
        for (x, y) in x[whole..].iter().zip(&y[whole..]) {
            self.add(x * factor * (y * factor));
        }
        for lane in 0..LANES {
            self.add(sums[lane]);
            self.magnitude += magnitudes[lane] - sums[lane].abs();
        }
    }
}

/// The expected value of a sum of floats, divided by `divisor`.
///
/// `run` adds all terms, each multiplied by `factor^degree` of the factor that it gets. First the
/// factor is 1. If that overflows `f64`, it is called again with a factor that avoids it.
pub(crate) fn expected(dtype: DType, divisor: f64, degree: i32, run: impl Fn(f64, &mut Sum)) -> Expected {
    let limit = round::max_value(bounds::compute(dtype));
    let mut sum = Sum::default();
    run(1.0, &mut sum);
    if sum.magnitude.is_finite() {
        let value = divided(Dd::sum(sum.hi, sum.lo), divisor);
        let overflow = sum.magnitude > limit;
        return Expected { overflow, ..Expected::rounded(dtype, value, sum.magnitude / divisor) };
    }
    const DOWN: i32 = -550;
    let mut sum = Sum { apart: true, ..Sum::default() };
    run(power_of_two(DOWN), &mut sum);
    let up = -DOWN * degree;
    let magnitude = (Dd::from(sum.magnitude / divisor).ldexp(up)).hi.min(f64::MAX);
    let overflow = Dd::from(sum.magnitude).ldexp(up).hi > limit && !sum.special.is_nan();
    let value = if sum.special == 0.0 {
        divided(Dd::sum(sum.hi, sum.lo), divisor).ldexp(up)
    } else {
        Dd::from(sum.special)
    };
    Expected { overflow, ..Expected::rounded(dtype, value, magnitude) }
}

fn divided(sum: Dd, divisor: f64) -> Dd {
    if divisor == 1.0 { sum } else { sum / Dd::from(divisor) }
}
