//! The small floats and complex numbers of HIP's headers, compared with the crate half and with exact
//! arithmetic in `f64`.

use crate::common::{Buffer, Hip, Plain, hip, shape};
use crate::program::Program;
use half::{bf16, f16};
use hip_sys::hip::hipModule_t;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

fn module(hip: &Hip) -> hipModule_t {
    static IMAGE: OnceLock<Vec<u8>> = OnceLock::new();
    let text = include_str!("numbers.hip");
    hip.load(IMAGE.get_or_init(|| Program::new(text).compile(&["-O1", "-DHIPHOST_NO_BARRIERS"])))
}

/// The output of a kernel for a list: `each` values for each of its `count` entries.
fn of<I: Plain, O: Plain>(kernel: &str, input: &[I], count: usize, each: usize, more: &mut [i32]) -> Vec<O> {
    let hip = hip();
    let (from, to) = (hip.buffer(input), hip.zeros::<O>(count * each));
    let (mut source, mut target, mut count) = (from.pointer, to.pointer, count as u32);
    let list: &mut [*mut c_void] = arguments![source, target, count];
    let mut list = list.to_vec();
    list.extend(more.iter_mut().map(|value| std::ptr::from_mut(value).cast::<c_void>()));
    hip.launch(hip.find(module(&hip), kernel), shape(1, 64), null_mut(), &mut list);
    hip.sync();
    to.read()
}

/// The output of a kernel without input.
fn written<O: Plain>(kernel: &str, count: usize, more: &mut [i32]) -> Vec<O> {
    let hip = hip();
    let to: Buffer<O> = hip.zeros(count);
    let mut target = to.pointer;
    let list: &mut [*mut c_void] = arguments![target];
    let mut list = list.to_vec();
    list.extend(more.iter_mut().map(|value| std::ptr::from_mut(value).cast::<c_void>()));
    hip.launch(hip.find(module(&hip), kernel), shape(1, 1), null_mut(), &mut list);
    hip.sync();
    to.read()
}

/// A number rounded to nearest, ties to even. `digits` counts the leading one; then the exponent of the
/// smallest normal number, and the largest number.
fn nearest(v: f64, digits: i32, lowest: i32, largest: f64) -> f64 {
    if v == 0.0 || !v.is_finite() {
        return v;
    }
    let exponent = ((v.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(lowest);
    // A power of two: the division and the product are exact.
    let unit = 2.0_f64.powi(exponent - digits + 1);
    let rounded = (v / unit).round_ties_even() * unit;
    if rounded.abs() > largest { f64::INFINITY.copysign(v) } else { rounded }
}

fn as_bf16(v: f64) -> u16 {
    bf16::from_f32(nearest(v, 8, -126, bf16::MAX.to_f64()) as f32).to_bits()
}

fn as_half(v: f64) -> u16 {
    f16::from_f32(nearest(v, 11, -14, 65504.0) as f32).to_bits()
}

/// Pseudo-random numbers from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number of either sign, with an exponent from `-span` to `span`.
    fn float(&mut self, span: i32) -> f64 {
        let exponent = (self.next() % (2 * span as u64 + 1)) as i32 - span;
        let mantissa = 1.0 + (self.next() >> 12) as f64 / (1_u64 << 52) as f64;
        let sign = if self.next().is_multiple_of(2) { 1.0 } else { -1.0 };
        sign * mantissa * 2.0_f64.powi(exponent)
    }
}

#[test]
fn every_upper_half_of_a_float_is_rounded_as_the_crate_half_does() {
    let ends = [0_u32, 1, 0x7fff, 0x8000, 0x8001, 0xffff];
    let floats: Vec<f32> =
        (0..=0xffff_u32).flat_map(|high| ends.map(|low| f32::from_bits(high << 16 | low))).collect();
    let expected: Vec<u16> = floats.iter().map(|v| bf16::from_f32(*v).to_bits()).collect();
    assert_eq!(of::<f32, u16>("bf16_of_floats", &floats, floats.len(), 1, &mut []), expected);
    assert_eq!(of::<f32, u16>("old_bf16_of_floats", &floats, floats.len(), 1, &mut []), expected);
    let halves = of::<f32, u16>("half_of_floats", &floats, floats.len(), 1, &mut []);
    for ((v, found), half) in floats.iter().zip(halves).zip(floats.iter().map(|v| f16::from_f32(*v))) {
        let same = if v.is_nan() { f16::from_bits(found).is_nan() } else { found == half.to_bits() };
        assert!(same, "{v}: {found:x} for {half}");
    }
}

#[test]
fn a_double_is_rounded_once() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut doubles =
        vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1e-300, -1e300, 65_520.0, 65_519.999_999_999];
    doubles.extend((0..20_000).map(|_| random.float(40)));
    // Half way between two numbers, and so close to that that a float would be half way.
    for start in (0..4000).map(|_| random.float(20)) {
        for digits in [8, 11] {
            let unit = 2.0_f64.powi((start.abs().log2().floor()) as i32 - digits + 1);
            let middle = ((start / unit).floor() + 0.5) * unit;
            doubles.extend([middle, middle.next_up(), middle.next_down()]);
        }
    }
    let check = |kernel: &str, expected: fn(f64) -> u16| {
        for (v, found) in doubles.iter().zip(of::<f64, u16>(kernel, &doubles, doubles.len(), 1, &mut [])) {
            assert_eq!(found, expected(*v), "{kernel} of {v:e}");
        }
    };
    check("bf16_of_doubles", as_bf16);
    check("half_of_doubles", as_half);
}

#[test]
fn integers_of_64_bits_are_rounded_once() {
    // 2^62 and 2^63, numbers half way between two bfloat16 (2^-8 of them), and their neighbours.
    let middle = (1_i64 << 62) + (1 << 54);
    let integers =
        [0, 1, -1, 257, -259, middle, middle + 1, middle - 1, -middle, -middle - 1, i64::MAX, i64::MIN];
    let found = of::<i64, u16>("bf16_of_integers", &integers, integers.len(), 2, &mut []);
    let bits = |v: f32| bf16::from_f32(v).to_bits();
    // 257 lies between 256 and 258, 259 between 258 and 260; the even ones are 256 and 260.
    let (low, high) = (2.0_f32.powi(62), 2.0_f32.powi(62) + 2.0_f32.powi(55));
    let signed =
        [0.0, 1.0, -1.0, 256.0, -260.0, low, high, low, -low, -high, 2.0_f32.powi(63), -(2.0_f32.powi(63))];
    for (at, expected) in signed.into_iter().enumerate() {
        assert_eq!(found[2 * at], bits(expected), "{}", integers[at]);
        let unsigned = if integers[at] >= 0 {
            expected
        } else {
            nearest(integers[at] as u64 as f64, 8, -126, 1e38) as f32
        };
        assert_eq!(found[2 * at + 1], bits(unsigned), "{} without a sign", integers[at]);
    }
}

/// Operands whose sums and products are exact in a double, and whose quotients have less than half its
/// digits.
fn operands(digits: i32) -> Vec<f64> {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    (0..9_000).map(|_| nearest(random.float(10), digits, -14, 1e9)).collect()
}

fn check_arithmetic(kernel: &str, digits: i32, bits: fn(f64) -> u16) {
    let operands = operands(digits);
    let input: Vec<u16> = operands.iter().map(|v| bits(*v)).collect();
    let count = operands.len() / 3;
    let found = of::<u16, u16>(kernel, &input, count, 5, &mut []);
    for (operands, found) in operands.chunks(3).zip(found.chunks(5)) {
        let (a, b, c) = (operands[0], operands[1], operands[2]);
        let expected = [a + b, a - b, a * b, a / b, a * b + c].map(bits);
        assert_eq!(found, expected, "{kernel} of {a}, {b}, {c}");
    }
}

#[test]
fn results_are_rounded_once() {
    check_arithmetic("bf16_arithmetic", 8, as_bf16);
    check_arithmetic("half_arithmetic", 11, as_half);
}

#[test]
fn a_product_half_way_sees_the_smallest_sum() {
    // 129/128 and 131/128 times 1.5: 193.5 and 196.5 of 128, whose even neighbours are 194 and 196.
    let (odd, even, factor) = (129.0 / 128.0, 131.0 / 128.0, 1.5);
    let tiny = 2.0_f64.powi(-120);
    let cases = [
        (odd, 0.0, 194.0),
        (odd, tiny, 194.0),
        (odd, -tiny, 193.0),
        (even, 0.0, 196.0),
        (even, tiny, 197.0),
        (even, -tiny, 196.0),
        (-even, -tiny, -197.0),
        (-odd, tiny, -193.0),
    ];
    let input: Vec<u16> = cases.iter().flat_map(|(a, c, _)| [*a, factor, *c].map(as_bf16)).collect();
    let found = of::<u16, u16>("bf16_arithmetic", &input, cases.len(), 5, &mut []);
    for ((a, c, expected), found) in cases.iter().zip(found.chunks(5)) {
        assert_eq!(found[4], as_bf16(expected / 128.0), "{a} * 1.5 + {c:e}");
    }
}

#[test]
fn comparisons_pairs_and_functions() {
    let root = |bits: fn(f64) -> u16, value: fn(u16) -> f32| value(bits(2.0_f64.sqrt()));
    let expected = |root: f32| {
        vec![
            0.0, 1.0, 1.0, 1.0, // ==, == or NaN, != of a NaN, 1 < 2
            1.0, 0.0, 1.0, 1.0, 0.0, // > or NaN, operators, NaN is no infinity
            1.0, 1.0, 1.0, // the number, the NaN, the smaller
            -2.0, 2.0, 1.0, root, // 3 is more than 1
            10.0, 15.0, 15.0, // 3 * 3 + 1, 4 * 4 - 1
            1.0, 1.0, 0.0, // equal; both or one of them differ: 10 does not, 15 does
            2.0, 2.0, 4.0, 1.0,
        ]
    };
    let mut half = expected(root(as_half, |bits| f16::from_bits(bits).to_f32()));
    // A pair of halves differs if both parts differ.
    half[20] = 0.0;
    assert_eq!(written::<f32>("half_tour", half.len(), &mut []), half);
    let brain = expected(root(as_bf16, |bits| bf16::from_bits(bits).to_f32()));
    assert_eq!(written::<f32>("bf16_tour", brain.len(), &mut []), brain);
}

#[test]
fn halves_are_rounded_in_every_direction() {
    let smallest = 2.0_f32.powi(-24);
    let expected = [
        2.0,
        -2.0,
        -3.0,
        -2.0,
        2048.0,
        2048.0,
        2050.0,
        -2050.0,
        65504.0,
        f32::NEG_INFINITY,
        smallest,
        0.0,
        -smallest,
        0.0,
        f32::INFINITY,
    ];
    assert_eq!(written::<f32>("halves_of_integers", 15, &mut []), expected);
}

#[test]
fn conversions_are_rounded_in_every_direction() {
    let two = |exponent: i32| 2.0_f64.powi(exponent);
    // A tenth in single precision is more than a tenth, and so -0.1 is less.
    let tenth = -f64::from(0.1_f32);
    let expected = [
        two(24),
        two(24) + 2.0,
        -two(24),
        two(32),
        two(32) - 256.0,
        f64::INFINITY,
        f64::from(f32::MAX),
        tenth,
        two(64) - two(40),
        two(53) + 2.0,
        two(53),
        two(64) - two(11),
        two(-149),
        -two(62),
    ];
    assert_eq!(written::<f64>("directions", 14, &mut []), expected);
}

#[test]
fn sums_of_products_are_saturated_where_asked() {
    let expected = [
        430,
        i64::from(i32::MAX),
        i64::from(i32::MIN),
        4 * 97 * 98 + 30,
        100 + 5 - 12 + 21 - 32,
        30 - 24,
        30 + 40,
        // Eight times 15 * 15 and the largest; halves; bits 16 to 35; 5 instead of bits 8 to 11.
        i64::from(u32::MAX),
        8 * 225 - 1,
        14,
        14,
        0x8_9abc,
        0xffff_f5ff,
    ];
    assert_eq!(written::<i64>("dot_products", 13, &mut []), expected);
}

#[test]
fn vectors_count_and_compare_with_numbers() {
    assert_eq!(written::<i32>("vector_operators", 2, &mut []), [11_111, 43]);
}

/// An 8-bit format, according to the documentation.
struct Format {
    number: i32,
    mantissa: i32,
    bias: i32,
    /// The code of the largest number.
    largest: u8,
    fnuz: bool,
}

const FORMATS: [Format; 4] = [
    Format { number: 0, mantissa: 3, bias: 7, largest: 0x7e, fnuz: false },
    Format { number: 1, mantissa: 2, bias: 15, largest: 0x7b, fnuz: false },
    Format { number: 2, mantissa: 3, bias: 8, largest: 0x7f, fnuz: true },
    Format { number: 3, mantissa: 2, bias: 16, largest: 0x7f, fnuz: true },
];

impl Format {
    /// The value of a code without its sign.
    fn value(&self, code: u32) -> f64 {
        let (high, low) = (code >> self.mantissa, f64::from(code & ((1 << self.mantissa) - 1)));
        let fraction = low / f64::from(1 << self.mantissa);
        if high == 0 {
            fraction * 2.0_f64.powi(1 - self.bias)
        } else {
            (1.0 + fraction) * 2.0_f64.powi(high as i32 - self.bias)
        }
    }

    /// The code of the nearest number, found by trying all; of two equally near, the even one.
    fn code(&self, v: f64, saturates: bool) -> u8 {
        let sign = if v.is_sign_negative() { 0x80 } else { 0 };
        if v.is_nan() {
            return if self.fnuz { 0x80 } else { sign | 0x7f };
        }
        // One code beyond the largest stands for all overflowing values.
        let beyond = u32::from(self.largest) + 1;
        let last = self.value(beyond);
        let distance = |code: u32| (self.value(code) - v.abs().min(last)).abs();
        let best =
            (0..=beyond).min_by(|a, b| distance(*a).total_cmp(&distance(*b)).then((a % 2).cmp(&(b % 2))));
        match best {
            Some(code) if code < beyond => {
                if self.fnuz && code == 0 {
                    0
                } else {
                    sign | code as u8
                }
            }
            _ if saturates => sign | self.largest,
            _ if self.fnuz => 0x80,
            _ if self.mantissa == 2 => sign | 0x7c,
            _ => sign | 0x7f,
        }
    }
}

#[test]
fn floats_of_8_bits_have_their_values() {
    for format in &FORMATS {
        let found = written::<f32>("fp8_values", 256, &mut [format.number]);
        for (x, found) in found.into_iter().enumerate() {
            let (code, negative) = ((x & 0x7f) as u32, x >= 0x80);
            let infinite = !format.fnuz && format.mantissa == 2 && code == 0x7c;
            let nan = if format.fnuz { x == 0x80 } else { code > u32::from(format.largest) && !infinite };
            let value = if infinite { f64::INFINITY } else { format.value(code) };
            let expected = (if negative { -value } else { value }) as f32;
            let same = if nan { found.is_nan() } else { found.to_bits() == expected.to_bits() };
            assert!(same, "code {x:#x} of format {}: {found}, not {expected}", format.number);
        }
    }
}

#[test]
fn floats_of_8_bits_are_rounded_once() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for format in &FORMATS {
        let mut values =
            vec![f64::INFINITY, f64::NAN, 0.0, 1e-300, 1e300, 1e6, 448.0, 464.0, 57_344.0, 61_440.0];
        for code in 0..=u32::from(format.largest) {
            let (value, middle) = (format.value(code), (format.value(code) + format.value(code + 1)) / 2.0);
            values.extend([value, middle, middle.next_up(), middle.next_down()]);
        }
        values.extend((0..2000).map(|_| random.float(20)));
        values.extend(values.clone().iter().map(|v| -v));
        for saturates in [false, true] {
            let more = &mut [format.number, i32::from(saturates)];
            let found = of::<f64, u8>("fp8_of_doubles", &values, values.len(), 2, more);
            for (v, found) in values.iter().zip(found.chunks(2)) {
                let expected = [*v, f64::from(*v as f32)].map(|v| format.code(v, saturates));
                assert_eq!(found, expected, "{v:e} in format {}, saturates: {saturates}", format.number);
            }
        }
    }
}

#[test]
fn types_of_8_bits_convert() {
    // 1.3 lies between 1.25 and 1.375 of three bits, 1.25 and 1.5 of two; 3.7 is nearest to 3.75; 1 and -2 are 0x38 and 0xc0.
    let expected = [
        1.25,
        1.25,
        1.25,
        448.0,
        -3.0,
        0.0,
        1.0,
        1.25,
        127.0,
        f32::from(0xc038_u16),
        -2.0,
        -2.0,
        -8.0,
        f32::from(0x3c_u8),
        421.0,
        5.0,
    ];
    assert_eq!(written::<f32>("fp8_types", 16, &mut []), expected);
}

#[test]
fn complex_numbers_follow_their_formulas() {
    let (x, y) = (0.1_f32 * 3.0 - 0.7 * -4.0, 0.7_f32 * 3.0 + 0.1 * -4.0);
    let quotient = (y * 3.0 - x * -4.0) / 25.0;
    let expected = [
        11.0,
        2.0,
        1.0,
        2.0,
        4.0,
        -2.0,
        -2.0,
        6.0,
        12.0,
        4.0,
        4.0,
        5.0,
        25.0,
        3.0,
        -4.0,
        f64::from(x),
        f64::from(y),
        5.0,
        f64::from(0.1_f32),
        f64::from(quotient),
    ];
    assert_eq!(written::<f64>("complex_numbers", 20, &mut []), expected);
}
