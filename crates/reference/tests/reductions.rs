//! Reductions and matrix products on values worked out by hand, and against plain loops over integers.

use proptest::prelude::*;
use reference::{Array, DType, Error, Expected, Judge, ReduceOp, Value, matmul, reduce, sum_tolerance};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn floats(dtype: DType, values: &[f64]) -> Array {
    Array::from_f64(dtype, &[values.len()], values).expect("the length is the shape's")
}

fn full(op: ReduceOp, a: &Array) -> Expected {
    let axes: Vec<usize> = (0..a.shape().len()).collect();
    let outcome = reduce(op, a, &axes, false).expect("a value");
    assert_eq!((outcome.shape(), outcome.len()), (&[][..], 1));
    outcome.at(0)
}

fn ints(array: &Array, op: ReduceOp, axes: &[usize], keepdim: bool) -> (Vec<usize>, Vec<i128>) {
    let outcome = reduce(op, array, axes, keepdim).expect("a value");
    assert_eq!(outcome.judge(), Judge::Exact);
    let value = |element: Expected| match outcome.dtype().decode(element.bits) {
        Value::Int(i) => i,
        Value::Float(_) => panic!("an integer"),
    };
    (outcome.shape().to_vec(), outcome.iter().map(value).collect())
}

#[test]
fn axes_and_shapes() {
    let a = Array::from_i64(DType::I32, &[2, 2, 3], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]).unwrap();
    assert_eq!(ints(&a, ReduceOp::Sum, &[1], false), (vec![2, 3], vec![5, 7, 9, 17, 19, 21]));
    assert_eq!(ints(&a, ReduceOp::Sum, &[2, 0], true), (vec![1, 2, 1], vec![30, 48]));
    assert_eq!(ints(&a, ReduceOp::Sum, &[0, 1, 2], false), (vec![], vec![78]));
    assert_eq!(ints(&a, ReduceOp::Max, &[], false).1[4], 5);
    assert_eq!(ints(&a, ReduceOp::ArgMax, &[0, 2], false), (vec![2], vec![5, 5]));
    assert_eq!(ints(&a, ReduceOp::ArgMin, &[0], false).1, [0; 6]);
    assert!(matches!(reduce(ReduceOp::Sum, &a, &[3], false), Err(Error::Axis { axis: 3, .. })));
    assert!(matches!(reduce(ReduceOp::Sum, &a, &[1, 1], false), Err(Error::Axis { axis: 1, .. })));
}

#[test]
fn integers_wrap() {
    let bytes = Array::from_i64(DType::U8, &[3], &[200, 100, 3]).unwrap();
    assert_eq!(ints(&bytes, ReduceOp::Sum, &[0], false).1, [47]);
    assert_eq!(ints(&bytes, ReduceOp::Prod, &[0], false).1, [(200 * 100 * 3) % 256]);
    let long = Array::from_i64(DType::I64, &[70], &[3; 70]).unwrap();
    let wrapped = (0..70).fold(1i64, |product, _| product.wrapping_mul(3));
    assert_eq!(ints(&long, ReduceOp::Prod, &[0], false).1, [wrapped.into()]);
    assert!(matches!(reduce(ReduceOp::Mean, &long, &[0], false), Err(Error::Unsupported { op: "mean", .. })));
}

#[test]
fn nothing_has_a_sum_but_no_maximum() {
    let empty = Array::from_f64(DType::F32, &[0, 2], &[]).unwrap();
    let at = |op| reduce(op, &empty, &[0], false).map(|outcome| outcome.at(1).value.hi);
    assert_eq!(at(ReduceOp::Sum), Ok(0.0));
    assert_eq!(at(ReduceOp::Prod), Ok(1.0));
    assert!(at(ReduceOp::Mean).is_ok_and(f64::is_nan));
    for op in [ReduceOp::Min, ReduceOp::Max, ReduceOp::ArgMin, ReduceOp::ArgMax] {
        assert!(matches!(at(op), Err(Error::Nothing { .. })));
    }
    assert!(reduce(ReduceOp::Max, &empty, &[1], false).is_ok_and(|outcome| outcome.is_empty()));
}

#[test]
fn extremes_follow_the_order_of_floats() {
    for dtype in [DType::F16, DType::F32, DType::F64] {
        let of = |op, values: &[f64]| full(op, &floats(dtype, values));
        let value = |op, values: &[f64]| dtype.decode(of(op, values).bits);
        assert_eq!(value(ReduceOp::Max, &[1.0, 3.0, -2.0]), Value::Float(3.0));
        assert!(dtype.is_nan(of(ReduceOp::Max, &[1.0, NAN, INF]).bits));
        assert!(dtype.is_nan(of(ReduceOp::Min, &[1.0, NAN, -INF]).bits));
        assert_eq!(of(ReduceOp::Max, &[-0.0, 0.0, -0.0]).bits, 0);
        assert_eq!(of(ReduceOp::Min, &[0.0, -0.0, 0.0]).bits, dtype.encode(Value::Float(-0.0)));
        assert_eq!(of(ReduceOp::ArgMax, &[-0.0, 0.0, 0.0]).bits, 1);
        assert_eq!(of(ReduceOp::ArgMin, &[0.0, -0.0, -0.0]).bits, 1);
        assert_eq!(of(ReduceOp::ArgMax, &[5.0, 7.0, 7.0]).bits, 1);
        assert_eq!(of(ReduceOp::ArgMin, &[5.0, 2.0, 2.0]).bits, 1);
        assert_eq!(of(ReduceOp::ArgMax, &[INF, NAN, NAN]).bits, 1);
        assert_eq!(of(ReduceOp::ArgMin, &[-INF, 1.0, NAN]).bits, 2);
    }
}

#[test]
fn sums_keep_what_cancels() {
    let sum = full(ReduceOp::Sum, &floats(DType::F64, &[1e16, 1.0, -1e16, 1e-20]));
    assert_eq!((sum.value.hi, sum.bits), (1.0, 1f64.to_bits()));
    assert_eq!(sum.scale, 2e16);
    assert!(!sum.overflow);
    // 2^25 ones, each from one element.
    let ones = floats(DType::F32, &[1.0]).broadcast_to(&[1 << 25]).unwrap();
    let outcome = reduce(ReduceOp::Sum, &ones, &[0], false).unwrap();
    assert_eq!(outcome.at(0).bits, u64::from(33554432f32.to_bits()));
    assert_eq!(outcome.judge(), Judge::Within { ulps: 1.0, t: 2e-7 * f64::from(1 << 25).sqrt() });
    let mean = full(ReduceOp::Mean, &floats(DType::F16, &[60000.0, 60000.0, 0.5]));
    assert_eq!(mean.value.hi, 120000.5 / 3.0);
    assert_eq!(mean.scale, 120000.5 / 3.0);
}

#[test]
fn sums_of_special_values() {
    let of = |dtype, values: &[f64]| full(ReduceOp::Sum, &floats(dtype, values));
    assert_eq!(of(DType::F32, &[INF, 1.0]).value.hi, INF);
    assert!(of(DType::F32, &[INF, 1.0, -INF]).value.hi.is_nan());
    assert!(of(DType::F64, &[NAN, INF]).value.hi.is_nan());
    // Finite, but some orders overflow on the way.
    for (dtype, max) in [(DType::F32, f64::from(f32::MAX)), (DType::F64, f64::MAX)] {
        let sum = of(dtype, &[max, max, -max]);
        assert!(sum.overflow && sum.value.hi == max, "{sum:?}");
        let judge = Judge::Within { ulps: 1.0, t: sum_tolerance(dtype, 3) };
        assert!(judge.accepts(dtype, &sum, sum.bits));
        assert!(judge.accepts(dtype, &sum, dtype.encode(Value::Float(INF))));
        assert!(judge.accepts(dtype, &sum, dtype.encode(Value::Float(NAN))));
        assert!(!judge.accepts(dtype, &sum, dtype.encode(Value::Float(max / 2.0))));
        let mean = full(ReduceOp::Mean, &floats(dtype, &[max, max]));
        assert!(mean.overflow && mean.value.hi == max, "{mean:?}");
    }
    // f16 accumulates in f32: no order overflows, but the result does.
    let sum = of(DType::F16, &[60000.0, 60000.0]);
    assert!(!sum.overflow && sum.bits == 0x7c00);
    assert!(!of(DType::F32, &[NAN, 3e38, 3e38]).overflow);
}

#[test]
fn products_know_how_far_orders_drift() {
    let of = |values: &[f64]| full(ReduceOp::Prod, &floats(DType::F32, values));
    let plain = of(&[2.0, 3.0, -0.5]);
    assert_eq!((plain.value.hi, plain.scale, plain.overflow), (-3.0, 3.0, false));
    // 1e30·1e30 overflows, unless 1e-30 comes in time.
    let drift = of(&[1e30, 1e30, 1e-30, 1e-30]);
    assert!(drift.overflow && (drift.value.hi - 1.0).abs() < 1e-6);
    // All orders overflow.
    let up = of(&[1e30, 1e30]);
    assert!(!up.overflow && up.bits == u64::from(f32::INFINITY.to_bits()));
    // All orders underflow: within half a subnormal for each factor.
    let down = of(&[1e-30, 1e-30, -0.5]);
    assert!(!down.overflow && down.bits == u64::from((-0f32).to_bits()));
    assert_eq!(down.scale, down.value.hi.abs() + f64::from(f32::MIN_POSITIVE));
    assert_eq!(of(&[0.0, -5.0]).bits, u64::from((-0f32).to_bits()));
    assert!(!of(&[0.0, -5.0]).overflow && of(&[0.0, 1e30, 1e30]).overflow);
    assert!(of(&[0.0, INF]).value.hi.is_nan());
    assert_eq!(of(&[-2.0, INF, 0.5]).value.hi, -INF);
    assert!(of(&[INF, 1e-30, 1e-30]).overflow);
    assert!(of(&[NAN, 1e-30, 1e-30]).value.hi.is_nan());
    // 2·2·…·2/2/2…: far beyond f64 on the way.
    let powers: Vec<f64> = (0..4000).map(|i| if i < 2000 { 2.0 } else { 0.5 }).collect();
    assert_eq!(full(ReduceOp::Prod, &floats(DType::F64, &powers)).value.hi, 1.0);
}

#[test]
fn matrix_products() {
    let a = Array::from_f64(DType::F32, &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let b = Array::from_f64(DType::F32, &[3, 2], &[7.0, -8.0, 9.0, 10.0, 11.0, 12.0]).unwrap();
    let values = |a: &Array, b: &Array| {
        let product = matmul(a, b).expect("shapes fit");
        (product.shape().to_vec(), product.iter().map(|element| element.value.hi).collect::<Vec<_>>())
    };
    assert_eq!(values(&a, &b), (vec![2, 2], vec![58.0, 48.0, 139.0, 90.0]));
    let first = matmul(&a, &b).unwrap().at(1);
    assert!((first.scale - (8.0 + 20.0 + 36.0)).abs() < 1e-30);
    assert_eq!(matmul(&a, &b).unwrap().judge(), Judge::Within { ulps: 1.0, t: 2e-7 * 3f64.sqrt() });

    // Batches broadcast: [2, 1, 1, 2] x [3, 2, 1] is [2, 3, 1, 1].
    let left = Array::from_f64(DType::F64, &[2, 1, 1, 2], &[1.0, 10.0, 2.0, 20.0]).unwrap();
    let right = Array::from_f64(DType::F64, &[3, 2, 1], &[1.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    assert_eq!(values(&left, &right), (vec![2, 3, 1, 1], vec![11.0, 32.0, 54.0, 22.0, 64.0, 108.0]));

    let vector = Array::from_f64(DType::F32, &[3], &[1.0, 0.0, -1.0]).unwrap();
    assert_eq!(values(&a, &vector), (vec![2], vec![-2.0, -2.0]));
    assert_eq!(values(&vector, &b), (vec![2], vec![-4.0, -20.0]));
    assert_eq!(values(&vector, &vector), (vec![], vec![2.0]));

    let empty = Array::from_f64(DType::F32, &[2, 0], &[]).unwrap();
    let flat = Array::from_f64(DType::F32, &[0, 2], &[]).unwrap();
    assert_eq!(values(&empty, &flat), (vec![2, 2], vec![0.0; 4]));
    assert_eq!(values(&flat, &a).0, [0, 3]);

    let error = matmul(&a, &a).unwrap_err();
    assert_eq!(error.to_string(), "matmul: inner dimensions differ: [2, 3] x [2, 3]");
    let scalar = Array::from_f64(DType::F32, &[], &[1.0]).unwrap();
    assert_eq!(matmul(&scalar, &a).unwrap_err(), Error::Rank { op: "matmul" });
    let two = a.broadcast_to(&[2, 2, 3]).unwrap();
    let three = b.broadcast_to(&[3, 3, 2]).unwrap();
    assert!(matches!(matmul(&two, &three), Err(Error::Broadcast { .. })));
}

#[test]
fn matrix_products_of_special_values() {
    let dot = |dtype, x: &[f64], y: &[f64]| matmul(&floats(dtype, x), &floats(dtype, y)).unwrap().at(0);
    for dtype in [DType::F32, DType::F64] {
        assert!(dot(dtype, &[INF, 1.0], &[0.0, 1.0]).value.hi.is_nan());
        assert_eq!(dot(dtype, &[INF, 1.0], &[-2.0, 1.0]).value.hi, -INF);
        // Nine terms, so that whole groups are used too.
        assert_eq!(dot(dtype, &[INF; 9], &[1.0; 9]).value.hi, INF);
        let huge = if dtype == DType::F32 { 1e38 } else { 1e308 };
        let cancelled = dot(dtype, &[huge, huge, 3.0], &[10.0, -10.0, 7.0]);
        assert!(cancelled.overflow && cancelled.value.hi.is_finite(), "{cancelled:?}");
    }
    let exact = dot(DType::F64, &[1e200, 1e200, 5.0], &[1e200, -1e200, 3.0]);
    assert!(exact.overflow && exact.value.hi.abs() < 1e290);
    // Products below the subnormals: k of them may each be off by half the smallest.
    let tiny = dot(DType::F32, &[1e-30; 100], &[1e-30; 100]);
    assert_eq!(tiny.bits, 0);
    assert!(sum_tolerance(DType::F32, 100) * tiny.scale >= 50.0 * f64::from(f32::from_bits(1)));
}

proptest! {
    #[test]
    fn sums_of_integers_agree_with_plain_loops(
        dims in prop::collection::vec(1usize..5, 1..4),
        axis in 0usize..3,
        seed: u64,
    ) {
        let axis = axis % dims.len();
        let len: usize = dims.iter().product();
        let values: Vec<i64> = (0..len as u64)
            .map(|i| (seed.wrapping_mul(i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as i64 - (1 << 23))
            .collect();
        let inner: usize = dims[axis + 1..].iter().product();
        let outer: usize = dims[..axis].iter().product();
        let at = |o: usize, j: usize, i: usize| values[(o * dims[axis] + j) * inner + i];
        let mut sums = Vec::new();
        let mut first_max = Vec::new();
        for o in 0..outer {
            for i in 0..inner {
                let line: Vec<i64> = (0..dims[axis]).map(|j| at(o, j, i)).collect();
                sums.push(line.iter().sum::<i64>());
                let max = line.iter().max().expect("not empty");
                first_max.push(line.iter().position(|x| x == max).expect("it is there") as u64);
            }
        }
        for dtype in [DType::I64, DType::F64, DType::F32] {
            let array = Array::from_i64(dtype, &dims, &values).unwrap();
            let outcome = reduce(ReduceOp::Sum, &array, &[axis], false).unwrap();
            let got: Vec<i64> = outcome.iter().map(|element| element.value.hi as i64).collect();
            prop_assert_eq!(&got, &sums);
            let outcome = reduce(ReduceOp::ArgMax, &array, &[axis], true).unwrap();
            let got: Vec<u64> = outcome.iter().map(|element| element.bits).collect();
            prop_assert_eq!(&got, &first_max);
        }
    }

    #[test]
    fn products_of_integer_matrices_are_exact(m in 0usize..5, k in 0usize..40, n in 1usize..5, seed: u64) {
        let value = |i: usize| {
            let mixed = seed.wrapping_add(i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed >> 52) as i64 - 2048
        };
        let a: Vec<i64> = (0..m * k).map(value).collect();
        let b: Vec<i64> = (0..k * n).map(|i| value(i + 100_000)).collect();
        for dtype in [DType::F32, DType::F64] {
            let x = Array::from_i64(dtype, &[m, k], &a).unwrap();
            let y = Array::from_i64(dtype, &[k, n], &b).unwrap();
            let product = matmul(&x, &y).unwrap();
            for row in 0..m {
                for column in 0..n {
                    let terms = || (0..k).map(|i| a[row * k + i] * b[i * n + column]);
                    let got = product.at(row * n + column);
                    prop_assert_eq!(got.value.hi, terms().sum::<i64>() as f64);
                    prop_assert!((got.scale - terms().map(i64::abs).sum::<i64>() as f64).abs() < 1e-30);
                }
            }
        }
    }
}
