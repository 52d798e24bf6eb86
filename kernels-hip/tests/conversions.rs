//! Conversions between all dtypes by the kernels compiled for the host: every pattern of the small floats, every tie, every pair of dtypes.
//! Compared with the crates `half` and `float8`, and with tables computed from the definition of the formats.

mod common;

use common::Random;
use common::device::{WAVE_32, input, output, run, value};
use common::formats::{self, Number, Small};
use half::{bf16, f16};
use kernels_hip::args::Map1;

/// Converts bit patterns between any dtypes.
fn cast(from: &str, to: &str, patterns: &[u64]) -> Vec<u64> {
    let (size_in, size_out) = (formats::bytes(from), formats::bytes(to));
    let bytes: Vec<u8> = patterns.iter().flat_map(|bits| bits.to_le_bytes()[..size_in].to_vec()).collect();
    let mut out = vec![0u8; patterns.len() * size_out];
    let map = Map1::tight(patterns.len() as u64);
    let mut args = [input(&bytes), output(&mut out), value(&map)];
    // SAFETY: S9: both arrays hold as many elements as the map says.
    unsafe { run(WAVE_32, &format!("elementwise_cast_{from}_{to}"), (3, 64), &mut args) };
    let widen = |chunk: &[u8]| {
        let mut eight = [0; 8];
        eight[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(eight)
    };
    out.chunks(size_out).map(widen).collect()
}

fn expect(from: &str, to: &str, input: &[u64], wanted: impl Fn(u64) -> u64) {
    for (bits, got) in input.iter().zip(cast(from, to, input)) {
        let wanted = wanted(*bits);
        let both_nan = formats::is_nan(to, got) && formats::is_nan(to, wanted);
        assert!(got == wanted || both_nan, "{from} {bits:#x} to {to}: got {got:#x}, want {wanted:#x}");
    }
}

#[test]
fn all_patterns_of_small_floats_widen_as_the_crates_say() {
    let all16: Vec<u64> = (0..=0xffff).collect();
    expect("f16", "f32", &all16, |b| f16::from_bits(b as u16).to_f32().to_bits().into());
    expect("bf16", "f32", &all16, |b| bf16::from_bits(b as u16).to_f32().to_bits().into());
    let all8: Vec<u64> = (0..=0xff).collect();
    expect("f8e4m3", "f32", &all8, |b| float8::F8E4M3::from_bits(b as u8).to_f32().to_bits().into());
    for format in Small::all() {
        let all = if format.bytes == 1 { &all8 } else { &all16 };
        for wide in ["f32", "f64"] {
            expect(format.name, wide, all, |b| formats::encode(wide, Number::Float(format.decode(b))));
        }
        // The round trip is the identity, except for NaN.
        expect(format.name, format.name, all, |b| b);
    }
}

/// For every pair of neighbours: the midpoint and the f32 numbers next to it, with both signs.
fn f32_ties(format: &Small) -> Vec<u64> {
    let midpoints = (0..format.values.len()).map(|i| format.midpoint(i) as f32);
    let three = midpoints.flat_map(|m| [m.next_down(), m, m.next_up()]);
    three.flat_map(|x| [x.to_bits().into(), (-x).to_bits().into()]).collect()
}

#[test]
fn f32_rounds_to_small_floats_as_the_crates_say() {
    let mut random = Random(1);
    let mut some: Vec<u64> = (0..500_000).map(|_| random.next() >> 32).collect();
    // Most random patterns are out of the range of f16 and f8, so there are more near one.
    some.extend((0..500_000).map(|_| (random.next() >> 32) % 0x2000_0000 + 0x3000_0000));
    some.extend([
        0,
        0x8000_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0xff80_0001,
        1,
        0x8000_0001,
        0x7f7f_ffff,
    ]);
    let f16_bits = |b: u64| u64::from(f16::from_f32(f32::from_bits(b as u32)).to_bits());
    let bf16_bits = |b: u64| u64::from(bf16::from_f32(f32::from_bits(b as u32)).to_bits());
    let f8_bits = |b: u64| u64::from(float8::F8E4M3::from_f32(f32::from_bits(b as u32)).to_bits());
    for inputs in [&some, &f32_ties(&Small::f16())] {
        expect("f32", "f16", inputs, f16_bits);
    }
    for inputs in [&some, &f32_ties(&Small::bf16())] {
        expect("f32", "bf16", inputs, bf16_bits);
    }
    for inputs in [&some, &f32_ties(&Small::f8e4m3())] {
        expect("f32", "f8e4m3", inputs, f8_bits);
    }
    for format in Small::all() {
        for inputs in [&some, &f32_ties(&format)] {
            expect("f32", format.name, inputs, |b| format.encode(formats::decode("f32", b)));
        }
    }
}

#[test]
fn f8e4m3_saturates_and_has_subnormals() {
    let table: [(f32, u64); 18] = [
        (0.0, 0x00),
        (-0.0, 0x80),
        (1.0, 0x38),
        (-1.0, 0xb8),
        (448.0, 0x7e),
        (463.9, 0x7e),
        (464.0, 0x7e),
        (465.0, 0x7e),
        (1e30, 0x7e),
        (f32::INFINITY, 0x7e),
        (f32::NEG_INFINITY, 0xfe),
        (2f32.powi(-6), 0x08),       // smallest normal
        (2f32.powi(-9), 0x01),       // smallest subnormal
        (2f32.powi(-10), 0x00),      // half of it: a tie, to even
        (1.5 * 2f32.powi(-9), 0x02), // a tie between 1 and 2
        (7.5 * 2f32.powi(-9), 0x08), // a tie between the largest subnormal and the smallest normal
        (1.0625, 0x38),              // a tie between 1 and 1.125
        (1.1875, 0x3a),              // a tie between 1.125 and 1.25
    ];
    for (x, wanted) in table {
        expect("f32", "f8e4m3", &[x.to_bits().into()], |_| wanted);
        expect("f64", "f8e4m3", &[f64::from(x).to_bits()], |_| wanted);
    }
    assert_eq!(cast("f32", "f8e4m3", &[f32::NAN.to_bits().into()])[0] & 0x7f, 0x7f);
    expect("f64", "f8e4m3", &[f64::MAX.to_bits(), f64::INFINITY.to_bits()], |_| 0x7e);
}

#[test]
fn f64_rounds_to_small_floats_once() {
    let mut random = Random(2);
    for format in Small::all() {
        // One ulp of f64 away from a midpoint: rounding to f32 first would give the tie.
        let midpoints = (0..format.values.len()).map(|i| format.midpoint(i));
        let three = midpoints.flat_map(|m| [m.next_down(), m, m.next_up()]);
        let ties: Vec<u64> = three.flat_map(|x| [x.to_bits(), (-x).to_bits()]).collect();
        expect("f64", format.name, &ties, |b| format.encode(formats::decode("f64", b)));
        // Exponents from far below to far above the format, random fractions.
        let some: Vec<u64> =
            (0..300_000).map(|_| random.next()).map(|r| (r >> 12) | (1023 - 160 + r % 300) << 52).collect();
        expect("f64", format.name, &some, |b| format.encode(formats::decode("f64", b)));
    }
}

#[test]
fn integers_round_to_floats_once() {
    for format in Small::all() {
        let mut inputs = Vec::new();
        for i in 0..format.values.len() {
            let middle = format.midpoint(i);
            if (1.0..2f64.powi(62)).contains(&middle) {
                let near = (middle as i64).saturating_sub(1)..=(middle as i64).saturating_add(1);
                inputs.extend(near.flat_map(|v| [v as u64, (-v) as u64]));
            }
        }
        inputs.extend([0, 1, i64::MAX as u64, i64::MIN as u64, (1 << 53) + 1, (1 << 62) + 1, (1 << 24) + 1]);
        for from in ["i64", "i32", "u32"] {
            let keep = if from == "i64" { u64::MAX } else { 0xffff_ffff };
            let inputs: Vec<u64> = inputs.iter().map(|v| v & keep).collect();
            expect(from, format.name, &inputs, |b| format.encode(formats::decode(from, b)));
        }
    }
}

/// Special values of a dtype, and random patterns.
fn inputs(dtype: &str, random: &mut Random) -> Vec<u64> {
    let mask = u64::MAX >> (64 - 8 * formats::bytes(dtype));
    let mut all: Vec<u64> = (0..20_000).map(|_| random.next() & mask).collect();
    let numbers = [
        0.0,
        0.5,
        1.5,
        2.5,
        127.5,
        128.0,
        255.0,
        255.5,
        256.0,
        32767.0,
        32768.5,
        65536.0,
        2147483647.0,
        2147483648.0,
    ];
    let large = [
        4294967295.0,
        4294967296.0,
        9.2e18,
        9223372036854775808.0,
        1.8e19,
        1e30,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
    ];
    for x in numbers.into_iter().chain(large) {
        all.extend([formats::encode(dtype, Number::Float(x)), formats::encode(dtype, Number::Float(-x))]);
    }
    all.extend([0, 1, mask, mask >> 1, (mask >> 1) + 1, mask - 1]);
    // Values of ordinary size, which are rare among random patterns of floats.
    all.extend(
        (0..20_000)
            .map(|_| formats::encode(dtype, Number::Float((random.next() >> 40) as f64 / 1024.0 - 8192.0))),
    );
    all
}

#[test]
fn every_pair_of_dtypes() {
    let dtypes = ["u8", "u32", "i16", "i32", "i64", "f8e4m3", "bf16", "f16", "f32", "f64"];
    let mut random = Random(3);
    for from in dtypes {
        let inputs = inputs(from, &mut random);
        for to in dtypes {
            expect(from, to, &inputs, |b| formats::encode(to, formats::decode(from, b)));
        }
    }
}
