//! Tests of agreement: by hand, and against the reference's judge.

use reference::{Array, BinaryOp, DType, Judge, Outcome, ReduceOp, UnaryOp, Value};

use std::collections::BTreeSet;

use super::*;
use crate::comparison::Manner;

/// An f32 result of one element with this tolerance.
fn one(value: f32, tolerance: f64, overflow: bool) -> Entry {
    let probe = Probe { index: 0, bits: value.to_bits().into(), allowed: Allowed { tolerance, overflow } };
    let form = Form { dtype: DType::F32, shape: vec![1] };
    Entry {
        hash: 1,
        id: "x/f32".into(),
        rule: String::new(),
        found: Found::Sampled { form, probes: vec![probe] },
    }
}

fn agrees(left: &Entry, right: &Entry) -> bool {
    let (there, back) = (compare(left, right), compare(right, left));
    let fine = |agreement: &Agreement| matches!(agreement, Agreement::Equal | Agreement::Within(_));
    assert_eq!(fine(&there), fine(&back), "{there:?}, but {back:?} the other way round");
    assert!(fine(&there) || matches!(there, Agreement::Differs(_)), "{there:?}");
    fine(&there)
}

#[test]
fn numbers_may_be_apart_by_both_errors() {
    let (a, tolerance) = (one(1.0, 0.25, false), 0.25);
    assert_eq!(compare(&a, &one(1.0, tolerance, false)), Agreement::Equal);
    assert_eq!(compare(&a, &one(1.25, tolerance, false)), Agreement::Within(0.5));
    assert!(agrees(&a, &one(1.5, tolerance, false)) && agrees(&a, &one(0.5, tolerance, false)));
    assert!(!agrees(&a, &one(1.5000001, tolerance, false)));
    let Agreement::Differs(difference) = compare(&a, &one(-0.5, tolerance, false)) else {
        panic!("apart by 3")
    };
    assert_eq!((difference.units, difference.wrong, difference.part.as_str()), (3.0, 1, "element 0"));
    assert_eq!(
        difference.describe("here", "there"),
        "element 0: here has 1.0 (0x3f800000), there has -0.5 (0xbf000000), 3.00 times what is allowed apart"
    );
    // With tolerance 0, zeros of both signs have distance 0, but neighbours do not.
    assert!(agrees(&one(0.0, 0.0, false), &one(-0.0, 0.0, false)));
    assert!(!agrees(&one(0.0, 0.0, false), &one(f32::from_bits(1), 0.0, false)));
}

/// A file cannot widen the other side's tolerance.
#[test]
fn both_must_allow_the_same() {
    let fault = |left: &Entry, right: &Entry| {
        assert!(!agrees(left, right));
        let Agreement::Differs(difference) = compare(left, right) else { panic!("they differ") };
        assert_eq!((difference.kind.clone(), difference.wrong), (Kind::Fault, 0));
        difference.describe("a", "b")
    };
    let own = one(1.0, 0.25, false);
    let words = "what element 0 may be off: a has 2.5e-1, b has inf";
    assert_eq!(fault(&own, &one(9.0, f64::INFINITY, false)), words);
    assert_eq!(
        fault(&own, &one(9.0, 0.25, true)),
        "what element 0 may be off: a has 2.5e-1, b has 2.5e-1 or an overflow"
    );
    fault(&own, &one(1.0, 0.2506, false));
    fault(&own, &one(1.0, 0.0, false));
    // Tolerances may differ by their rounding to four digits.
    assert!(agrees(&own, &one(1.25, 0.2501, false)));
    // A run uses its own tolerance.
    let generous = one(9.0, f64::INFINITY, true);
    assert!(matches!(hold(&own, &generous), Agreement::Differs(difference) if difference.units == 16.0));
    assert_eq!(hold(&own, &one(1.5, 0.0, false)), Agreement::Within(1.0));
}

#[test]
fn the_kinds_of_difference_of_samples_are_known() {
    let kind = |left: f32, right: f32| match compare(&one(left, 0.0, false), &one(right, 0.0, false)) {
        Agreement::Differs(difference) => difference.kind,
        other => panic!("{other:?}"),
    };
    let elements = |manner| Kind::Elements(BTreeSet::from([manner]));
    assert_eq!(kind(1.0, f32::NAN), elements(Manner::Nan));
    assert_eq!((kind(1.0, 0.0), kind(-0.0, 1.0)), (elements(Manner::Vanished), elements(Manner::Vanished)));
    assert_eq!(kind(1.0, 2.0), elements(Manner::Other));
}

#[test]
fn results_under_different_rules_are_not_compared() {
    let (own, mut other) = (one(1.0, 0.25, false), one(1.0, 0.25, false));
    other.rule = "within 9 ulp".into();
    assert!(matches!(compare(&own, &other), Agreement::Incomparable(_)));
}

#[test]
fn nan_agrees_with_nan_alone() {
    let nan = |bits| one(f32::from_bits(bits), 0.0, false);
    assert!(agrees(&nan(0x7fc0_0000), &nan(0xffc0_1234)));
    for other in [0.0, 1.0, f32::MAX, f32::INFINITY] {
        assert!(!agrees(&nan(0x7fc0_0000), &one(other, 0.0, false)));
        assert!(!agrees(&nan(0x7fc0_0000), &one(other, 1e30, false)));
    }
}

#[test]
fn an_infinity_is_one_step_beyond_the_largest_number() {
    let step = 2f64.powi(104);
    assert!(agrees(&one(f32::INFINITY, step / 2.0, false), &one(f32::MAX, step / 2.0, false)));
    assert!(!agrees(&one(f32::INFINITY, step / 2.0, false), &one(f32::MAX, step / 2.1, false)));
    assert!(!agrees(&one(f32::INFINITY, 0.0, false), &one(f32::MAX, 0.0, false)));
    assert!(!agrees(&one(f32::INFINITY, step, false), &one(1.0, step, false)));
    assert!(!agrees(&one(f32::INFINITY, step, false), &one(f32::NEG_INFINITY, step, false)));
    assert!(agrees(&one(f32::NEG_INFINITY, 0.0, false), &one(f32::NEG_INFINITY, 0.0, false)));
}

#[test]
fn where_an_overflow_is_allowed_specials_agree_with_everything() {
    for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for other in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.0] {
            assert!(agrees(&one(special, 0.1, true), &one(other, 0.1, true)), "{special} {other}");
        }
    }
    assert!(!agrees(&one(1.0, 0.1, true), &one(2.0, 0.1, true)), "two numbers are still compared");
}

#[test]
fn digests_forms_and_errors() {
    let exact = |digest, shape: &[usize]| {
        let form = Form { dtype: DType::U8, shape: shape.to_vec() };
        Entry { hash: 1, id: "x/u8".into(), rule: String::new(), found: Found::Exact { form, digest } }
    };
    assert_eq!(compare(&exact(5, &[2]), &exact(5, &[2])), Agreement::Equal);
    assert!(!agrees(&exact(5, &[2]), &exact(6, &[2])));
    assert!(!agrees(&exact(5, &[2]), &exact(5, &[1, 2])));
    let error = Entry::of_error(1, "x/u8".into(), String::new(), "out of memory".into());
    assert!(!agrees(&exact(5, &[2]), &error));
    let Agreement::Differs(difference) = compare(&error, &exact(5, &[2])) else {
        panic!("an error is no result")
    };
    assert_eq!(difference.describe("a", "b"), "result: a has the error \"out of memory\", b has u8 [2]");
    assert!(matches!(compare(&error, &error), Agreement::Incomparable(_)));
    assert!(matches!(compare(&exact(5, &[2]), &one(1.0, 0.0, false)), Agreement::Incomparable(_)));
}

/// All pairs of results that the judge accepts agree, and results far from all of them do not.
fn sound(outcome: &Outcome<'_>, judge: Judge) -> usize {
    let dtype = outcome.dtype();
    let good: Vec<u64> = (0..outcome.len()).map(|index| outcome.at(index).bits).collect();
    let entry = |index: usize, bits: u64| {
        let mut bytes = Vec::new();
        good.iter()
            .enumerate()
            .for_each(|(at, right)| dtype.write(if at == index { bits } else { *right }, &mut bytes));
        Entry::of_result(9, "x/f16".into(), outcome, judge, &bytes)
    };
    let mut pairs = 0;
    for index in 0..outcome.len() {
        let expected = outcome.at(index);
        let all = 0..1u64 << dtype.bits();
        let accepted: Vec<u64> = all.filter(|bits| judge.accepts(dtype, &expected, *bits)).collect();
        // Many NaNs, and many results within a wide tolerance, are represented by some of them.
        let some: Vec<u64> = accepted.iter().copied().step_by(accepted.len().div_ceil(12)).collect();
        for (a, b) in some.iter().flat_map(|a| some.iter().map(move |b| (*a, *b))) {
            assert!(
                agrees(&entry(index, a), &entry(index, b)),
                "element {index}: {a:x} and {b:x} are both right"
            );
            pairs += usize::from(a != b);
        }
        if !expected.overflow {
            let tolerance = judge.tolerance(dtype, &expected);
            let far = match dtype.decode(expected.bits) {
                Value::Float(x) if x.is_finite() => x + 4.0 * tolerance.max(x.abs() * 0.01) + 1e-6,
                _ => 0.0,
            };
            let far = dtype.encode(Value::Float(far));
            if far != expected.bits && dtype.decode(far) != dtype.decode(expected.bits) {
                assert!(
                    !agrees(&entry(index, expected.bits), &entry(index, far)),
                    "element {index}: {far:x}"
                );
            }
        }
    }
    pairs
}

#[test]
fn two_right_results_always_agree() {
    let values =
        [0.0, 1.0, -2.5, 11.0, 11.09, 11.1, 12.0, -17.0, -30.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    for dtype in [DType::F16, DType::BF16, DType::F8E4M3] {
        let array = Array::from_f64(dtype, &[values.len()], &values).unwrap();
        for op in [UnaryOp::Exp, UnaryOp::Gelu, UnaryOp::Tan] {
            let outcome = reference::unary(op, &array).unwrap();
            assert!(sound(&outcome, outcome.judge()) > 0);
        }
        let other = Array::from_f64(dtype, &[values.len()], &[3.0; 12]).unwrap();
        let outcome = reference::binary(BinaryOp::Pow, &array, &other).unwrap();
        assert!(sound(&outcome, outcome.judge()) > 0);
    }
    // Sums that overflow only in some orders.
    let big = [60_000.0, 60_000.0, -60_000.0, -60_000.0, 1.0, 2.0, 3.0, 4.0];
    let array = Array::from_f64(DType::F16, &[2, 4], &big).unwrap();
    let outcome = reference::reduce(ReduceOp::Sum, &array, &[1], false).unwrap();
    assert!(sound(&outcome, outcome.judge()) > 0);
}
