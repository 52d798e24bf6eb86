//! Statistics over any set of axes: variance, norm, log-sum-exp, any and all.

use super::reduce::Plan;
use super::{from_int, maximum, operations};
use crate::array::Data;
use crate::round::{self, power_of_two};
use crate::{Array, DType, Dd, Error, Expected, Judge, Outcome, Value, bounds};

operations! {
    /// A statistic of floats.
    StatOp {
        /// Σ(x − mean)² / (n − 1); NaN for fewer than two elements.
        Var = "var",
        /// Its square root.
        Std = "std",
        /// √Σx². 0 for no elements; NaN takes precedence over infinities.
        Norm = "norm",
        /// log Σ exp x. −∞ for no elements; NaN takes precedence over +∞.
        LogSumExp = "log_sum_exp",
    }
}

/// The statistic `op` over `axes` of `a`, in any order. The axes are dropped, or kept with length 1 if `keepdim`.
///
/// A device rounds in its compute type. The k additions round as those of a sum ([`bounds::sum_tolerance`]). Each
/// element has a few more operations, for which t has 8 additional unit roundoffs.
///
/// # Errors
/// [`Error::Unsupported`] for integers, [`Error::Axis`].
pub fn stat<'a>(op: StatOp, a: &'a Array, axes: &[usize], keepdim: bool) -> Result<Outcome<'a>, Error> {
    let dtype = a.dtype();
    let Data::Float(values) = &a.data else { return Err(Error::Unsupported { op: op.name(), dtype }) };
    let Plan { shape, kept, reduced, length } = Plan::new(op.name(), a.shape(), axes, keepdim)?;
    let sums = bounds::sum_tolerance(dtype, length);
    let t = sums + bounds::product_tolerance(dtype, 8);
    Ok(Outcome::new(dtype, shape, Judge::Within { ulps: 1.0, t }, move |i| {
        let base = kept.offset_of(i);
        let each = |visit: &mut dyn FnMut(f64)| reduced.walk(base, |offset| visit(values[offset]));
        match op {
            StatOp::Var | StatOp::Std => variance(dtype, length, sums, op == StatOp::Std, &each),
            StatOp::Norm => norm(dtype, &each),
            StatOp::LogSumExp => log_sum_exp(dtype, &each),
        }
    }))
}

/// Calls its argument with each element.
type Each<'a> = dyn Fn(&mut dyn FnMut(f64)) + 'a;

fn nan(dtype: DType) -> Expected {
    Expected::rounded(dtype, Dd::from(f64::NAN), 0.0)
}

/// The maximum magnitude, or NaN if there is one; and the exponent of two that scales it to about one.
fn magnitude(each: &Each<'_>) -> (f64, i32) {
    let mut greatest = 0.0;
    each(&mut |x| greatest = maximum(greatest, x.abs()));
    let exponent = if greatest.is_finite() && greatest > 0.0 { greatest.log2().floor() as i32 } else { 0 };
    (greatest, exponent)
}

/// x · 2^-exponent. Exact, except for elements that are negligible next to the maximum.
fn scaled(x: f64, exponent: i32) -> f64 {
    // In two steps, because 2^1074 overflows.
    let half = -exponent / 2;
    x * power_of_two(half) * power_of_two(-exponent - half)
}

/// The mean has an error of at most `sums` of the elements' mean magnitude. The square of that error is subtracted from
/// the variance; rounding leaves a part of it. Below the normal numbers each square has an error of half the smallest
/// subnormal.
fn variance(dtype: DType, length: usize, sums: f64, root: bool, each: &Each<'_>) -> Expected {
    let (greatest, exponent) = magnitude(each);
    if length < 2 || !greatest.is_finite() {
        return nan(dtype);
    }
    let (count, less_one) = (Dd::from(length as f64), Dd::from((length - 1) as f64));
    let (mut sum, mut total) = (Dd::ZERO, 0.0);
    each(&mut |x| {
        let x = scaled(x, exponent);
        sum = sum + Dd::from(x);
        total += x.abs();
    });
    let mean = sum / count;
    let mut squares = Dd::ZERO;
    each(&mut |x| {
        let d = Dd::from(scaled(x, exponent)) - mean;
        squares = squares + d * d;
    });
    let up = |x: Dd| x.ldexp(2 * exponent);
    let variance = up(squares / less_one);
    let drift = sums * total / length as f64;
    let least = round::min_normal(bounds::compute(dtype));
    let scale = variance.hi + (up(Dd::from(drift * drift)).hi + least) * 2.0;
    let limit = round::max_value(bounds::compute(dtype)) / 2.0;
    let overflow = up(squares).hi > limit || Dd::from(total).ldexp(exponent).hi > limit;
    if !root {
        return Expected { overflow, ..Expected::rounded(dtype, variance, scale.min(f64::MAX)) };
    }
    // √(v + e) − √v is at most e/√v, and at most √e.
    let value = variance.sqrt();
    let t = sums + bounds::product_tolerance(dtype, 8);
    let scale = if value.hi > 0.0 { (scale / value.hi).min((scale / t).sqrt()) } else { (scale / t).sqrt() };
    Expected { overflow, ..Expected::rounded(dtype, value, scale.min(f64::MAX)) }
}

/// The error bound is relative to the norm: the root halves the relative error of the sum.
fn norm(dtype: DType, each: &Each<'_>) -> Expected {
    let (greatest, exponent) = magnitude(each);
    if !greatest.is_finite() {
        return Expected::rounded(dtype, Dd::from(greatest), 0.0);
    }
    let mut squares = Dd::ZERO;
    each(&mut |x| squares = squares + Dd::product(scaled(x, exponent), scaled(x, exponent)));
    let value = squares.sqrt().ldexp(exponent);
    Expected::rounded(dtype, value, value.hi.min(f64::MAX))
}

/// With the maximum g and s = Σ exp(x − g): a relative error of s is an absolute error of log s. The error of the
/// logarithm is relative to log s. Rounding x − g changes s by at most the weighted mean of g − x.
fn log_sum_exp(dtype: DType, each: &Each<'_>) -> Expected {
    let mut greatest = f64::NEG_INFINITY;
    each(&mut |x| greatest = maximum(greatest, x));
    if !greatest.is_finite() {
        return Expected::rounded(dtype, Dd::from(greatest), 0.0);
    }
    let (mut sum, mut fast, mut weighted) = (Dd::ZERO, 0.0, 0.0);
    each(&mut |x| {
        let distance = greatest - x;
        let term = (-distance).exp();
        fast += term;
        weighted += if term > 0.0 { term * distance } else { 0.0 };
        if dtype == DType::F64 && term > 0.0 {
            sum = sum + (Dd::from(x) - Dd::from(greatest)).exp();
        }
    });
    let log = if dtype == DType::F64 { sum.ln() } else { Dd::from(fast).ln() };
    Expected::rounded(dtype, Dd::from(greatest) + log, 1.0 + log.hi.abs() + weighted / fast)
}

/// Whether any element, or `all` of them, is nonzero: 1 or 0 as u8. Of no elements, any is 0 and all is 1.
///
/// # Errors
/// [`Error::Axis`].
pub fn truth<'a>(all: bool, a: &'a Array, axes: &[usize], keepdim: bool) -> Result<Outcome<'a>, Error> {
    let op = if all { "all" } else { "any" };
    let Plan { shape, kept, reduced, .. } = Plan::new(op, a.shape(), axes, keepdim)?;
    Ok(Outcome::new(DType::U8, shape, Judge::Exact, move |i| {
        let (mut any, mut every) = (false, true);
        reduced.walk(kept.offset_of(i), |offset| {
            let true_here = match a.get(offset) {
                Value::Int(i) => i != 0,
                Value::Float(x) => x != 0.0,
            };
            any |= true_here;
            every &= true_here;
        });
        from_int(DType::U8, i128::from(if all { every } else { any }))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    fn value(op: StatOp, dtype: DType, values: &[f64]) -> f64 {
        let array = Array::from_f64(dtype, &[values.len()], values).unwrap();
        let expected = stat(op, &array, &[0], false).unwrap().at(0);
        round::decode_float(dtype, expected.bits)
    }

    #[test]
    fn by_hand() {
        // Mean 5, squares 9 1 1 1 0 0 4 16.
        let eight = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(value(StatOp::Var, DType::F64, &eight), 32.0 / 7.0);
        assert_eq!(value(StatOp::Std, DType::F64, &[1.0, 5.0, 9.0]), 4.0);
        assert_eq!(value(StatOp::Norm, DType::F32, &[3.0, -4.0]), 5.0);
        assert_eq!(value(StatOp::LogSumExp, DType::F64, &[0.0, 0.0]), std::f64::consts::LN_2);
        assert_eq!(value(StatOp::LogSumExp, DType::F64, &[1000.0, 0.0]), 1000.0);
    }

    #[test]
    fn extremes() {
        assert_eq!(value(StatOp::Var, DType::F64, &[1e200, 1e200, 1e200]), 0.0);
        for scale in [power_of_two(1000), power_of_two(-1070)] {
            assert_eq!(value(StatOp::Norm, DType::F64, &[3.0 * scale, 4.0 * scale]), 5.0 * scale);
        }
        assert_eq!(value(StatOp::Norm, DType::F32, &[0.0, -0.0]), 0.0);
        assert_eq!(value(StatOp::Norm, DType::F32, &[]), 0.0);
        assert_eq!(value(StatOp::Norm, DType::F32, &[1.0, -INF]), INF);
        assert!(value(StatOp::Norm, DType::F32, &[f64::NAN, INF]).is_nan());
        assert!(value(StatOp::Var, DType::F32, &[1.0]).is_nan());
        assert!(value(StatOp::Std, DType::F32, &[1.0, INF]).is_nan());
        assert_eq!(value(StatOp::LogSumExp, DType::F32, &[]), -INF);
        assert_eq!(value(StatOp::LogSumExp, DType::F32, &[-INF, -INF]), -INF);
        assert_eq!(value(StatOp::LogSumExp, DType::F32, &[-INF, INF]), INF);
        assert_eq!(value(StatOp::LogSumExp, DType::F32, &[-INF, 2.0]), 2.0);
        assert!(value(StatOp::LogSumExp, DType::F32, &[f64::NAN, INF]).is_nan());
    }

    #[test]
    fn truths() {
        let a = Array::from_f64(DType::F16, &[2, 2], &[0.0, f64::NAN, -0.0, 0.0]).unwrap();
        assert_eq!(truth(false, &a, &[1], false).unwrap().to_bytes(), [1, 0]);
        assert_eq!(truth(true, &a, &[0], true).unwrap().to_bytes(), [0, 0]);
        let nothing = Array::from_f64(DType::F16, &[1, 0], &[]).unwrap();
        assert_eq!(truth(false, &nothing, &[1], false).unwrap().to_bytes(), [0]);
        assert_eq!(truth(true, &nothing, &[1], false).unwrap().to_bytes(), [1]);
    }
}
