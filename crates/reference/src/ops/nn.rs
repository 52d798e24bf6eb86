//! Softmax and normalisation.
//!
//! The quantities that a row's elements share are computed once per row, when the outcome is made.

use std::borrow::Cow;

use super::binary::{BinaryOp, binary};
use crate::array::Data;
use crate::round;
use crate::shape::count;
use crate::{Array, DType, Dd, Error, Expected, Judge, Outcome, bounds};

/// The quantities that the elements of one softmax share.
struct Line {
    /// The maximum element.
    top: f64,
    /// Σ e^(x − top).
    sum: Dd,
    /// Σ |x − top|·e^(x − top) / sum.
    spread: f64,
    /// Whether the whole line is NaN: it has a NaN or a +∞, or only −∞.
    undefined: bool,
}

/// e^x / Σ e^x along `axis`, or with `log` its logarithm. Floats only.
///
/// A line with a NaN, a +∞ or only −∞ is NaN throughout. Otherwise an element of −∞ gives 0 (with `log`: −∞).
///
/// # Errors
/// [`Error::Unsupported`], [`Error::Axis`], [`Error::TooLarge`].
pub fn softmax(a: &Array, axis: usize, log: bool) -> Result<Outcome<'_>, Error> {
    let op = if log { "log_softmax" } else { "softmax" };
    let (dtype, shape) = (a.dtype(), a.shape().to_vec());
    let Data::Float(values) = &a.data else { return Err(Error::Unsupported { op, dtype }) };
    let Some(&length) = shape.get(axis) else { return Err(Error::Axis { op, axis, shape }) };
    let inner = count(&shape[axis + 1..])?;
    let lines: Vec<Line> = (0..values.len() / length.max(1))
        .map(|line| {
            let first = line / inner * inner * length + line % inner;
            line_of(dtype, || values[first..].iter().step_by(inner).take(length).copied())
        })
        .collect();
    let t = bounds::sum_tolerance(dtype, length);
    Ok(Outcome::new(dtype, shape, Judge::Within { ulps: 1.0, t }, move |i| {
        let line = &lines[i / (inner * length) * inner + i % inner];
        softmax_element(dtype, values[i], line, t, log)
    }))
}

fn line_of<I: Iterator<Item = f64>>(dtype: DType, values: impl Fn() -> I) -> Line {
    let top = values().fold(f64::NEG_INFINITY, f64::max);
    let undefined = !top.is_finite() || values().any(f64::is_nan);
    let (mut sum, mut spread) = (Dd::ZERO, 0.0);
    if !undefined {
        for x in values() {
            let power = power(dtype, x, top);
            sum = sum + power;
            if power.hi > 0.0 {
                spread += (top - x) * power.hi;
            }
        }
    }
    Line { top, spread: spread / sum.hi, sum, undefined }
}

/// e^(x − top).
fn power(dtype: DType, x: f64, top: f64) -> Dd {
    if dtype == DType::F64 { Dd::sum(x, -top).exp() } else { Dd::from((x - top).exp()) }
}

/// One result with its error bound. In units u of half an ulp of 1, to first order, with d = |x − top|:
///
/// - An exponential has the error of its argument's rounding, d·u, and that of exp, 5 u (2.5 ulp, see
///   [`bounds::BOUNDS`]).
/// - A device may first compute exponentials relative to another number than `top`, which all elements seen so far
///   exceed by at most 2, and later multiply by an exponential of the difference. For a term of the sum, both arguments
///   together are at most 3d + 4. The multiplications add 7 u (an exp, a product, and what remains of earlier ones,
///   each e^−2 of the next).
/// - The sum therefore has an error of t for its additions, and of (5 + 4 + 7 + 3·spread) u.
/// - Softmax: exponential 5 + d, sum 16 + 3·spread, reciprocal 1, product 1. An exponential below the normal numbers
///   has the absolute error of the smallest of them.
/// - Log-softmax: x − top has an error of d·u. The logarithm has the relative error of the sum as an absolute one, and
///   5 u (2.5 ulp) of itself. The last subtraction is covered by the ulp.
fn softmax_element(dtype: DType, x: f64, line: &Line, t: f64, log: bool) -> Expected {
    if line.undefined {
        return Expected::rounded(dtype, Dd::from(f64::NAN), 0.0);
    }
    let d = line.top - x;
    let units = roundoff(dtype) / t;
    if log {
        let log_sum = if dtype == DType::F64 { line.sum.ln() } else { Dd::from(line.sum.hi.ln()) };
        let scale = 1.0 + units * (16.0 + 3.0 * line.spread + d + 5.0 * log_sum.hi);
        let value = Dd::sum(x, -line.top) - log_sum;
        return Expected::rounded(dtype, value, if d.is_finite() { scale } else { 0.0 });
    }
    let value = power(dtype, x, line.top) / line.sum;
    let normal = value.hi.max(round::min_normal(bounds::compute(dtype)));
    let scale = value.hi + normal * units * (23.0 + d + 3.0 * line.spread);
    Expected::rounded(dtype, value, if d.is_finite() { scale } else { 0.0 })
}

/// u of a dtype's compute type.
fn roundoff(dtype: DType) -> f64 {
    if dtype == DType::F64 { f64::EPSILON / 2.0 } else { f64::from(f32::EPSILON) / 2.0 }
}

/// (x − mean) / √(variance + eps) · weight + bias over the last axis. The variance divides by the number of elements.
/// Weight and bias have the length of the axis. Floats only. A row with a NaN or an infinity is NaN throughout.
///
/// # Errors
/// [`Error::Unsupported`], [`Error::Rank`], [`Error::DTypes`], and [`Error::Broadcast`] for a weight or bias of another
/// shape.
pub fn layer_norm<'a>(
    a: &'a Array,
    weight: Option<&'a Array>,
    bias: Option<&'a Array>,
    eps: f64,
) -> Result<Outcome<'a>, Error> {
    let op = "layer_norm";
    let &length = a.shape().last().ok_or(Error::Rank { op })?;
    rows(Rows { op, centred: true, length, channels: length, groups: 1, inner: 1, eps }, a, weight, bias)
}

/// x / √(mean of x² + eps) · weight over the last axis. Floats only. A row with a NaN is NaN throughout. In a row with
/// an infinity finite elements give 0, and the others NaN.
///
/// # Errors
/// As [`layer_norm`].
pub fn rms_norm<'a>(a: &'a Array, weight: Option<&'a Array>, eps: f64) -> Result<Outcome<'a>, Error> {
    let op = "rms_norm";
    let &length = a.shape().last().ok_or(Error::Rank { op })?;
    rows(Rows { op, centred: false, length, channels: length, groups: 1, inner: 1, eps }, a, weight, None)
}

/// [`rms_norm`] of a + b, which is rounded to the dtype. `b` broadcasts to the shape of `a`.
///
/// # Errors
/// As [`rms_norm`] and [`binary`](crate::binary).
pub fn add_rms_norm<'a>(
    a: &Array,
    b: &Array,
    weight: Option<&'a Array>,
    eps: f64,
) -> Result<Outcome<'a>, Error> {
    let (op, dtype) = ("add_rms_norm", a.dtype());
    let &length = a.shape().last().ok_or(Error::Rank { op })?;
    if !dtype.is_float() {
        return Err(Error::Unsupported { op, dtype });
    }
    let sums = binary(BinaryOp::Add, a, b)?;
    if sums.shape() != a.shape() {
        return Err(Error::Broadcast { op, left: a.shape().to_vec(), right: b.shape().to_vec() });
    }
    let values: Vec<f64> = sums.iter().map(|sum| sum.value.hi).collect();
    let arranged = Rows { op, centred: false, length, channels: length, groups: 1, inner: 1, eps };
    rows_of(arranged, (dtype, a.shape()), Cow::Owned(values), weight, None)
}

/// [`layer_norm`] over groups of channels, axis 1, and all later axes. Weight and bias have one number per channel.
///
/// # Errors
/// As [`layer_norm`], and [`Error::Axis`] if the groups do not divide the channels.
pub fn group_norm<'a>(
    a: &'a Array,
    groups: usize,
    weight: Option<&'a Array>,
    bias: Option<&'a Array>,
    eps: f64,
) -> Result<Outcome<'a>, Error> {
    let op = "group_norm";
    let &channels = a.shape().get(1).ok_or(Error::Rank { op })?;
    if groups == 0 || channels % groups != 0 {
        return Err(Error::Axis { op, axis: 1, shape: a.shape().to_vec() });
    }
    let inner = count(&a.shape()[2..])?;
    rows(
        Rows { op, centred: true, length: channels / groups * inner, channels, groups, inner, eps },
        a,
        weight,
        bias,
    )
}

/// The arrangement of elements in rows, and the parameters of the normalisation.
struct Rows {
    op: &'static str,
    centred: bool,
    length: usize,
    /// Length of weight and bias.
    channels: usize,
    /// Rows that cover all channels once.
    groups: usize,
    /// Elements of a channel in a row.
    inner: usize,
    eps: f64,
}

/// The quantities that the elements of a row share.
struct Row {
    mean: Dd,
    /// 1/√(variance + eps).
    factor: Dd,
    /// The mean of |x|.
    magnitude: f64,
}

fn rows<'a>(
    rows: Rows,
    a: &'a Array,
    weight: Option<&'a Array>,
    bias: Option<&'a Array>,
) -> Result<Outcome<'a>, Error> {
    let Data::Float(values) = &a.data else {
        return Err(Error::Unsupported { op: rows.op, dtype: a.dtype() });
    };
    rows_of(rows, (a.dtype(), a.shape()), Cow::Borrowed(values), weight, bias)
}

fn rows_of<'a>(
    rows: Rows,
    (dtype, shape): (DType, &[usize]),
    values: Cow<'a, [f64]>,
    weight: Option<&'a Array>,
    bias: Option<&'a Array>,
) -> Result<Outcome<'a>, Error> {
    let Rows { op, centred, length, channels, groups, inner, eps } = rows;
    let weight = weight.map(|weight| parameters(op, (dtype, shape), weight, channels)).transpose()?;
    let bias = bias.map(|bias| parameters(op, (dtype, shape), bias, channels)).transpose()?;
    let eps = rounded_eps(dtype, eps);
    let stats: Vec<Row> = values.chunks(length.max(1)).map(|row| row_of(row, centred, eps)).collect();
    let t = bounds::sum_tolerance(dtype, length);
    Ok(Outcome::new(dtype, shape.to_vec(), Judge::Within { ulps: 1.0, t }, move |i| {
        let (row, x) = (&stats[i / length], values[i]);
        let channel = i / length % groups * (length / inner) + i % length / inner;
        let (w, b) = (weight.map_or(1.0, |w| w[channel]), bias.map_or(0.0, |b| b[channel]));
        let d = Dd::from(x) - row.mean;
        let value = d * row.factor * Dd::from(w) + Dd::from(b);
        Expected::rounded(dtype, value, row_scale(dtype, row, d.hi.abs(), w.abs(), t, centred))
    }))
}

fn row_of(row: &[f64], centred: bool, eps: f64) -> Row {
    let k = Dd::from(row.len() as f64);
    let mean = if centred { row.iter().fold(Dd::ZERO, |sum, x| sum + Dd::from(*x)) / k } else { Dd::ZERO };
    let squares = row.iter().fold(Dd::ZERO, |sum, x| {
        let d = Dd::from(*x) - mean;
        sum + d * d
    });
    let factor = Dd::ONE / (squares / k + Dd::from(eps)).sqrt();
    Row { mean, factor, magnitude: row.iter().map(|x| x.abs()).sum::<f64>() / k.hi }
}

/// The scale, so that t·scale covers the errors before the last rounding. In relative terms, with t for sums (at least
/// 3.4 u), d = |x − mean| and m = Σ|x|/k:
///
/// - The mean has an error of t·m for its sum and u·m ≤ t·m/3 for the division. So has d, in addition to its own
///   rounding.
/// - The square of that error adds to the variance: (t·m·factor)² of it. The variance also has an error of t for its
///   sum and 3 u for its terms and the division. The factor has half of all that, and 2.5 u for the sum with eps, the
///   root and the quotient.
/// - Two products add 2 u. Together d has an error of t/2 + 7 u ≤ 3 t.
/// - A product below the normal numbers has an error of u of the smallest of them, magnified by the weight.
fn row_scale(dtype: DType, row: &Row, d: f64, w: f64, t: f64, centred: bool) -> f64 {
    let factor = row.factor.hi;
    let shift = if centred { row.magnitude } else { 0.0 };
    let mean = shift * 4.0 / 3.0 + 0.5 * d * t * (shift * factor) * (shift * factor);
    let scale = w * (factor * (mean + 3.0 * d) + round::min_normal(bounds::compute(dtype)));
    if scale.is_finite() { scale } else { 0.0 }
}

/// (x − mean) / √(variance + eps) · weight + bias, with one of each per channel, axis 1. Floats only.
///
/// # Errors
/// As [`layer_norm`].
pub fn batch_norm<'a>(
    a: &'a Array,
    mean: &'a Array,
    variance: &'a Array,
    weight: Option<&'a Array>,
    bias: Option<&'a Array>,
    eps: f64,
) -> Result<Outcome<'a>, Error> {
    let op = "batch_norm";
    let dtype = a.dtype();
    let Data::Float(values) = &a.data else { return Err(Error::Unsupported { op, dtype }) };
    let &channels = a.shape().get(1).ok_or(Error::Rank { op })?;
    let inner = count(&a.shape()[2..])?;
    let mean = parameters(op, (dtype, a.shape()), mean, channels)?;
    let variance = parameters(op, (dtype, a.shape()), variance, channels)?;
    let weight = weight.map(|weight| parameters(op, (dtype, a.shape()), weight, channels)).transpose()?;
    let bias = bias.map(|bias| parameters(op, (dtype, a.shape()), bias, channels)).transpose()?;
    let eps = rounded_eps(dtype, eps);
    // There are no sums: t is that of a single term, 3.4 u.
    let t = bounds::sum_tolerance(dtype, 1);
    Ok(Outcome::new(dtype, a.shape().to_vec(), Judge::Within { ulps: 1.0, t }, move |i| {
        let channel = i / inner % channels;
        let (w, b) = (weight.map_or(1.0, |w| w[channel]), bias.map_or(0.0, |b| b[channel]));
        let factor = Dd::ONE / Dd::sum(variance[channel], eps).sqrt();
        let product = Dd::sum(values[i], -mean[channel]) * factor * Dd::from(w);
        // The product's error is 5.5 u: 1 for the difference, half of 1 for the sum with eps, 1 each for root, quotient
        // and two products.
        let scale = 2.0 * product.hi.abs() + w.abs() * round::min_normal(bounds::compute(dtype));
        Expected::rounded(dtype, product + Dd::from(b), if scale.is_finite() { scale } else { 0.0 })
    }))
}

/// eps rounded to the compute type, as devices do.
fn rounded_eps(dtype: DType, eps: f64) -> f64 {
    if dtype == DType::F64 { eps } else { f64::from(eps as f32) }
}

/// The parameters, one number per channel.
fn parameters<'a>(
    op: &'static str,
    (dtype, shape): (DType, &[usize]),
    given: &'a Array,
    channels: usize,
) -> Result<&'a [f64], Error> {
    let Data::Float(values) = &given.data else {
        return Err(Error::DTypes { op, left: dtype, right: given.dtype() });
    };
    if given.dtype() != dtype {
        return Err(Error::DTypes { op, left: dtype, right: given.dtype() });
    }
    if given.shape() != [channels] {
        return Err(Error::Broadcast { op, left: shape.to_vec(), right: given.shape().to_vec() });
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(outcome: &Outcome<'_>) -> Vec<f64> {
        outcome.iter().map(|expected| expected.value.hi).collect()
    }

    fn array(dtype: DType, shape: &[usize], values: &[f64]) -> Array {
        Array::from_f64(dtype, shape, values).unwrap()
    }

    #[track_caller]
    fn near(got: &[f64], expected: &[f64]) {
        assert_eq!(got.len(), expected.len());
        for (got, expected) in got.iter().zip(expected) {
            let same = got == expected || got.is_nan() && expected.is_nan();
            assert!(same || (got - expected).abs() <= 1e-15 * expected.abs(), "{got:?} for {expected:?}");
        }
    }

    /// e^0 : e^(ln 2) : e^(ln 4) are 1 : 2 : 4, of 7.
    #[test]
    fn softmax_by_hand() {
        let (two, four) = (std::f64::consts::LN_2, 2.0 * std::f64::consts::LN_2);
        let x = array(DType::F64, &[1, 3], &[0.0, two, four]);
        near(&floats(&softmax(&x, 1, false).unwrap()), &[1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0]);
        let log = floats(&softmax(&x, 1, true).unwrap());
        near(&log, &[-(7f64.ln()), two - 7f64.ln(), four - 7f64.ln()]);
        // Along axis 0 every line has one element.
        assert_eq!(floats(&softmax(&x, 0, false).unwrap()), [1.0; 3]);
    }

    #[test]
    fn softmax_of_columns() {
        let x = array(DType::F32, &[2, 2, 2], &[0.0, 1.0, 0.0, 1.0, 1e30, -1e30, -1e30, 1e30]);
        let middle = floats(&softmax(&x, 1, false).unwrap());
        assert_eq!(middle, [0.5, 0.5, 0.5, 0.5, 1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn softmax_of_special_values() {
        let inf = f64::INFINITY;
        for dtype in [DType::F16, DType::F32, DType::F64] {
            let x = array(dtype, &[4, 2], &[-inf, 3.0, -inf, -inf, inf, 0.0, f64::NAN, 0.0]);
            let nan = f64::NAN;
            near(&floats(&softmax(&x, 1, false).unwrap()), &[0.0, 1.0, nan, nan, nan, nan, nan, nan]);
            near(&floats(&softmax(&x, 1, true).unwrap()), &[-inf, 0.0, nan, nan, nan, nan, nan, nan]);
        }
    }

    /// −1, 1 have mean 0 and variance 1; 2, 4, 6, 8 have mean 5 and variance 5.
    #[test]
    fn layer_norm_by_hand() {
        let x = array(DType::F64, &[2, 2], &[-1.0, 1.0, 7.0, 9.0]);
        let (w, b) = (array(DType::F64, &[2], &[2.0, 3.0]), array(DType::F64, &[2], &[10.0, 20.0]));
        near(&floats(&layer_norm(&x, Some(&w), Some(&b), 0.0).unwrap()), &[8.0, 23.0, 8.0, 23.0]);
        near(&floats(&layer_norm(&x, None, None, 3.0).unwrap()), &[-0.5, 0.5, -0.5, 0.5]);
        let x = array(DType::F64, &[4], &[2.0, 4.0, 6.0, 8.0]);
        near(&floats(&layer_norm(&x, None, None, 4.0).unwrap()), &[-1.0, -1.0 / 3.0, 1.0 / 3.0, 1.0]);
    }

    /// 3, 4 have the mean square 12.5; with eps 3.5 the root is 4.
    #[test]
    fn rms_norm_by_hand() {
        let x = array(DType::F32, &[1, 2], &[3.0, 4.0]);
        let w = array(DType::F32, &[2], &[1.0, -2.0]);
        near(&floats(&rms_norm(&x, Some(&w), 3.5).unwrap()), &[0.75, -2.0]);
        let x = array(DType::F32, &[1, 2], &[f64::INFINITY, 1.0]);
        near(&floats(&rms_norm(&x, None, 1.0).unwrap()), &[f64::NAN, 0.0]);
    }

    #[test]
    fn add_rms_norm_by_hand() {
        // 3 and 4 are the sums.
        let (x, y) = (array(DType::F32, &[1, 2], &[1.0, 2.0]), array(DType::F32, &[2], &[2.0, 2.0]));
        let w = array(DType::F32, &[2], &[1.0, -2.0]);
        near(&floats(&add_rms_norm(&x, &y, Some(&w), 3.5).unwrap()), &[0.75, -2.0]);
        // 1 + 2^-9 is a tie of bf16, and rounds to 1 before it is normalised: its norm is 1, as that of a single number.
        let (x, y) = (array(DType::BF16, &[1], &[1.0]), array(DType::BF16, &[1], &[2f64.powi(-9)]));
        near(&floats(&add_rms_norm(&x, &y, None, 3.0).unwrap()), &[0.5]);
        assert!(matches!(
            add_rms_norm(&y, &array(DType::BF16, &[2], &[1.0, 1.0]), None, 0.0),
            Err(Error::Broadcast { .. })
        ));
    }

    /// Groups of two channels of two elements each: 1 1 3 3 has mean 2 and variance 1, 0 0 0 4 mean 1 and variance 3.
    #[test]
    fn group_norm_by_hand() {
        let x = array(DType::F64, &[1, 4, 2], &[1.0, 1.0, 3.0, 3.0, 0.0, 0.0, 0.0, 4.0]);
        let w = array(DType::F64, &[4], &[1.0, 2.0, 3.0, 4.0]);
        let b = array(DType::F64, &[4], &[0.0, 0.0, 0.0, 1.0]);
        let got = floats(&group_norm(&x, 2, Some(&w), Some(&b), 0.0).unwrap());
        let r = 1.0 / 3f64.sqrt();
        near(&got, &[-1.0, -1.0, 2.0, 2.0, -3.0 * r, -3.0 * r, 1.0 - 4.0 * r, 1.0 + 12.0 * r]);
        assert!(matches!(group_norm(&x, 3, None, None, 0.0), Err(Error::Axis { axis: 1, .. })));
    }

    #[test]
    fn batch_norm_by_hand() {
        let x = array(DType::F32, &[1, 2, 2], &[1.0, 3.0, 5.0, 9.0]);
        let of = |values: &[f64]| array(DType::F32, &[2], values);
        let (mean, variance, w, b) = (of(&[1.0, 5.0]), of(&[3.0, 15.0]), of(&[2.0, 3.0]), of(&[0.0, 7.0]));
        let got = floats(&batch_norm(&x, &mean, &variance, Some(&w), Some(&b), 1.0).unwrap());
        assert_eq!(got, [0.0, 2.0, 7.0, 10.0]);
        assert!(matches!(
            batch_norm(&x, &w, &of(&[1.0, 1.0]), Some(&x), None, 0.0),
            Err(Error::Broadcast { .. })
        ));
    }
}
