//! The contents of a case's arrays: ordinary numbers mixed with special ones, generated from the seed.

use reference::{DType, QuantFormat, Value};

use crate::blocks;
use crate::random::{Draw, Stream};

/// Elements of [`Contents::Steps`] with one large one.
const STEPS: usize = 32;

/// The contents of an operand's stored array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Contents {
    /// Ordinary numbers of many magnitudes, halves (ties of `round`), and all kinds of special values and their
    /// neighbours.
    Mixed,
    /// Element `i` has the bit pattern `i` modulo the number of patterns. For dtypes of at most 16 bits.
    EveryPattern,
    /// As `Mixed`, with arguments for periodic functions: finite ones are below 2^20, so that results can be judged.
    Angles,
    /// Terms of a sum: both signs, several magnitudes, zeros and subnormals, no overflow. Integers use all bits, and
    /// wrap.
    Terms,
    /// As `Terms`, with a few NaN and infinities.
    SpecialTerms,
    /// Factors of a product: near ±1, so that long products neither overflow nor underflow. Integers are mostly odd,
    /// and wrap.
    Factors,
    /// For sorting: few distinct values, and therefore ties, with ±0, a few NaN and extremes.
    Ranked,
    /// Odd integers of this many bits with either sign. For exact cases, which reveal lost bits in inputs or sums.
    Whole(u32),
    /// Integers from −3 to 3, and ±127 once in each 32 elements. Rounding them to 8 bits changes nothing.
    Steps,
    /// Quantized blocks of this format, for arrays of bytes.
    Blocks(QuantFormat),
    /// As `Blocks`, with scales that are powers of two. For exact cases.
    WholeBlocks(QuantFormat),
    /// All elements are 1.
    Ones,
    /// Uniformly distributed integers from 0 up to this one, exclusive: ids, masks.
    Below(u32),
    /// Not generated: the caller supplies the bytes, for example from a checkpoint.
    Given,
}

impl Contents {
    /// A short name, used in the case's description.
    pub fn name(self) -> String {
        match self {
            Contents::Mixed => "mixed".into(),
            Contents::EveryPattern => "every-pattern".into(),
            Contents::Angles => "angles".into(),
            Contents::Terms => "terms".into(),
            Contents::SpecialTerms => "special-terms".into(),
            Contents::Factors => "factors".into(),
            Contents::Ranked => "ranked".into(),
            Contents::Whole(bits) => format!("whole{bits}"),
            Contents::Steps => "steps".into(),
            Contents::Blocks(format) => format!("blocks-{format}"),
            Contents::WholeBlocks(format) => format!("whole-blocks-{format}"),
            Contents::Ones => "ones".into(),
            Contents::Below(end) => format!("below{end}"),
            Contents::Given => "given".into(),
        }
    }

    /// The little-endian bytes of `len` elements; zeros for [`Contents::Given`].
    pub fn generate(self, dtype: DType, len: usize, stream: Stream) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len * dtype.size());
        match self {
            Contents::Given => bytes.resize(len * dtype.size(), 0),
            Contents::Ones => {
                let one = dtype.encode(Value::Int(1)).to_le_bytes();
                bytes = one[..dtype.size()].repeat(len);
            }
            Contents::Blocks(format) => bytes = blocks::generate(format, false, len, stream),
            Contents::WholeBlocks(format) => bytes = blocks::generate(format, true, len, stream),
            Contents::Steps => (0..len).for_each(|index| {
                let group = index / STEPS;
                let large = stream.element(group).below(STEPS as u64) as usize == index % STEPS;
                let mut draw = stream.element(len + index);
                let size = if large { 127 * (2 * draw.between(0, 1) - 1) } else { draw.between(-3, 3) };
                dtype.write(dtype.encode(Value::Int(size.into())), &mut bytes);
            }),
            Contents::EveryPattern => {
                let mask = u64::MAX >> (64 - dtype.bits());
                (0..len).for_each(|index| dtype.write(index as u64 & mask, &mut bytes));
            }
            _ => {
                let specials = specials(dtype);
                (0..len).for_each(|index| {
                    let mut draw = stream.element(index);
                    let bits = match dtype.int_range() {
                        Some(range) => self.integer(dtype, range, &specials, &mut draw),
                        None => self.float(dtype, &specials, &mut draw),
                    };
                    dtype.write(bits, &mut bytes);
                });
            }
        }
        bytes
    }

    fn float(self, dtype: DType, specials: &[u64], draw: &mut Draw) -> u64 {
        let number = |x: f64| dtype.encode(Value::Float(x));
        let kind = draw.below(1024);
        match self {
            Contents::Angles => {
                let bits = Contents::Mixed.float(dtype, specials, draw);
                match dtype.decode(bits) {
                    Value::Float(x) if x.is_finite() && x.abs() > 1_048_576.0 => number(x % 1_048_576.0),
                    _ => bits,
                }
            }
            Contents::Terms => {
                let high = sum_magnitude(dtype);
                match kind {
                    0..32 => number(0.0f64.copysign(draw.unit() - 0.5)),
                    32..64 => number(smallest(dtype) * draw.between(-3, 3) as f64),
                    _ => number(draw.signed_power(-6.0, high)),
                }
            }
            Contents::SpecialTerms if kind < 3 => {
                number([f64::NAN, f64::INFINITY, -f64::INFINITY][kind as usize])
            }
            Contents::SpecialTerms => Contents::Terms.float(dtype, specials, draw),
            Contents::Factors => match kind {
                0 => number(0.0),
                _ => number(draw.signed_power(-0.4, 0.4)),
            },
            Contents::Ranked => match kind {
                0..2 => number(f64::NAN),
                2..6 => number(f64::INFINITY.copysign(draw.unit() - 0.5)),
                6..160 => number(0.0f64.copysign(draw.unit() - 0.5)),
                _ => number(draw.between(-20, 20) as f64 / 2.0),
            },
            Contents::Below(end) => number(draw.below(end.into()) as f64),
            Contents::Whole(bits) => {
                let odd = draw.below(1 << (bits - 1)) * 2 + 1;
                number(if kind & 1 == 0 { odd as f64 } else { -(odd as f64) })
            }
            _ => match kind {
                0..128 => pick(specials, draw),
                128..192 => pick(specials, draw) ^ 1,
                192..320 => draw.bits() >> (64 - dtype.bits()),
                320..384 => number(draw.between(-4, 4) as f64) ^ 1,
                384..600 => number(draw.between(-16, 16) as f64 / 2.0),
                _ => number(draw.signed_power(-8.0, 7.0)),
            },
        }
    }

    fn integer(
        self,
        dtype: DType,
        (least, greatest): (i128, i128),
        specials: &[u64],
        draw: &mut Draw,
    ) -> u64 {
        // Small numbers of both signs, or of one if the dtype is unsigned.
        let small = |span: i64, draw: &mut Draw| {
            let shift = if least == 0 { span } else { 0 };
            dtype.encode(Value::Int((draw.between(-span, span) + shift).into()))
        };
        let kind = draw.below(1024);
        let all_bits = |draw: &mut Draw| draw.bits() >> (64 - dtype.bits());
        match self {
            Contents::Terms | Contents::SpecialTerms => all_bits(draw),
            Contents::Factors => match kind {
                0..16 => all_bits(draw),
                _ => all_bits(draw) | 1,
            },
            Contents::Ranked => match kind {
                0..2 => dtype.encode(Value::Int(least)),
                2..4 => dtype.encode(Value::Int(greatest)),
                _ => small(20, draw),
            },
            Contents::Whole(bits) => draw.below(1 << (bits - 1)) * 2 + 1,
            Contents::Below(end) => draw.below(end.into()),
            _ => match kind {
                0..192 => pick(specials, draw),
                192..448 => all_bits(draw),
                448..704 => small(4, draw),
                _ => small(60, draw),
            },
        }
    }
}

fn pick(specials: &[u64], draw: &mut Draw) -> u64 {
    specials[draw.below(specials.len() as u64) as usize]
}

/// Base-2 logarithm of the largest term of a sum. Sums of thousands of terms must not overflow.
fn sum_magnitude(dtype: DType) -> f64 {
    match dtype {
        DType::F8E4M3 => 1.0,
        DType::F16 => 3.0,
        _ => 8.0,
    }
}

/// The smallest positive number of a float dtype.
fn smallest(dtype: DType) -> f64 {
    match dtype.decode(1) {
        Value::Float(x) => x,
        Value::Int(i) => i as f64,
    }
}

/// Bit patterns that appear often: zeros, infinities, NaN, the smallest and largest subnormal and normal numbers, the
/// points where `exp` overflows and underflows, and the limits of the integer types, where casts saturate.
fn specials(dtype: DType) -> Vec<u64> {
    if let Some((least, greatest)) = dtype.int_range() {
        let wide =
            [0, 1, 2, 3, 7, -1, -2, 127, 128, 255, 256, 1 << 15, 1 << 16, (1 << 24) + 1, (1 << 24) + 3];
        let wider =
            [1 << 31, 1 << 32, (1 << 53) + 1, (1 << 53) + 3, least, least + 1, greatest, greatest - 1];
        let all = wide.into_iter().chain(wider).filter(|i| (least..=greatest).contains(i));
        return all.map(|i| dtype.encode(Value::Int(i))).collect();
    }
    let mantissa_bits = match dtype {
        DType::F8E4M3 => 3,
        DType::BF16 => 7,
        DType::F16 => 10,
        DType::F32 => 23,
        _ => 52,
    };
    let sign = 1u64 << (dtype.bits() - 1);
    let max = match dtype {
        DType::F8E4M3 => 0x7e,
        _ => dtype.encode(Value::Float(f64::INFINITY)) - 1,
    };
    let patterns = [0, 1, 2, (1 << mantissa_bits) - 1, 1 << mantissa_bits, max];
    let magnitudes = [
        0.5,
        1.0,
        1.5,
        2.0,
        2.5,
        88.722_839,
        103.972_08,
        127.0,
        128.0,
        255.0,
        256.0,
        448.0,
        464.0,
        709.782_712_893_384,
        745.133_219_101_941_1,
        32_767.5,
        65_504.0,
        16_777_217.0,
        2_147_483_648.0,
        4_294_967_295.0,
        9_223_372_036_854_775_808.0,
        f64::INFINITY,
    ];
    let magnitudes = magnitudes.map(|x| dtype.encode(Value::Float(x)));
    let nan = dtype.encode(Value::Float(f64::NAN));
    let positive: Vec<u64> = patterns.into_iter().chain(magnitudes).chain([nan]).collect();
    let negative = positive.iter().map(|bits| bits | sign).collect::<Vec<_>>();
    [positive, negative].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(contents: Contents, dtype: DType, len: usize) -> Vec<Value> {
        let bytes = contents.generate(dtype, len, Stream::new(3, "test", 0));
        assert_eq!(bytes.len(), len * dtype.size());
        (0..len).map(|i| dtype.decode(dtype.read(&bytes, i).expect("in range"))).collect()
    }

    fn floats(contents: Contents, dtype: DType, len: usize) -> Vec<f64> {
        let float = |value| match value {
            Value::Float(x) => x,
            Value::Int(i) => i as f64,
        };
        values(contents, dtype, len).into_iter().map(float).collect()
    }

    #[test]
    fn mixed_floats_hold_every_special_value() {
        for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_float()) {
            let all = floats(Contents::Mixed, dtype, 8000);
            let has = |what: &str, found: &dyn Fn(f64) -> bool| {
                assert!(all.iter().any(|x| found(*x)), "{dtype} has no {what}");
            };
            let min_normal = match dtype {
                DType::F8E4M3 => f64::exp2(-6.0),
                DType::F16 => f64::exp2(-14.0),
                DType::F64 => f64::MIN_POSITIVE,
                _ => f32::MIN_POSITIVE.into(),
            };
            has("NaN", &|x| x.is_nan());
            has("+0", &|x| x == 0.0 && x.is_sign_positive());
            has("-0", &|x| x == 0.0 && x.is_sign_negative());
            has("subnormal", &|x| x != 0.0 && x.abs() < min_normal);
            has("smallest normal", &|x| x == min_normal);
            has("tie of round", &|x| x == 2.5);
            has("number next to 1", &|x| x != 1.0 && (x - 1.0).abs() <= 0.125);
            if dtype != DType::F8E4M3 {
                has("+inf", &|x| x == f64::INFINITY);
                has("-inf", &|x| x == -f64::INFINITY);
            } else {
                has("448", &|x| x == 448.0);
            }
        }
    }

    #[test]
    fn mixed_integers_hold_both_ends() {
        for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_int()) {
            let (least, greatest) = dtype.int_range().expect("an integer dtype");
            let all = values(Contents::Mixed, dtype, 4000);
            for wanted in [least, greatest, 0, 1] {
                assert!(all.contains(&Value::Int(wanted)), "{dtype} {wanted}");
            }
        }
    }

    #[test]
    fn every_pattern_once() {
        let bytes = Contents::EveryPattern.generate(DType::F16, 65536, Stream::new(0, "", 0));
        let mut seen = vec![false; 65536];
        for pair in bytes.chunks_exact(2) {
            seen[usize::from(u16::from_le_bytes([pair[0], pair[1]]))] = true;
        }
        assert!(seen.into_iter().all(|seen| seen));
    }

    #[test]
    fn terms_and_factors_stay_in_range() {
        for (dtype, limit) in [(DType::F8E4M3, 2.0), (DType::F16, 8.0), (DType::F32, 256.0)] {
            assert!(floats(Contents::Terms, dtype, 5000).iter().all(|x| x.abs() <= limit), "{dtype}");
        }
        assert!(floats(Contents::Factors, DType::F32, 5000).iter().all(|x| x.abs() < 1.33));
    }

    #[test]
    fn whole_numbers_are_odd_and_keep_their_bits() {
        let all = floats(Contents::Whole(13), DType::F32, 1000);
        assert!(all.iter().all(|x| x.abs() < 8192.0 && (x % 2.0).abs() == 1.0));
        assert!(all.iter().any(|x| x.abs() > 4096.0) && all.iter().any(|x| *x < 0.0));
    }

    #[test]
    fn steps_have_one_large_number_in_each_32() {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            for group in floats(Contents::Steps, dtype, 3200).chunks(STEPS) {
                let large = group.iter().filter(|x| x.abs() == 127.0).count();
                let small = group.iter().filter(|x| x.abs() <= 3.0 && x.fract() == 0.0).count();
                assert_eq!((large, small), (1, STEPS - 1));
            }
        }
    }

    #[test]
    fn ranked_values_repeat() {
        let mut all = floats(Contents::Ranked, DType::F32, 5000);
        assert!(all.iter().any(|x| x.is_nan()) && all.iter().any(|x| x.is_infinite()));
        assert!(all.iter().any(|x| *x == 0.0 && x.is_sign_negative()));
        all.retain(|x| !x.is_nan());
        all.sort_by(f64::total_cmp);
        all.dedup();
        assert!(all.len() < 60);
    }
}
