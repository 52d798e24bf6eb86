//! Random numbers: Philox4x32-10 and the distributions, one element at a time.
//!
//! The code differs from the devices' on purpose: counters and products are single wide integers, and each element is
//! computed by itself. Results are compared bit by bit, so that the floating point operations and their order are part
//! of the definition.

use super::{from_f32, from_f64, from_int};
use crate::shape::count;
use crate::{Array, DType, Error, Expected, Judge, Outcome, Value};

/// The four words of a block: ten rounds of Philox4x32 with key `seed` and counter `number`.
fn philox(number: u128, seed: u64) -> [u32; 4] {
    let half = |x: u128, k: u32| ((x >> (32 * k)) & 0xffff_ffff) as u64;
    let mut counter = number;
    for round in 0..10u64 {
        let first = half(counter, 0) * 0xd251_1f53;
        let second = half(counter, 2) * 0xcd9e_8d57;
        let low_key = (seed & 0xffff_ffff) + round * 0x9e37_79b9;
        let high_key = (seed >> 32) + round * 0xbb67_ae85;
        let words = [
            (second >> 32) ^ half(counter, 1) ^ (low_key & 0xffff_ffff),
            second & 0xffff_ffff,
            (first >> 32) ^ half(counter, 3) ^ (high_key & 0xffff_ffff),
            first & 0xffff_ffff,
        ];
        counter = words.iter().rev().fold(0, |all, word| all << 32 | u128::from(*word));
    }
    [0, 1, 2, 3].map(|k| half(counter, k) as u32)
}

/// A sequence of random numbers: Philox's key, and the high half of its counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// The key.
    pub seed: u64,
    /// The high half of the counter.
    pub stream: u64,
}

impl Draw {
    fn block(self, number: usize) -> [u32; 4] {
        philox(u128::from(self.stream) << 64 | number as u128, self.seed)
    }

    /// The word of element `index`, with four elements per block.
    fn word(self, index: usize) -> u32 {
        self.block(index / 4)[index % 4]
    }

    /// The 64-bit word of element `index`, with two elements per block.
    fn long(self, index: usize) -> u64 {
        let block = self.block(index / 2);
        let pair = &block[2 * (index % 2)..];
        u64::from(pair[1]) * (1 << 32) + u64::from(pair[0])
    }
}

/// Numbers uniformly distributed over `low..high`, both rounded to `dtype`: low + u·(high − low) with one fused
/// multiply-add in the compute type, where u has 24 (`f64`: 53) bits. A result that rounds to `high` becomes the next
/// smaller number.
///
/// # Errors
/// [`Error::Unsupported`] for integers, [`Error::TooLarge`].
pub fn uniform(
    dtype: DType,
    shape: &[usize],
    draw: Draw,
    low: impl Into<Value>,
    high: impl Into<Value>,
) -> Result<Outcome<'static>, Error> {
    let (low, high) = (float("uniform", dtype, low.into())?, float("uniform", dtype, high.into())?);
    count(shape)?;
    // The next number below high: one step back in the order of bit patterns.
    let end = dtype.encode(Value::Float(high));
    let sign = 1u64 << (dtype.bits() - 1);
    let before = if high == 0.0 {
        sign + 1
    } else if end >= sign {
        end + 1
    } else {
        end - 1
    };
    Ok(Outcome::new(dtype, shape.to_vec(), Judge::Exact, move |i| {
        let number = if dtype == DType::F64 {
            let u = (draw.long(i) / 2048) as f64 / 9_007_199_254_740_992.0;
            from_f64(u.mul_add(high - low, low))
        } else {
            let u = (draw.word(i) / 256) as f32 / 16_777_216.0;
            from_f32(dtype, u.mul_add(high as f32 - low as f32, low as f32))
        };
        if low < high && number.value.hi >= high { Expected::exact(dtype, before) } else { number }
    }))
}

/// Normally distributed numbers: mean + deviation·z, both rounded to `dtype`, with one fused multiply-add in the
/// compute type. Elements 2k and 2k + 1 are the cosine and sine of one Box-Muller pair.
///
/// # Errors
/// [`Error::Unsupported`] for integers, [`Error::TooLarge`].
pub fn normal(
    dtype: DType,
    shape: &[usize],
    draw: Draw,
    mean: impl Into<Value>,
    deviation: impl Into<Value>,
) -> Result<Outcome<'static>, Error> {
    let (mean, deviation) = (float("normal", dtype, mean.into())?, float("normal", dtype, deviation.into())?);
    count(shape)?;
    Ok(Outcome::new(dtype, shape.to_vec(), Judge::Exact, move |i| {
        let first = i - i % 2;
        if dtype == DType::F64 {
            let pair = double_pair(draw.long(first), draw.long(first + 1));
            from_f64(pair[i % 2].mul_add(deviation, mean))
        } else {
            let pair = single_pair(draw.word(first), draw.word(first + 1));
            from_f32(dtype, pair[i % 2].mul_add(deviation as f32, mean as f32))
        }
    }))
}

/// Integers uniformly distributed over `low..high`: low + ⌊w·(high − low) / 2⁶⁴⌋ with a 64-bit word w.
///
/// # Errors
/// [`Error::Unsupported`] for floats, [`Error::TooLarge`].
pub fn randint(
    dtype: DType,
    shape: &[usize],
    draw: Draw,
    low: i64,
    high: i64,
) -> Result<Outcome<'static>, Error> {
    require_int("randint", dtype)?;
    count(shape)?;
    let (low, span) = (i128::from(low), u128::from(high.abs_diff(low)));
    Ok(Outcome::new(dtype, shape.to_vec(), Judge::Exact, move |i| {
        from_int(dtype, low + ((u128::from(draw.long(i)) * span) >> 64) as i128)
    }))
}

/// The integers `0..len` in random order, sorted by their keys ⌊w / 2⌋, where w is the element's 64-bit word. Equal
/// keys are ordered by integer.
///
/// # Errors
/// [`Error::Unsupported`] for floats.
pub fn randperm(dtype: DType, len: usize, draw: Draw) -> Result<Outcome<'static>, Error> {
    require_int("randperm", dtype)?;
    let mut order: Vec<(u64, usize)> = (0..len).map(|i| (draw.long(i) / 2, i)).collect();
    order.sort_unstable();
    Ok(Outcome::new(dtype, vec![len], Judge::Exact, move |i| from_int(dtype, order[i].1 as i128)))
}

/// Ones with this probability, else zeros. An element is 1 if its word is below probability·2³², rounded.
///
/// # Errors
/// [`Error::TooLarge`].
pub fn bernoulli(
    dtype: DType,
    shape: &[usize],
    draw: Draw,
    probability: f64,
) -> Result<Outcome<'static>, Error> {
    count(shape)?;
    Ok(Outcome::new(dtype, shape.to_vec(), Judge::Exact, move |i| {
        let one = chosen(draw, i, probability);
        Expected::exact(dtype, dtype.encode(Value::Int(i128::from(one))))
    }))
}

/// Zero where [`bernoulli`] has a one, else the element times 1/(1 − probability). The factor is computed in `f64` and
/// rounded to the compute type. The product is rounded to the compute type and then to the dtype.
///
/// # Errors
/// [`Error::Unsupported`] for integers.
pub fn dropout(a: &Array, draw: Draw, probability: f64) -> Result<Outcome<'_>, Error> {
    let dtype = a.dtype();
    let scale = 1.0 / (1.0 - probability);
    float("dropout", dtype, Value::Float(0.0))?;
    Ok(Outcome::new(dtype, a.shape().to_vec(), Judge::Exact, move |i| match a.get(i) {
        Value::Float(x) if !chosen(draw, i, probability) => {
            if dtype == DType::F64 {
                from_f64(x * scale)
            } else {
                from_f32(dtype, x as f32 * scale as f32)
            }
        }
        _ => Expected::exact(dtype, 0),
    }))
}

fn chosen(draw: Draw, index: usize, probability: f64) -> bool {
    f64::from(draw.word(index)) < (probability * 4_294_967_296.0).round()
}

/// A scalar rounded to a float dtype.
fn float(op: &'static str, dtype: DType, value: Value) -> Result<f64, Error> {
    match value.round_to(dtype) {
        Value::Float(x) => Ok(x),
        Value::Int(_) => Err(Error::Unsupported { op, dtype }),
    }
}

fn require_int(op: &'static str, dtype: DType) -> Result<(), Error> {
    if dtype.is_int() { Ok(()) } else { Err(Error::Unsupported { op, dtype }) }
}

/// Cosine and sine of an angle, times √(−2 ln u), in one float type. The angle is `turn` / 2^`bits` of a turn.
macro_rules! normal_pair {
    ($name:ident, $float:ident, artanh $artanh:expr, sine $sine:expr, cosine $cosine:expr) => {
        mod $name {
            use std::$float::consts::{FRAC_1_SQRT_2, LN_2, TAU};

            pub(super) fn pair(u: $float, turn: i128, bits: u32) -> [$float; 2] {
                let radius = (-2.0 * ln(u)).sqrt();
                // The nearest quarter turn, and the remaining angle.
                let quarter = 1i128 << (bits - 2);
                let quarters = (turn + quarter / 2) / quarter;
                let rest = (turn - quarters * quarter) as $float;
                let angle = rest * (TAU / (1u64 << bits) as $float);
                let square = angle * angle;
                let sine = (angle * square).mul_add(series(square, &$sine), angle);
                let cosine = square.mul_add(series(square, &$cosine), 1.0);
                let (x, y) = match quarters % 4 {
                    0 => (cosine, sine),
                    1 => (-sine, cosine),
                    2 => (-cosine, -sine),
                    _ => (sine, -cosine),
                };
                [radius * x, radius * y]
            }

            /// ln u, where u = 2ᵏ·m with m from √½ to √2, and ln m = 2 artanh((m − 1) / (m + 1)).
            pub(super) fn ln(u: $float) -> $float {
                let (mut k, mut m) = (0, u);
                while m < FRAC_1_SQRT_2 {
                    m *= 2.0;
                    k -= 1;
                }
                let f = m - 1.0;
                let s = f / (2.0 + f);
                let (square, twice) = (s * s, 2.0 * s);
                (k as $float).mul_add(LN_2, (twice * square).mul_add(series(square, &$artanh), twice))
            }

            /// 1/d₀ + x·(1/d₁ + x·(1/d₂ + …)), each step one fused multiply-add.
            fn series(x: $float, divisors: &[i64]) -> $float {
                let coefficients = divisors.iter().rev().map(|divisor| 1.0 / *divisor as $float);
                coefficients.reduce(|sum, c| x.mul_add(sum, c)).unwrap_or(0.0)
            }
        }
    };
}

normal_pair!(f32_pair, f32, artanh [3, 5, 7, 9], sine [-6, 120, -5040, 362_880],
    cosine [-2, 24, -720, 40_320, -3_628_800]);
normal_pair!(f64_pair, f64, artanh [3, 5, 7, 9, 11, 13, 15, 17, 19, 21],
    sine [-6, 120, -5040, 362_880, -39_916_800, 6_227_020_800, -1_307_674_368_000, 355_687_428_096_000],
    cosine [-2, 24, -720, 40_320, -3_628_800, 479_001_600, -87_178_291_200, 20_922_789_888_000]);

/// Two normally distributed numbers from two 32-bit words: u = (w + ½) / 2³², rounded once.
fn single_pair(first: u32, second: u32) -> [f32; 2] {
    let u = (first as f32).mul_add(1.0 / 4_294_967_296.0, 0.5 / 4_294_967_296.0);
    f32_pair::pair(u, second.into(), 32)
}

/// Two normally distributed numbers from the upper 53 bits of two 64-bit words: u = (w + 1) / 2⁵³.
fn double_pair(first: u64, second: u64) -> [f64; 2] {
    f64_pair::pair((first / 2048 + 1) as f64 / 9_007_199_254_740_992.0, (second / 2048).into(), 53)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of the authors' library Random123 (`kat_vectors`, philox4x32 10).
    #[test]
    fn known_answers() {
        assert_eq!(philox(0, 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox(u128::MAX, u64::MAX), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox(0x0370_7344_1319_8a2e_85a3_08d3_243f_6a88, 0x299f_31d0_a409_3822),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    /// Key 0, stream 0: the first block has the words of the first known answer.
    const ZERO: Draw = Draw { seed: 0, stream: 0 };

    fn values(outcome: &Outcome<'_>) -> Vec<f64> {
        outcome.iter().map(|expected| expected.value.hi).collect()
    }

    #[test]
    fn values_of_the_first_block() {
        let x = uniform(DType::F32, &[4], ZERO, 0.0, 1.0).unwrap();
        let words = [0x66_27e8, 0xe1_69c5, 0xbc_57ac, 0x9b_00db].map(|upper| f64::from(upper) / 16_777_216.0);
        assert_eq!(values(&x), words);
        let x = uniform(DType::F64, &[1], ZERO, 0.0, 1.0).unwrap();
        assert_eq!(values(&x), [(0xe169_c58d_6627_e8d5u64 >> 11) as f64 / 9_007_199_254_740_992.0]);
        // 0xe1… is 0.88 of 2³², 0x66… 0.39, 0xbc… 0.73, 0x9b… 0.6.
        assert_eq!(values(&bernoulli(DType::U8, &[4], ZERO, 0.7).unwrap()), [1.0, 0.0, 0.0, 1.0]);
        // The 64-bit words are 0.8805 and 0.6055 of 2⁶⁴.
        assert_eq!(values(&randint(DType::I16, &[2], ZERO, -10, 10).unwrap()), [7.0, 2.0]);
        // The second word is the smaller one.
        assert_eq!(values(&randperm(DType::U32, 2, ZERO).unwrap()), [1.0, 0.0]);
        let ones = Array::from_f64(DType::F16, &[4], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(values(&dropout(&ones, ZERO, 0.7).unwrap()), [0.0, 6.668, 10.0, 0.0].map(near_f16));
    }

    fn near_f16(x: f64) -> f64 {
        crate::round::decode_float(DType::F16, crate::round::round_f64(DType::F16, x))
    }

    #[test]
    fn uniform_numbers_stay_below_the_end() {
        let x = uniform(DType::F8E4M3, &[2000], ZERO, 0.0, 1.0).unwrap();
        assert!(values(&x).iter().all(|x| (0.0..1.0).contains(x)));
        let x = uniform(DType::BF16, &[2000], ZERO, -1.0, 0.0).unwrap();
        assert!(values(&x).iter().all(|x| (-1.0..0.0).contains(x)));
    }

    #[test]
    fn normal_numbers_are_those_of_box_and_muller() {
        let draw = Draw { seed: 17, stream: 4 };
        let (x, y) =
            (normal(DType::F32, &[2000], draw, 0.0, 1.0), normal(DType::F64, &[2000], draw, 0.0, 1.0));
        let (x, y) = (values(&x.unwrap()), values(&y.unwrap()));
        for i in (0..2000).step_by(2) {
            let u = (f64::from(draw.word(i)) + 0.5) / 4_294_967_296.0;
            let angle = f64::from(draw.word(i + 1)) / 4_294_967_296.0 * std::f64::consts::TAU;
            let radius = (-2.0 * u.ln()).sqrt();
            // u is rounded once. Near 1 the radius is as uncertain as the root of that.
            let bound = 1e-6 + 1e-7 / radius;
            assert!(
                (x[i] - radius * angle.cos()).abs() < bound
                    && (x[i + 1] - radius * angle.sin()).abs() < bound
            );
            let u = ((draw.long(i) >> 11) + 1) as f64 / 9_007_199_254_740_992.0;
            let angle = draw.long(i + 1) as f64 / 18_446_744_073_709_551_616.0 * std::f64::consts::TAU;
            let radius = (-2.0 * u.ln()).sqrt();
            let bound = 1e-14 + 1e-15 / radius;
            assert!(
                (y[i] - radius * angle.cos()).abs() < bound
                    && (y[i + 1] - radius * angle.sin()).abs() < bound
            );
        }
    }

    #[test]
    fn dtypes_are_checked() {
        assert!(uniform(DType::I32, &[1], ZERO, 0.0, 1.0).is_err());
        assert!(randint(DType::F32, &[1], ZERO, 0, 1).is_err());
        assert!(randperm(DType::F32, 1, ZERO).is_err());
    }
}
