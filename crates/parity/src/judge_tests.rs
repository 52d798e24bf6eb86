//! Tests of the judge, with errors just below and just above the tolerance.

use reference::{Array, DType, ReduceOp, UnaryOp, Value};

use crate::judge::{judge, rule};

/// The reference's results as bytes, with one element replaced.
fn with_one(dtype: DType, values: &[f64], at: usize, value: f64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, x) in values.iter().enumerate() {
        dtype.write(dtype.encode(Value::Float(if index == at { value } else { *x })), &mut bytes);
    }
    bytes
}

#[test]
fn sums_are_allowed_t_times_their_terms_and_one_ulp() {
    // 10,000 terms of 1 and -1 cancel except for one: the sum is 1, the scale 10001, and t = 2e-7 · √10001.
    let terms: Vec<f64> = (0..10_001).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let array = Array::from_f64(DType::F32, &[10_001], &terms).unwrap();
    let outcome = reference::reduce(ReduceOp::Sum, &array, &[0], false).unwrap();
    let allowed = 2e-7 * 10_001f64.sqrt() * 10_001.0 + f64::from(f32::EPSILON);
    let try_error = |factor: f64| {
        let bytes = with_one(DType::F32, &[1.0], 0, 1.0 + factor * allowed);
        judge(&outcome, rule(&outcome, false), &[&bytes]).remove(0)
    };
    let good = try_error(0.9);
    assert_eq!(good.wrong, 0);
    assert!((good.worst - 0.9).abs() < 1e-3, "{}", good.worst);
    let bad = try_error(-1.1);
    assert_eq!((bad.wrong, bad.elements), (1, 1));
    assert!((bad.worst - 1.1).abs() < 1e-3, "{}", bad.worst);
    let sample = bad.sample.unwrap();
    assert_eq!(sample.index, 0);
    assert!((sample.allowed - allowed).abs() < 1e-3 * allowed, "{}", sample.allowed);
    assert!((sample.error.unwrap() - 1.1 * allowed).abs() < 1e-3 * allowed, "{sample:?}");
    // If the case requires exact bits, even the small error is wrong.
    let bytes = with_one(DType::F32, &[1.0], 0, 1.0 + 0.9 * allowed);
    assert_eq!(judge(&outcome, rule(&outcome, true), &[&bytes])[0].wrong, 1);
}

#[test]
fn transcendental_results_are_allowed_their_ulps() {
    let array = Array::from_f64(DType::F32, &[3], &[0.0, 1.0, 2.0]).unwrap();
    let outcome = reference::unary(UnaryOp::Exp, &array).unwrap();
    let exact: Vec<f64> = [0.0f64, 1.0, 2.0].map(f64::exp).to_vec();
    // e is in [2, 4), where an ulp of f32 is 2^-22. exp may be off by 2.5 of them. Whole steps from the rounded result:
    let step = |count: i32| {
        let rounded = (1.0f64.exp() as f32).to_bits().wrapping_add_signed(count);
        let bytes = with_one(DType::F32, &exact, 1, f32::from_bits(rounded).into());
        judge(&outcome, rule(&outcome, false), &[&bytes]).remove(0)
    };
    assert_eq!(step(0).wrong, 0);
    assert_eq!(step(2).wrong + step(-2).wrong, 0);
    assert_eq!((step(3).wrong, step(-3).wrong), (1, 1));
    // e = 2.71828182845904…, nearest f32 2.71828174591064…: it is 0.346 ulp below e, so that three steps down are 3.346
    // ulp off.
    assert!((step(-3).ulps - 3.346).abs() < 0.01, "{}", step(-3).ulps);
    assert!((step(-3).worst - 3.346 / 2.5).abs() < 0.01);
    assert!((step(-3).sample.unwrap().ulps.unwrap() - 3.346).abs() < 0.01);
    // The buckets begin with equal bits, less than 1/2 ulp, 1/2, 1, 2 and 4 ulp.
    assert_eq!(step(0).histogram.counts(), [3]);
    assert_eq!(step(1).histogram.counts(), [2, 0, 1], "0.654 ulp");
    assert_eq!(step(2).histogram.counts(), [2, 0, 0, 1], "1.654 ulp");
    assert_eq!(step(-3).histogram.counts(), [2, 0, 0, 0, 1], "3.346 ulp");
}

#[test]
fn exact_results_have_no_tolerance() {
    let array = Array::from_f64(DType::F16, &[2], &[1.0, -0.0]).unwrap();
    let outcome = reference::unary(UnaryOp::Neg, &array).unwrap();
    let verdict = |bits: [u16; 2]| {
        let bytes: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        judge(&outcome, rule(&outcome, false), &[&bytes]).remove(0)
    };
    assert_eq!(verdict([0xbc00, 0x0000]).wrong, 0);
    let off = verdict([0xbc01, 0x0000]);
    assert_eq!((off.wrong, off.worst), (1, f64::INFINITY));
    assert_eq!(off.sample.unwrap().got, "-1.0009765625 (0xbc01)");
    assert_eq!(verdict([0xbc00, 0x8000]).wrong, 1, "the sign of zero counts");
}

#[test]
fn nan_equals_only_nan() {
    let array = Array::from_f64(DType::F32, &[2], &[f64::NAN, 1.0]).unwrap();
    let outcome = reference::unary(UnaryOp::Exp, &array).unwrap();
    let e = 1f32.exp();
    let verdict = |values: [f32; 2]| {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        judge(&outcome, rule(&outcome, false), &[&bytes]).remove(0)
    };
    let other_nan = verdict([f32::from_bits(0xffc0_1234), e]);
    assert_eq!((other_nan.wrong, other_nan.sample), (0, None));
    assert_eq!(other_nan.histogram.counts(), [2]);
    let no_distance = verdict([0.0, e]);
    assert_eq!((no_distance.histogram.counts().len(), no_distance.histogram.counts()[23]), (24, 1));
    assert_eq!(no_distance.sample.unwrap().error, None);
    for wrong in [[0.0, e], [f32::INFINITY, e], [f32::NAN, f32::NAN], [f32::NAN, f32::INFINITY]] {
        let verdict = verdict(wrong);
        assert_eq!(verdict.wrong, 1, "{wrong:?}");
        assert!(verdict.worst > 1.0);
    }
}

#[test]
fn many_chunks_and_devices_are_judged_in_one_pass() {
    let values: Vec<f64> = (0..20_000).map(f64::from).collect();
    let array = Array::from_f64(DType::F32, &[20_000], &values).unwrap();
    let outcome = reference::unary(UnaryOp::Abs, &array).unwrap();
    let right = with_one(DType::F32, &values, 0, 0.0);
    let mut wrong = with_one(DType::F32, &values, 15_000, -1.0);
    let first = with_one(DType::F32, &values, 9_000, -1.0);
    wrong[4 * 9_000..4 * 9_001].copy_from_slice(&first[4 * 9_000..4 * 9_001]);
    let verdicts = judge(&outcome, rule(&outcome, false), &[&right, &wrong]);
    assert_eq!(verdicts[0].wrong, 0);
    assert_eq!(verdicts[1].wrong, 2);
    assert_eq!(verdicts[1].sample.as_ref().unwrap().index, 9_000, "the first of equally bad elements");
    assert_eq!(verdicts[0].histogram.counts(), [20_000]);
    let counts = verdicts[1].histogram.counts();
    assert_eq!((counts[0], counts[1..].iter().sum::<u64>()), (19_998, 2));
}
