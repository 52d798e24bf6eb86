//! Scaled dot product attention.
//!
//! # Error bound
//! The result is Σ w_j v_j / Σ w_j over the keys j, with w_j = e^(s_j − m), s_j = scale · Σ_i q_i k_ji + mask_j, and m
//! the maximum of s_j. (Any other m gives the same quotient, so that errors of m do not matter.) Errors are in steps of
//! t = 2e-7 (4e-16 for f64), which is 3.4 times the unit roundoff u:
//! - A device's s_j has an error of √d · A_j steps, A_j = |scale| Σ_i |q_i k_ji|, like any dot product of d terms.
//!   Rounding scale and the product with it adds one step of A_j, and adding the mask one step of |mask_j|.
//! - s_j − m is rounded once, and again whenever a larger score scales the weight down. These errors are relative to
//!   differences that sum to |s_j − m|: one step of it. An absolute error of the exponent is a relative error of w_j.
//! - The exponential (5 u), its products and the quotient are four steps. Scaling down rounds with 6 u, at most once
//!   per 32 keys: as a random walk √(keys / 32) · 6 u, half a step of √keys.
//! - Both sums have an error of √keys steps of Σ w_j |v_j| and of Σ w_j.
//! - A weight below the normal numbers of the compute type has an absolute error, less than one step of twice the
//!   smallest normal number.
//!
//! So the error of a weight is t · e_j, with e_j = w_j (expm1(t x_j) / t) + 2 normal and
//! `x_j = (√d + 1) A_j + |mask_j| + |s_j − m| + 4 + 1.5 √keys`. It changes the numerator by t e_j |v_j|. It changes the
//! denominator so that the quotient changes by t e_j |result| / Σ w. The scale is therefore Σ e_j (|v_j| + |result|) / Σ w,
//! and t is one step.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::array::Data;
use crate::shape::{IndexMap, broadcast_shapes, broadcast_strides, count};
use crate::{Array, DType, Dd, Error, Expected, Judge, Outcome, bounds, round};

const OP: &str = "scaled_dot_product_attention";

/// The parameters of attention.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct AttentionOptions {
    /// Query i attends to the keys 0 to i.
    pub causal: bool,
    /// Factor of q kᵀ; the default is 1/√d.
    pub scale: Option<f64>,
}

/// softmax(q kᵀ · scale + mask) v for q [b, hq, tq, d], k [b, hk, tk, d], v [b, hk, tk, dv]: [b, hq, tq, dv]. hq is a
/// multiple of hk; neighbouring heads of q share a head of k and v.
///
/// `mask` broadcasts to [b, hq, tq, tk]. A u8 mask selects the keys where it is not 0; a mask of the dtype is added to
/// the scores. A query that attends to no key, or whose scores are all −∞, gives 0.
///
/// # Errors
/// [`Error::Unsupported`], [`Error::DTypes`], [`Error::Broadcast`] for shapes that do not match, [`Error::TooLarge`].
pub fn attention<'a>(
    q: &'a Array,
    k: &'a Array,
    v: &'a Array,
    mask: Option<Cow<'a, Array>>,
    options: AttentionOptions,
) -> Result<Outcome<'a>, Error> {
    let dtype = q.dtype();
    let added = mask.as_deref().filter(|mask| mask.dtype() != DType::U8);
    for other in [Some(k), Some(v), added].into_iter().flatten() {
        if other.dtype() != dtype {
            return Err(Error::DTypes { op: OP, left: dtype, right: other.dtype() });
        }
    }
    let (Data::Float(x), Data::Float(y), Data::Float(z)) = (&q.data, &k.data, &v.data) else {
        return Err(Error::Unsupported { op: OP, dtype });
    };
    let misfit =
        |other: &Array| Error::Broadcast { op: OP, left: q.shape().to_vec(), right: other.shape().to_vec() };
    let &[batch, heads, queries, d] = q.shape() else { return Err(misfit(k)) };
    let (kv_heads, keys) = match *k.shape() {
        [b, h, t, columns] if b == batch && columns == d && heads.checked_rem(h).unwrap_or(heads) == 0 => {
            (h, t)
        }
        _ => return Err(misfit(k)),
    };
    let columns = match *v.shape() {
        [b, h, t, columns] if [b, h, t] == [batch, kv_heads, keys] => columns,
        _ => return Err(misfit(v)),
    };
    let all = [batch, heads, queries, keys];
    let mask_map = match mask.as_deref() {
        Some(mask) if broadcast_shapes(OP, mask.shape(), &all)? == all => {
            Some(IndexMap::new(&all, &broadcast_strides(mask.shape(), &all)))
        }
        Some(mask) => return Err(misfit(mask)),
        None => None,
    };
    let shape = vec![batch, heads, queries, columns];
    count(&shape)?;
    count(&all)?;
    let group = heads.checked_div(kv_heads).unwrap_or(1).max(1);
    let exact = options.scale.map_or(Dd::ONE / Dd::from(d.max(1) as f64).sqrt(), Dd::from);
    let problem = Problem { dtype, d, keys, scale: exact, causal: options.causal };
    let judge = Judge::Within { ulps: 1.0, t: bounds::sum_tolerance(dtype, 1) };
    let rows: Vec<OnceLock<Row>> = (0..batch * heads * queries).map(|_| OnceLock::new()).collect();
    Ok(Outcome::new(dtype, shape, judge, move |i| {
        let (row, column) = (i / columns, i % columns);
        let (head, query) = (row / queries, row % queries);
        let kv = head / heads * kv_heads + head % heads / group;
        let weights = rows[row].get_or_init(|| {
            let masking = |key: usize| match (mask.as_deref().map(|mask| &mask.data), &mask_map) {
                (Some(Data::Int(mask)), Some(mask_map)) => {
                    (mask[mask_map.offset_of(row * keys + key)] != 0).then_some(0.0)
                }
                (Some(Data::Float(mask)), Some(mask_map)) => Some(mask[mask_map.offset_of(row * keys + key)]),
                _ => Some(0.0),
            };
            problem.row(query, &x[row * d..][..d], &y[kv * keys * d..][..keys * d], masking)
        });
        let value = |key: usize| z[(kv * keys + key) * columns + column];
        problem.element(weights, value)
    }))
}

/// The parameters common to all rows.
struct Problem {
    dtype: DType,
    d: usize,
    keys: usize,
    scale: Dd,
    causal: bool,
}

/// The softmax of one row, before the division.
struct Row {
    /// The keys attended to, with their weights and errors e (see the module's documentation).
    weights: Vec<(usize, Dd, f64)>,
    total: Dd,
    /// Whether a score is NaN or +∞, so that the result is NaN.
    nan: bool,
    /// Whether a score may overflow on a device.
    overflow: bool,
}

impl Problem {
    fn row(&self, query: usize, q: &[f64], k: &[f64], mask: impl Fn(usize) -> Option<f64>) -> Row {
        let normal = round::min_normal(bounds::compute(self.dtype));
        let limit = round::max_value(bounds::compute(self.dtype)) * 0.99;
        // Key, score, A, |mask|.
        let mut scores: Vec<(usize, Dd, f64, f64)> = Vec::new();
        let mut row = Row { weights: Vec::new(), total: Dd::ZERO, nan: false, overflow: false };
        for key in 0..if self.causal { self.keys.min(query + 1) } else { self.keys } {
            let Some(added) = mask(key) else { continue };
            let (product, magnitude) = self.dot(q, &k[key * self.d..][..self.d]);
            let score = product * self.scale + Dd::from(added);
            row.nan |= score.hi.is_nan() || score.hi == f64::INFINITY;
            row.overflow |= magnitude > limit || magnitude * self.scale.hi.abs() > limit;
            if score.hi != f64::NEG_INFINITY {
                scores.push((key, score, magnitude * self.scale.hi.abs(), added.abs()));
            }
        }
        if row.nan {
            return row;
        }
        let greatest = scores.iter().fold(f64::NEG_INFINITY, |most, (_, score, ..)| most.max(score.hi));
        let t = bounds::sum_tolerance(self.dtype, 1);
        for (key, score, magnitude, added) in scores {
            let below = score - Dd::from(greatest);
            let weight = if self.dtype == DType::F64 { below.exp() } else { Dd::from(below.hi.exp()) };
            let x = ((self.d as f64).sqrt() + 1.0) * magnitude
                + added
                + below.hi.abs()
                + 4.0
                + 1.5 * (self.keys as f64).sqrt();
            row.weights.push((key, weight, weight.hi * ((t * x).exp_m1() / t) + 2.0 * normal));
            row.total = row.total + weight;
        }
        row
    }

    /// q·k and Σ|q_i k_i|.
    fn dot(&self, q: &[f64], k: &[f64]) -> (Dd, f64) {
        let magnitude = q.iter().zip(k).map(|(x, y)| (x * y).abs()).sum();
        let product = if self.dtype == DType::F64 {
            q.iter().zip(k).fold(Dd::ZERO, |sum, (x, y)| sum + Dd::product(*x, *y))
        } else {
            // Products are exact, and sums in f64 are far more accurate than in f32.
            Dd::from(q.iter().zip(k).map(|(x, y)| x * y).sum::<f64>())
        };
        (product, magnitude)
    }

    fn element(&self, row: &Row, value: impl Fn(usize) -> f64) -> Expected {
        if row.nan {
            return Expected {
                overflow: row.overflow,
                ..Expected::rounded(self.dtype, Dd::from(f64::NAN), 0.0)
            };
        }
        if row.weights.is_empty() {
            return Expected { overflow: row.overflow, ..Expected::rounded(self.dtype, Dd::ZERO, 0.0) };
        }
        let sum = row.weights.iter().fold(Dd::ZERO, |sum, (key, weight, _)| {
            sum + if self.dtype == DType::F64 {
                *weight * Dd::from(value(*key))
            } else {
                Dd::from(weight.hi * value(*key))
            }
        });
        let magnitude: f64 = row.weights.iter().map(|(key, weight, _)| weight.hi * value(*key).abs()).sum();
        let result = sum / row.total;
        let limit = round::max_value(bounds::compute(self.dtype));
        let overflow = row.overflow || magnitude.is_finite() && magnitude > limit * 0.99;
        if !result.is_finite() {
            return Expected { overflow, ..Expected::rounded(self.dtype, result, 0.0) };
        }
        let terms = row.weights.iter().map(|(key, _, error)| error * (value(*key).abs() + result.hi.abs()));
        let scale = (terms.sum::<f64>() / row.total.hi).min(f64::MAX);
        Expected { overflow, ..Expected::rounded(self.dtype, result, scale) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(shape: &[usize], x: &[f64]) -> Array {
        Array::from_f64(DType::F64, shape, x).unwrap()
    }

    fn values(outcome: Result<Outcome<'_>, Error>) -> Vec<f64> {
        outcome.unwrap().iter().map(|expected| expected.value.hi).collect()
    }

    #[test]
    fn two_keys_by_hand() {
        // Scores ln 3 and 0: weights 3/4 and 1/4.
        let (q, k) = (array(&[1, 1, 1, 1], &[1.0]), array(&[1, 1, 2, 1], &[3f64.ln(), 0.0]));
        let v = array(&[1, 1, 2, 2], &[4.0, 8.0, 12.0, -8.0]);
        let plain = AttentionOptions::default();
        let close = |got: Vec<f64>, expected: &[f64]| {
            assert!(got.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-15), "{got:?}");
        };
        close(values(attention(&q, &k, &v, None, plain)), &[6.0, 4.0]);
        let scaled = AttentionOptions { scale: Some(2.0), ..plain };
        close(values(attention(&q, &k, &v, None, scaled)), &[4.8, 6.4]);
        let causal = AttentionOptions { causal: true, ..plain };
        close(values(attention(&q, &k, &v, None, causal)), &[4.0, 8.0]);
        let truth = Array::from_i64(DType::U8, &[2], &[0, 7]).unwrap();
        close(values(attention(&q, &k, &v, Some(Cow::Borrowed(&truth)), plain)), &[12.0, -8.0]);
        let added = array(&[1, 2], &[0.0, 3f64.ln()]);
        close(values(attention(&q, &k, &v, Some(Cow::Borrowed(&added)), plain)), &[8.0, 0.0]);
        let nothing = Array::from_i64(DType::U8, &[], &[0]).unwrap();
        assert_eq!(values(attention(&q, &k, &v, Some(Cow::Borrowed(&nothing)), plain)), [0.0, 0.0]);
        let hidden = array(&[1], &[f64::NEG_INFINITY]);
        assert_eq!(values(attention(&q, &k, &v, Some(Cow::Borrowed(&hidden)), plain)), [0.0, 0.0]);
    }

    #[test]
    fn heads_of_q_share_those_of_k() {
        let q = array(&[1, 4, 1, 1], &[0.0; 4]);
        let k = array(&[1, 2, 1, 1], &[1.0; 2]);
        let v = array(&[1, 2, 1, 1], &[5.0, 6.0]);
        assert_eq!(values(attention(&q, &k, &v, None, AttentionOptions::default())), [5.0, 5.0, 6.0, 6.0]);
        let three = array(&[1, 3, 1, 1], &[0.0; 3]);
        assert!(matches!(
            attention(&three, &k, &v, None, AttentionOptions::default()),
            Err(Error::Broadcast { .. })
        ));
    }

    #[test]
    fn nan_and_infinite_scores_give_nan() {
        let v = array(&[1, 1, 2, 1], &[1.0, 2.0]);
        let k = array(&[1, 1, 2, 1], &[1.0, f64::INFINITY]);
        for (q, nan) in [(1.0, true), (f64::NAN, true), (-1.0, false)] {
            let got =
                values(attention(&array(&[1, 1, 1, 1], &[q]), &k, &v, None, AttentionOptions::default()));
            assert_eq!((got[0].is_nan(), nan || got[0] == 1.0), (nan, true), "{q}");
        }
    }

    #[test]
    fn the_tolerance_grows_with_the_scores() {
        let v = array(&[1, 1, 2, 1], &[1.0, -1.0]);
        let scale = |size: f64| {
            let (q, k) = (array(&[1, 1, 1, 1], &[size]), array(&[1, 1, 2, 1], &[1.0, 1.0]));
            attention(&q, &k, &v, None, AttentionOptions::default()).unwrap().at(0).scale
        };
        // (2 · 1 + 4 + 1.5 √2) · (1 + 0), and with A = 100.
        assert!((scale(1.0) - (6.0 + 1.5 * 2f64.sqrt())).abs() < 1e-9);
        assert!((scale(100.0) - (204.0 + 1.5 * 2f64.sqrt())).abs() < 1e-6);
    }
}
