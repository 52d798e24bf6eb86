//! Sorts, running sums and running products on values worked out by hand.

use reference::{Array, CumulativeOp, DType, Error, Judge, Outcome, Sorted, Value, scan, sort};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn numbers(outcome: &Outcome<'_>) -> Vec<f64> {
    let number = |value| match value {
        Value::Float(x) => x,
        Value::Int(i) => i as f64,
    };
    outcome.iter().map(|expected| number(outcome.dtype().decode(expected.bits))).collect()
}

fn patterns(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() }).collect()
}

#[test]
fn sorts_are_stable_in_both_directions_and_nan_is_the_greatest() {
    for dtype in [DType::BF16, DType::F16, DType::F32, DType::F64] {
        let a = Array::from_f64(dtype, &[9], &[0.0, NAN, -1.0, -0.0, INF, 0.0, NAN, -INF, -1.0]).unwrap();
        let of = |descending, what| numbers(&sort(&a, 0, descending, 9, what).unwrap());
        assert_eq!(of(false, Sorted::Positions), [7.0, 2.0, 8.0, 3.0, 0.0, 5.0, 4.0, 1.0, 6.0]);
        assert_eq!(of(true, Sorted::Positions), [1.0, 6.0, 4.0, 0.0, 5.0, 3.0, 2.0, 8.0, 7.0]);
        let rising = [-INF, -1.0, -1.0, -0.0, 0.0, 0.0, INF, NAN, NAN];
        assert_eq!(patterns(&of(false, Sorted::Values)), patterns(&rising));
        let falling = [NAN, NAN, INF, 0.0, 0.0, -0.0, -1.0, -1.0, -INF];
        assert_eq!(patterns(&of(true, Sorted::Values)), patterns(&falling));
    }
}

#[test]
fn sorts_along_any_axis_and_keeps_as_many_as_wanted() {
    let a = Array::from_i64(DType::I64, &[2, 3, 2], &[5, 1, 4, i64::MIN, 5, 3, 0, 9, 1, 9, -1, i64::MAX])
        .unwrap();
    let of = |axis, descending, keep, what| {
        let outcome = sort(&a, axis, descending, keep, what).unwrap();
        assert_eq!(outcome.judge(), Judge::Exact);
        (outcome.shape().to_vec(), outcome.dtype(), numbers(&outcome))
    };
    let positions = vec![0.0, 2.0, 2.0, 0.0, 1.0, 2.0, 0.0, 0.0];
    assert_eq!(of(1, true, 2, Sorted::Positions), (vec![2, 2, 2], DType::U32, positions));
    let least = vec![0.0, 1.0, 1.0, i64::MIN as f64, -1.0, 3.0];
    assert_eq!(of(0, false, 1, Sorted::Values), (vec![1, 3, 2], DType::I64, least));
    assert_eq!(of(2, false, 2, Sorted::Positions).2, [1., 0., 1., 0., 1., 0., 0., 1., 0., 1., 0., 1.]);
    assert_eq!(of(2, false, 0, Sorted::Values).0, [2, 3, 0]);
    assert!(matches!(sort(&a, 3, false, 1, Sorted::Values), Err(Error::Axis { axis: 3, .. })));
    assert!(matches!(sort(&a, 2, false, 3, Sorted::Values), Err(Error::View { .. })));
    let empty = Array::from_i64(DType::U8, &[0, 3], &[]).unwrap();
    assert!(sort(&empty, 1, false, 3, Sorted::Values).unwrap().is_empty());
    assert!(sort(&empty, 0, false, 0, Sorted::Values).unwrap().is_empty());
}

#[test]
fn running_sums_and_products_of_integers_wrap() {
    let a = Array::from_i64(DType::U8, &[2, 3], &[200, 100, 3, 1, 2, 16]).unwrap();
    let of = |op, axis| numbers(&scan(op, &a, axis).unwrap());
    assert_eq!(of(CumulativeOp::Sum, 1), [200.0, 44.0, 47.0, 1.0, 3.0, 19.0]);
    assert_eq!(of(CumulativeOp::Sum, 0), [200.0, 100.0, 3.0, 201.0, 102.0, 19.0]);
    assert_eq!(of(CumulativeOp::Prod, 1), [200.0, 32.0, 96.0, 1.0, 2.0, 32.0]);
    assert_eq!(of(CumulativeOp::Prod, 0), [200.0, 100.0, 3.0, 200.0, 200.0, 48.0]);
    assert!(matches!(scan(CumulativeOp::Sum, &a, 2), Err(Error::Axis { axis: 2, .. })));
    let empty = Array::from_i64(DType::I16, &[3, 0], &[]).unwrap();
    assert!(scan(CumulativeOp::Prod, &empty, 1).unwrap().is_empty());
}

#[test]
fn running_sums_and_products_of_floats_are_judged_by_their_terms() {
    let a = Array::from_f64(DType::F32, &[4], &[1e8, 1.0, -1e8, 0.5]).unwrap();
    let sums = scan(CumulativeOp::Sum, &a, 0).unwrap();
    assert_eq!(sums.judge(), Judge::Within { ulps: 1.0, t: 2e-7 });
    let exact: Vec<f64> = sums.iter().map(|expected| expected.value.hi).collect();
    assert_eq!(exact, [1e8, 1e8 + 1.0, 1.0, 1.5]);
    let scales: Vec<f64> = sums.iter().map(|expected| expected.scale).collect();
    assert_eq!(scales[0], 1e8);
    assert_eq!(scales[3], (2e8 + 1.5) * 2.0);
    let special = Array::from_f64(DType::F16, &[4], &[1.0, INF, -INF, 1.0]).unwrap();
    let sums = numbers(&scan(CumulativeOp::Sum, &special, 0).unwrap());
    assert_eq!(patterns(&sums), patterns(&[1.0, INF, NAN, NAN]));
    let products = Array::from_f64(DType::F64, &[4], &[0.5, -4.0, 3.0, 0.0]).unwrap();
    let outcome = scan(CumulativeOp::Prod, &products, 0).unwrap();
    assert_eq!(numbers(&outcome), [0.5, -2.0, -6.0, 0.0]);
    assert_eq!(outcome.at(2).scale, 18.0);
}
