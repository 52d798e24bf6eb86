//! Formats and rounding against the half and float8 crates, the machine's own conversions, and hand-made
//! ties.

use proptest::prelude::*;
use reference::round::{decode_float, max_value, min_normal, round_dd, round_f64, round_int, ulp};
use reference::{Array, DType, Dd, Value, cast};

const SMALL: [DType; 3] = [DType::F8E4M3, DType::BF16, DType::F16];

/// Every finite non-negative bit pattern of a small format, in order of value.
fn finite(dtype: DType) -> std::ops::RangeInclusive<u64> {
    0..=round_f64(dtype, max_value(dtype))
}

#[test]
fn all_patterns_decode_as_half_and_float8_do() {
    let same = |a: f64, b: f32| a.is_nan() && b.is_nan() || a.to_bits() == f64::from(b).to_bits();
    for bits in 0..=u16::MAX {
        assert!(
            same(decode_float(DType::F16, bits.into()), half::f16::from_bits(bits).to_f32()),
            "f16 {bits:#x}"
        );
        assert!(
            same(decode_float(DType::BF16, bits.into()), half::bf16::from_bits(bits).to_f32()),
            "bf16 {bits:#x}"
        );
    }
    for bits in 0..=u8::MAX {
        assert!(
            same(decode_float(DType::F8E4M3, bits.into()), float8::F8E4M3::from_bits(bits).to_f32()),
            "f8 {bits:#x}"
        );
    }
}

#[test]
fn all_patterns_survive_a_round_trip() {
    for dtype in SMALL {
        for bits in 0..1u64 << dtype.bits() {
            let x = decode_float(dtype, bits);
            if !x.is_nan() {
                assert_eq!(round_f64(dtype, x), bits, "{dtype} {bits:#x}");
            } else {
                assert!(dtype.is_nan(bits) && dtype.is_nan(round_f64(dtype, x)), "{dtype} {bits:#x}");
            }
        }
    }
}

#[test]
fn ties_go_to_even_and_the_slightest_excess_decides() {
    for dtype in SMALL {
        for bits in finite(dtype) {
            let last = bits == *finite(dtype).end();
            let (below, step) = (decode_float(dtype, bits), ulp(dtype, decode_float(dtype, bits)));
            let tie = below + step / 2.0;
            let above = bits + u64::from(!(last && dtype == DType::F8E4M3));
            let even = if bits & 1 == 0 { bits } else { above };
            for sign in [0.0f64, -0.0] {
                let signed = |bits: u64| bits | u64::from(sign.is_sign_negative()) << (dtype.bits() - 1);
                let x = tie.copysign(sign);
                assert_eq!(round_f64(dtype, x), signed(even), "{dtype} tie after {bits:#x}");
                assert_eq!(
                    round_f64(dtype, tie.next_up().copysign(sign)),
                    signed(above),
                    "{dtype} {bits:#x}"
                );
                assert_eq!(
                    round_f64(dtype, tie.next_down().copysign(sign)),
                    signed(bits),
                    "{dtype} {bits:#x}"
                );
                // An excess far below f64's last place, as a double-double.
                let tiny = tie * 1e-25;
                let (over, under) = (Dd::sum(x, tiny.copysign(sign)), Dd::sum(x, -tiny.copysign(sign)));
                assert_eq!(round_dd(dtype, over), signed(above), "{dtype} just over the tie after {bits:#x}");
                assert_eq!(
                    round_dd(dtype, under),
                    signed(bits),
                    "{dtype} just under the tie after {bits:#x}"
                );
            }
        }
    }
}

#[test]
fn ties_agree_with_half() {
    for bits in 0..=u16::MAX {
        for (dtype, x) in [
            (DType::F16, half::f16::from_bits(bits).to_f32()),
            (DType::BF16, half::bf16::from_bits(bits).to_f32()),
        ] {
            if !x.is_finite() {
                continue;
            }
            let tie = (f64::from(x) + ulp(dtype, f64::from(x)) / 2.0) as f32;
            for y in [x, tie, tie.next_up(), tie.next_down()] {
                let theirs = match dtype {
                    DType::F16 => half::f16::from_f32_const(y).to_bits(),
                    _ => half::bf16::from_f32(y).to_bits(),
                };
                assert_eq!(round_f64(dtype, f64::from(y)), u64::from(theirs), "{dtype} {y:e}");
            }
        }
    }
}

#[test]
fn f8e4m3_saturates() {
    for (x, bits) in [
        (448.0, 0x7e),
        (464.0, 0x7e),
        (1e300, 0x7e),
        (f64::INFINITY, 0x7e),
        (f64::NEG_INFINITY, 0xfe),
        (-1e9, 0xfe),
        (f64::NAN, 0x7f),
        (0.001953125, 0x01),  // 2^-9, the smallest subnormal
        (0.0009765625, 0x00), // half of it: a tie, 0 is even
        (0.0029296875, 0x02), // one and a half: a tie
        (-0.0, 0x80),
    ] {
        assert_eq!(round_f64(DType::F8E4M3, x), bits, "{x}");
    }
}

#[test]
fn integers_round_once() {
    // 257·2^54 lies between the bf16 numbers 256·2^54 and 258·2^54; one more decides, and f64 would lose the
    // one.
    let tie = 257i128 << 54;
    assert_eq!(decode_float(DType::BF16, round_int(DType::BF16, tie)), (256i128 << 54) as f64);
    assert_eq!(decode_float(DType::BF16, round_int(DType::BF16, tie + 1)), (258i128 << 54) as f64);
    assert_eq!(decode_float(DType::BF16, round_int(DType::BF16, -tie - 1)), -(258i128 << 54) as f64);
    // 2049·16 is a tie of f16.
    assert_eq!(decode_float(DType::F16, round_int(DType::F16, 2049 * 16 + 1)), 2050.0 * 16.0);
    assert_eq!(round_int(DType::F16, i64::MAX.into()), 0x7c00);
    assert_eq!(round_int(DType::F16, 65519), 0x7bff);
    assert_eq!(round_int(DType::F16, 65520), 0x7c00);
    assert_eq!(round_int(DType::F8E4M3, i64::MIN.into()), 0xfe);
}

#[test]
fn casts_saturate_truncate_and_wrap() {
    let cast_one = |from: DType, value: Value, to: DType| {
        let array = Array::from_values(from, &[1], &[value]).expect("one value");
        to.decode(cast(&array, to).at(0).bits)
    };
    let float = |x: f64, to: DType| cast_one(DType::F64, Value::Float(x), to);
    let int = |i: i64, to: DType| cast_one(DType::I64, Value::from(i), to);
    assert_eq!(float(-1.9, DType::U8), Value::Int(0));
    assert_eq!(float(255.9, DType::U8), Value::Int(255));
    assert_eq!(float(-1.9, DType::I32), Value::Int(-1));
    assert_eq!(float(1e10, DType::I32), Value::Int(i32::MAX.into()));
    assert_eq!(float(f64::NEG_INFINITY, DType::I16), Value::Int(i16::MIN.into()));
    assert_eq!(float(f64::NAN, DType::U32), Value::Int(0));
    assert_eq!(float(9.3e18, DType::I64), Value::Int(i64::MAX.into()));
    assert_eq!(int(300, DType::U8), Value::Int(44));
    assert_eq!(int(-1, DType::U32), Value::Int(u32::MAX.into()));
    assert_eq!(int(i64::MIN, DType::I16), Value::Int(0));
    assert_eq!(int(1 << 24 | 1, DType::F32), Value::Float(16777216.0));
    // Once from f64: through f32 this would first become the tie 1 + 2^-11, then 1.
    assert_eq!(float(1.0 + 2f64.powi(-11) + 2f64.powi(-40), DType::F16), Value::Float(1.0 + 2f64.powi(-10)));
}

#[test]
fn units_in_the_last_place() {
    assert_eq!(ulp(DType::F32, 1.0), f64::from(f32::EPSILON));
    assert_eq!(ulp(DType::F32, -1.999), f64::from(f32::EPSILON));
    assert_eq!(ulp(DType::F32, 2.0), 2.0 * f64::from(f32::EPSILON));
    assert_eq!(ulp(DType::F32, 0.0), f64::from(f32::from_bits(1)));
    assert_eq!(ulp(DType::F32, 1e300), 2f64.powi(104));
    assert_eq!(ulp(DType::F64, 5e-324), 5e-324);
    assert_eq!(ulp(DType::F64, f64::MAX), 2f64.powi(971));
    assert_eq!(ulp(DType::F16, 65504.0), 32.0);
    assert_eq!(ulp(DType::F8E4M3, 1e9), 32.0);
    assert_eq!(ulp(DType::I16, 7.0), 1.0);
    assert_eq!(min_normal(DType::F16), f64::from(half::f16::MIN_POSITIVE));
    assert_eq!(max_value(DType::BF16), f64::from(half::bf16::MAX));
}

proptest! {
    #[test]
    fn f32_agrees_with_the_machine(bits: u64) {
        let x = f64::from_bits(bits);
        // Bring most of the exponents into the range of f32.
        for x in [x, f64::from_bits(bits >> 3 & 0x1f_ffff_ffff_ffff | 0x3800_0000_0000_0000)] {
            prop_assert!(x.is_nan() || round_f64(DType::F32, x) == u64::from((x as f32).to_bits()));
        }
    }

    #[test]
    fn wide_integers_agree_with_the_machine(i: i64, shift in 0u32..63) {
        let i = i >> shift;
        prop_assert_eq!(round_int(DType::F32, i.into()), u64::from((i as f32).to_bits()));
        prop_assert_eq!(round_int(DType::F64, i.into()), (i as f64).to_bits());
    }

    #[test]
    fn f8e4m3_agrees_with_float8(bits: u32) {
        let x = f32::from_bits(bits);
        // Beyond the range the other crate follows the hardware's saturating conversion too, except for
        // infinities.
        prop_assume!(x.is_finite());
        let theirs = float8::F8E4M3::from_f32(x);
        prop_assert_eq!(round_f64(DType::F8E4M3, x.into()), u64::from(theirs.to_bits()), "{}", x);
    }

    #[test]
    fn bytes_round_trip(values: Vec<i64>) {
        for dtype in DType::ALL {
            let array = Array::from_i64(dtype, &[values.len()], &values).unwrap();
            let bytes = cast(&array, dtype).to_bytes();
            prop_assert_eq!(bytes.len(), values.len() * dtype.size());
            for i in 0..values.len() {
                prop_assert_eq!(dtype.read(&bytes, i), Some(array.bits(i)));
            }
            prop_assert_eq!(dtype.read(&bytes, values.len()), None);
            prop_assert_eq!(Array::from_bytes(dtype, &[values.len()], &bytes).unwrap(), array);
        }
    }
}

/// Neighbouring subnormals of f64 are one unit apart: their halves, which are not exact, must not enter.
#[test]
fn neighbouring_f64_subnormals_differ_by_one_unit() {
    use reference::round::ulp;
    use reference::{Array, DType, Judge, UnaryOp, Value, difference};
    let input = Array::from_values(DType::F64, &[1], &[Value::Float(f64::from_bits(7))]).unwrap();
    let outcome = reference::unary(UnaryOp::Sqrt, &input).unwrap();
    assert_eq!(outcome.judge(), Judge::Exact);
    let mut expected = outcome.at(0);
    expected.value = reference::Dd::from(f64::from_bits(7));
    expected.bits = 7;
    for neighbour in [6u64, 8] {
        assert_eq!(difference(DType::F64, &expected, neighbour), ulp(DType::F64, f64::from_bits(7)));
    }
}
