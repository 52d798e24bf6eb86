//! Reductions over any set of axes.

use super::{from_int, maximum, minimum, operations, sums};
use crate::array::Data;
use crate::dd::Dd;
use crate::round::{self, power_of_two};
use crate::shape::{IndexMap, dense_strides};
use crate::{Array, DType, Error, Expected, Judge, Outcome, bounds};

operations! {
    /// A reduction.
    ReduceOp {
        /// Sum in the array's dtype. Integers wrap, floats up to `f32` accumulate in `f32`. 0 for no elements.
        Sum = "sum",
        /// Product in the array's dtype, likewise. 1 for no elements.
        Prod = "prod",
        /// Minimum: NaN propagates, −0 is less than +0.
        Min = "min",
        /// Maximum: NaN propagates, −0 is less than +0.
        Max = "max",
        /// Row-major position of the minimum within the reduced axes, as `u32`: the first NaN, else the first of equals.
        ArgMin = "argmin",
        /// Row-major position of the maximum within the reduced axes, as `u32`: the first NaN, else the first of equals.
        ArgMax = "argmax",
        /// Sum divided by the number of elements; floats only. NaN for no elements.
        Mean = "mean",
    }
}

impl ReduceOp {
    /// Whether the operation supports a dtype: all support all, except that mean is for floats only.
    pub fn supports(self, dtype: DType) -> bool {
        dtype.is_float() || self != ReduceOp::Mean
    }

    /// Whether the operation has a value for no elements.
    pub fn allows_nothing(self) -> bool {
        matches!(self, ReduceOp::Sum | ReduceOp::Prod | ReduceOp::Mean)
    }

    /// Dtype of the result.
    pub fn output(self, dtype: DType) -> DType {
        if matches!(self, ReduceOp::ArgMin | ReduceOp::ArgMax) { DType::U32 } else { dtype }
    }

    fn judge(self, dtype: DType, length: usize) -> Judge {
        match self {
            _ if dtype.is_int() => Judge::Exact,
            ReduceOp::Sum | ReduceOp::Mean => {
                Judge::Within { ulps: 1.0, t: bounds::sum_tolerance(dtype, length) }
            }
            ReduceOp::Prod => Judge::Within { ulps: 1.0, t: bounds::product_tolerance(dtype, length) },
            _ => Judge::Exact,
        }
    }
}

/// Reduces `axes` of `a`, in any order, by `op`. The axes are dropped, or kept with length 1 if `keepdim`. With no
/// axes, single elements are reduced; with all axes, the whole array.
///
/// # Errors
/// [`Error::Unsupported`], [`Error::Axis`], [`Error::Nothing`].
pub fn reduce<'a>(op: ReduceOp, a: &'a Array, axes: &[usize], keepdim: bool) -> Result<Outcome<'a>, Error> {
    let dtype = a.dtype();
    if !op.supports(dtype) {
        return Err(Error::Unsupported { op: op.name(), dtype });
    }
    let Plan { shape, kept, reduced, length } = Plan::new(op.name(), a.shape(), axes, keepdim)?;
    if length == 0 && !op.allows_nothing() {
        return Err(Error::Nothing { op: op.name(), shape: a.shape().to_vec(), axes: axes.to_vec() });
    }
    let judge = op.judge(dtype, length);
    Ok(match &a.data {
        Data::Int(values) => Outcome::new(op.output(dtype), shape, judge, move |i| {
            on_ints(op, dtype, values, kept.offset_of(i), &reduced)
        }),
        Data::Float(values) => Outcome::new(op.output(dtype), shape, judge, move |i| {
            on_floats(op, dtype, values, kept.offset_of(i), &reduced, length)
        }),
    })
}

/// The elements of each output.
pub(super) struct Plan {
    pub(super) shape: Vec<usize>,
    pub(super) kept: IndexMap,
    pub(super) reduced: IndexMap,
    pub(super) length: usize,
}

impl Plan {
    pub(super) fn new(
        op: &'static str,
        shape: &[usize],
        axes: &[usize],
        keepdim: bool,
    ) -> Result<Plan, Error> {
        let mut is_reduced = vec![false; shape.len()];
        for axis in axes {
            match is_reduced.get_mut(*axis) {
                Some(reduced) if !*reduced => *reduced = true,
                _ => return Err(Error::Axis { op, axis: *axis, shape: shape.to_vec() }),
            }
        }
        let strides = dense_strides(shape);
        let pick = |reduced: bool| {
            let chosen = || (0..shape.len()).filter(|axis| is_reduced[*axis] == reduced);
            let dims: Vec<usize> = chosen().map(|axis| shape[axis]).collect();
            let strides: Vec<usize> = chosen().map(|axis| strides[axis]).collect();
            (IndexMap::new(&dims, &strides), dims)
        };
        let ((kept, kept_dims), (reduced, reduced_dims)) = (pick(false), pick(true));
        let with_ones =
            || (0..shape.len()).map(|axis| if is_reduced[axis] { 1 } else { shape[axis] }).collect();
        Ok(Plan {
            shape: if keepdim { with_ones() } else { kept_dims },
            kept,
            reduced,
            length: reduced_dims.iter().product(),
        })
    }
}

fn on_ints(op: ReduceOp, dtype: DType, values: &[i64], base: usize, reduced: &IndexMap) -> Expected {
    let fold = |start: i128, step: fn(i128, i128) -> i128| {
        let mut result = start;
        reduced.walk(base, |index| result = step(result, values[index].into()));
        from_int(dtype, result)
    };
    match op {
        ReduceOp::Sum => fold(0, |a, b| a + b),
        ReduceOp::Prod => fold(1, i128::wrapping_mul),
        ReduceOp::Min => fold(i128::MAX, i128::min),
        ReduceOp::Max => fold(i128::MIN, i128::max),
        ReduceOp::ArgMin => position(values, base, reduced, |a, best| a < best),
        ReduceOp::ArgMax => position(values, base, reduced, |a, best| a > best),
        ReduceOp::Mean => unreachable!("not defined for integers"),
    }
}

fn on_floats(
    op: ReduceOp,
    dtype: DType,
    values: &[f64],
    base: usize,
    reduced: &IndexMap,
    length: usize,
) -> Expected {
    let sum = |divisor| {
        sums::expected(dtype, divisor, 1, |factor, sum| {
            reduced.walk(base, |index| sum.add(values[index] * factor));
        })
    };
    let extreme = |choose: fn(f64, f64) -> f64| {
        let mut best = None;
        reduced
            .walk(base, |index| best = Some(best.map_or(values[index], |best| choose(best, values[index]))));
        Expected::exact(dtype, round::round_f64(dtype, best.unwrap_or(f64::NAN)))
    };
    match op {
        ReduceOp::Sum => sum(1.0),
        ReduceOp::Mean => sum(length as f64),
        ReduceOp::Prod => product(dtype, values, base, reduced),
        ReduceOp::Min => extreme(minimum),
        ReduceOp::Max => extreme(maximum),
        ReduceOp::ArgMin => position(values, base, reduced, |a, best| beats(a, best, minimum)),
        ReduceOp::ArgMax => position(values, base, reduced, |a, best| beats(a, best, maximum)),
    }
}

/// Whether `choose` prefers `a` to `best`. It prefers neither of equals.
fn beats(a: f64, best: f64, choose: fn(f64, f64) -> f64) -> bool {
    !best.is_nan() && a.to_bits() != best.to_bits() && choose(best, a).to_bits() == a.to_bits()
}

/// Position of the first element that no later one beats.
fn position<N: Copy>(
    values: &[N],
    base: usize,
    reduced: &IndexMap,
    beats: impl Fn(N, N) -> bool,
) -> Expected {
    let (mut index, mut best) = (0u64, None);
    reduced.walk(base, |offset| {
        let value = values[offset];
        if best.is_none_or(|(_, other)| beats(value, other)) {
            best = Some((index, value));
        }
        index += 1;
    });
    from_int(DType::U32, best.map_or(0, |(index, _)| index.into()))
}

/// A product of many factors, as m · 2^exponent so that it neither overflows nor underflows.
struct Product {
    m: Dd,
    exponent: i64,
}

impl Product {
    const ONE: Product = Product { m: Dd::ONE, exponent: 0 };

    fn multiply(&mut self, x: f64) {
        // Both are brought to within 2^±300, so that their product is safe.
        let (x, shift) = near_one(x);
        let m = self.m * Dd::from(x);
        let (_, again) = near_one(m.hi);
        self.m = m.scale(power_of_two(-again));
        self.exponent += i64::from(shift + again);
    }

    fn value(&self) -> Dd {
        self.m.ldexp(self.exponent.clamp(-100_000, 100_000) as i32)
    }
}

/// `x` · 2^-shift in a safe range, and the shift, which is usually 0.
fn near_one(x: f64) -> (f64, i32) {
    let mut shift = 0;
    let mut x = x;
    while x.abs() > 1e90 {
        x *= power_of_two(-300);
        shift += 300;
    }
    while x.abs() < 1e-90 && x != 0.0 {
        x *= power_of_two(300);
        shift -= 300;
    }
    (x, shift)
}

/// The product of floats, with bounds for all orders of evaluation. `up` is the product of the factors with magnitude 1
/// or more, `down` that of the others. Every partial product is between them, in any order.
pub(super) fn product(dtype: DType, values: &[f64], base: usize, reduced: &IndexMap) -> Expected {
    let (mut up, mut down) = (Product::ONE, Product::ONE);
    let (mut special, mut zero, mut shrinks) = (1.0, 1.0, false);
    reduced.walk(base, |index| match values[index] {
        x if !x.is_finite() => special *= x,
        0.0 => {
            zero *= values[index];
            shrinks = true;
        }
        x if x.abs() >= 1.0 => up.multiply(x),
        x => {
            down.multiply(x);
            shrinks = true;
        }
    });
    let compute = bounds::compute(dtype);
    let (most, least) = (up.value().abs().hi, down.value().abs().hi);
    let both = Product { m: up.m * down.m, exponent: up.exponent + down.exponent };
    let sign = both.m.hi.signum();
    if special != 1.0 {
        // An infinity, or NaN if a factor is zero or a partial product underflows to zero first.
        let value = special * zero * sign;
        let overflow = !value.is_nan() && least < round::min_normal(compute);
        return Expected { overflow, ..Expected::rounded(dtype, Dd::from(value), 0.0) };
    }
    // Rounding may make a partial product overflow that is just below the largest number.
    let overflow = shrinks && most > round::max_value(compute) * 0.999;
    if zero != 1.0 {
        return Expected { overflow, ..Expected::rounded(dtype, Dd::from(zero * sign), 0.0) };
    }
    let value = both.value();
    // A rounding below the normal numbers has an error of half the smallest subnormal, which is one roundoff of the
    // smallest normal. Later factors may magnify it by `most`.
    let underflow = if least < round::min_normal(compute) { round::min_normal(compute) * most } else { 0.0 };
    let scale = (value.abs().hi + underflow).min(f64::MAX);
    Expected { overflow, ..Expected::rounded(dtype, value, scale) }
}
