//! Elementwise operations on values worked out by hand.

use proptest::prelude::*;
use reference::{
    Array, BinaryOp, CmpOp, DType, Error, Judge, Outcome, ScalarOp, UnaryOp, Value, affine, binary, clamp,
    compare, copy, fill, unary, unary_scalar,
};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn floats(dtype: DType, values: &[f64]) -> Array {
    Array::from_f64(dtype, &[values.len()], values).expect("the length is the shape's")
}

fn ints(dtype: DType, values: &[i64]) -> Array {
    Array::from_i64(dtype, &[values.len()], values).expect("the length is the shape's")
}

/// Asserts exact results; a NaN stands for every NaN, zeros must have the right sign.
#[track_caller]
fn assert_floats(outcome: &Outcome, expected: &[f64]) {
    assert_eq!(outcome.judge(), Judge::Exact);
    assert_eq!(outcome.len(), expected.len());
    for (got, expected) in outcome.iter().zip(expected) {
        let want = outcome.dtype().encode(Value::Float(*expected));
        assert!(
            outcome.judge().accepts(outcome.dtype(), &got, want),
            "got {:?}, expected {expected}",
            outcome.dtype().decode(got.bits)
        );
    }
}

#[track_caller]
fn assert_ints(outcome: &Outcome, expected: &[i64]) {
    assert_eq!(outcome.judge(), Judge::Exact);
    let got: Vec<Value> = outcome.iter().map(|element| outcome.dtype().decode(element.bits)).collect();
    assert_eq!(got, expected.iter().map(|i| Value::from(*i)).collect::<Vec<_>>());
}

#[test]
fn integers_wrap_and_never_trap() {
    let int_op = |op, dtype, a: &[i64], b: &[i64], expected: &[i64]| {
        assert_ints(&binary(op, &ints(dtype, a), &ints(dtype, b)).unwrap(), expected);
    };
    let min = i64::from(i32::MIN);
    int_op(BinaryOp::Div, DType::I32, &[7, -7, 7, min, 0], &[2, 2, 0, -1, 0], &[3, -3, 0, min, 0]);
    int_op(BinaryOp::Rem, DType::I32, &[7, -7, 7, -7, min, 5], &[3, 3, -3, -3, -1, 0], &[1, -1, 1, -1, 0, 0]);
    int_op(BinaryOp::Div, DType::I64, &[i64::MIN], &[-1], &[i64::MIN]);
    int_op(BinaryOp::Rem, DType::I64, &[i64::MIN], &[-1], &[0]);
    int_op(BinaryOp::Add, DType::U8, &[200, 255], &[100, 1], &[44, 0]);
    int_op(BinaryOp::Sub, DType::U8, &[1], &[2], &[255]);
    int_op(BinaryOp::Mul, DType::I64, &[i64::MAX, i64::MIN], &[2, i64::MIN], &[-2, 0]);
    int_op(BinaryOp::Mul, DType::I16, &[300], &[300], &[90000 - 65536]);
    int_op(BinaryOp::Minimum, DType::I16, &[-5, 5], &[3, 4], &[-5, 4]);
    int_op(BinaryOp::Maximum, DType::U32, &[5, 0], &[3, 4_000_000_000], &[5, 4_000_000_000]);

    let int_unary = |op, dtype, a: &[i64], expected: &[i64]| {
        assert_ints(&unary(op, &ints(dtype, a)).unwrap(), expected);
    };
    int_unary(UnaryOp::Neg, DType::I16, &[-32768, 5], &[-32768, -5]);
    int_unary(UnaryOp::Neg, DType::U8, &[1, 0], &[255, 0]);
    int_unary(UnaryOp::Abs, DType::I64, &[i64::MIN, -3], &[i64::MIN, 3]);
    int_unary(UnaryOp::Sign, DType::I32, &[-9, 0, 9], &[-1, 0, 1]);
    int_unary(UnaryOp::Sqr, DType::U8, &[15, 16], &[225, 0]);
    int_unary(UnaryOp::Relu, DType::I16, &[-1, 2], &[0, 2]);
    assert_ints(&affine(&ints(DType::U8, &[100]), 3, 7), &[51]);
    assert_ints(&affine(&ints(DType::I64, &[i64::MAX]), i64::MAX, 2), &[3]);
    // Scalars are rounded to the dtype first: 2.9 is 2, 300 is 44, −1.5 saturates to 0.
    assert_ints(&affine(&ints(DType::U8, &[1]), 2.9, 300), &[46]);
    assert_ints(&clamp(&ints(DType::U8, &[0, 5, 9]), -1.5, 7.9), &[0, 5, 7]);
    assert_ints(&clamp(&ints(DType::I32, &[5]), 9, 3), &[3]);
}

#[test]
fn small_floats_round_through_f32() {
    // f16 1 + 2^-10 squared is 1 + 2^-9 + 2^-20: exact in f32, then down.
    let f16 = floats(DType::F16, &[1.0 + 2f64.powi(-10), 60000.0, 2f64.powi(-24)]);
    assert_floats(&unary(UnaryOp::Sqr, &f16).unwrap(), &[1.0 + 2f64.powi(-9), INF, 0.0]);
    assert_floats(&unary(UnaryOp::Sqr, &floats(DType::F8E4M3, &[20.0, 400.0])).unwrap(), &[384.0, 448.0]);
    // 1/3 in bf16: 0.333984375 = 171/512.
    assert_floats(&unary(UnaryOp::Recip, &floats(DType::BF16, &[3.0])).unwrap(), &[171.0 / 512.0]);
    // affine: the fma is rounded to f32 first. The product is 2^-11 − 2^-31; f32 loses the small part of the
    // sum, which leaves a tie of f16 that goes to even, 1 + 2^-9. The exact sum lies below the tie.
    let u = 2f64.powi(-10);
    let x = floats(DType::F16, &[u / 2.0 * (1.0 + u)]);
    assert_floats(&affine(&x, 1.0 - u, 1.0 + u), &[1.0 + 2.0 * u]);
    // f16 scalars are rounded to f16 first: 0.1 becomes 0.0999755859375.
    assert_floats(&affine(&floats(DType::F16, &[1024.0]), 0.1, 0.0), &[102.375]);
}

#[test]
fn nan_wins_and_zeros_are_ordered() {
    for dtype in [DType::F8E4M3, DType::BF16, DType::F16, DType::F32, DType::F64] {
        let a = floats(dtype, &[NAN, 1.0, 0.0, -0.0, -0.0, 3.0]);
        let b = floats(dtype, &[1.0, NAN, -0.0, 0.0, -0.0, -3.0]);
        assert_floats(&binary(BinaryOp::Maximum, &a, &b).unwrap(), &[NAN, NAN, 0.0, 0.0, -0.0, 3.0]);
        assert_floats(&binary(BinaryOp::Minimum, &a, &b).unwrap(), &[NAN, NAN, -0.0, -0.0, -0.0, -3.0]);
        assert_floats(&clamp(&a, 0.0, 2.0), &[NAN, 1.0, 0.0, 0.0, 0.0, 2.0]);
        assert_floats(&clamp(&a, NAN, 2.0), &[NAN; 6]);
        assert_floats(&unary(UnaryOp::Relu, &a).unwrap(), &[NAN, 1.0, 0.0, 0.0, 0.0, 3.0]);
        let holds = |op| compare(op, &a, &b).unwrap().iter().map(|element| element.bits).collect::<Vec<_>>();
        assert_eq!(holds(CmpOp::Eq), [0, 0, 1, 1, 1, 0]);
        assert_eq!(holds(CmpOp::Ne), [1, 1, 0, 0, 0, 1]);
        assert_eq!(holds(CmpOp::Lt), [0, 0, 0, 0, 0, 0]);
        assert_eq!(holds(CmpOp::Ge), [0, 0, 1, 1, 1, 1]);
        assert_eq!(holds(CmpOp::Gt), [0, 0, 0, 0, 0, 1]);
        assert_eq!(holds(CmpOp::Le), [0, 0, 1, 1, 1, 0]);
    }
}

#[test]
fn float_remainders_quotients_and_roundings() {
    for dtype in [DType::F32, DType::F64] {
        let a = floats(dtype, &[5.5, -5.5, 5.5, -0.0, INF, 1.0, 1.0, 0.0]);
        let b = floats(dtype, &[2.0, 2.0, -2.0, 1.0, 1.0, INF, 0.0, 0.0]);
        assert_floats(&binary(BinaryOp::Rem, &a, &b).unwrap(), &[1.5, -1.5, 1.5, -0.0, NAN, 1.0, NAN, NAN]);
        assert_floats(
            &binary(BinaryOp::Div, &a, &b).unwrap(),
            &[2.75, -2.75, -2.75, -0.0, INF, 0.0, INF, NAN],
        );
        let x = floats(dtype, &[0.5, -0.5, 2.5, -2.5, 0.4999, -0.2, 1e30]);
        assert_floats(&unary(UnaryOp::Round, &x).unwrap(), &[1.0, -1.0, 3.0, -3.0, 0.0, -0.0, 1e30]);
        assert_floats(&unary(UnaryOp::Ceil, &x).unwrap(), &[1.0, -0.0, 3.0, -2.0, 1.0, -0.0, 1e30]);
        assert_floats(&unary(UnaryOp::Floor, &x).unwrap(), &[0.0, -1.0, 2.0, -3.0, 0.0, -1.0, 1e30]);
        let x = floats(dtype, &[2.0, -2.0, -0.0, NAN, -INF]);
        assert_floats(&unary_scalar(ScalarOp::LeakyRelu, &x, 0.25).unwrap(), &[2.0, -0.5, -0.0, NAN, -INF]);
    }
    // Far apart: 2^100 mod 3 is 1, as 2 ≡ −1.
    let (far, three) = (floats(DType::F32, &[2f64.powi(100)]), floats(DType::F32, &[3.0]));
    assert_floats(&binary(BinaryOp::Rem, &far, &three).unwrap(), &[1.0]);
}

#[test]
fn broadcasting_pairs_the_right_elements() {
    let column = Array::from_i64(DType::I32, &[2, 1, 1], &[10, 20]).unwrap();
    let rows = Array::from_i64(DType::I32, &[2, 3], &[1, 2, 3, 4, 5, 6]).unwrap();
    let sums = binary(BinaryOp::Add, &column, &rows).unwrap();
    assert_eq!(sums.shape(), [2, 2, 3]);
    assert_ints(&sums, &[11, 12, 13, 14, 15, 16, 21, 22, 23, 24, 25, 26]);
    let scalar = Array::from_i64(DType::I32, &[], &[3]).unwrap();
    let above = compare(CmpOp::Gt, &rows, &scalar).unwrap();
    assert_eq!((above.dtype(), above.shape()), (DType::U8, &[2, 3][..]));
    assert_ints(&above, &[0, 0, 0, 1, 1, 1]);
    let empty = Array::from_i64(DType::I32, &[0, 1], &[]).unwrap();
    assert_eq!(
        binary(BinaryOp::Mul, &empty, &rows.clone().reshape(&[1, 6]).unwrap()).unwrap().shape(),
        [0, 6]
    );
    let three = Array::from_i64(DType::I32, &[3], &[1, 2, 3]).unwrap();
    let two = Array::from_i64(DType::I32, &[2], &[1, 2]).unwrap();
    let error = binary(BinaryOp::Add, &three, &two).unwrap_err();
    assert!(matches!(error, Error::Broadcast { op: "add", .. }) && error.to_string().contains("[3] and [2]"));
}

#[test]
fn undefined_operations_are_errors() {
    let i = ints(DType::I32, &[1]);
    let f = floats(DType::F32, &[1.0]);
    assert!(matches!(unary(UnaryOp::Exp, &i), Err(Error::Unsupported { op: "exp", dtype: DType::I32 })));
    assert!(matches!(binary(BinaryOp::Pow, &i, &i), Err(Error::Unsupported { op: "pow", .. })));
    assert!(matches!(binary(BinaryOp::SiluMul, &i, &i), Err(Error::Unsupported { op: "silu_mul", .. })));
    assert!(matches!(unary_scalar(ScalarOp::Elu, &i, 1.0), Err(Error::Unsupported { op: "elu", .. })));
    assert!(matches!(binary(BinaryOp::Add, &i, &f), Err(Error::DTypes { op: "add", .. })));
    assert!(matches!(compare(CmpOp::Eq, &f, &i), Err(Error::DTypes { op: "eq", .. })));
    for dtype in DType::ALL {
        for op in UnaryOp::ALL {
            let one = Array::from_i64(dtype, &[1], &[1]).unwrap();
            assert_eq!(unary(op, &one).is_ok(), op.supports(dtype), "{op:?} {dtype}");
        }
    }
}

#[test]
fn copies_and_fills() {
    let a = Array::from_f64(DType::BF16, &[2, 2], &[1.0, 2.0, 3.0, NAN]).unwrap();
    assert_floats(&copy(&a.permute(&[1, 0]).unwrap()), &[1.0, 3.0, 2.0, NAN]);
    let filled = fill(DType::F16, &[2, 3], 0.1).unwrap();
    assert_eq!(filled.shape(), [2, 3]);
    assert_floats(&filled, &[0.0999755859375; 6]);
    assert_ints(&fill(DType::I64, &[1], i64::MAX).unwrap(), &[i64::MAX]);
    assert_eq!(fill(DType::U8, &[3], 7).unwrap().to_bytes(), [7, 7, 7]);
}

#[test]
fn judging_follows_the_rules() {
    let x = floats(DType::F32, &[1.0, 100.0, f64::from(f32::MAX), -1.0]);
    let exp = unary(UnaryOp::Exp, &x).unwrap();
    let judge = exp.judge();
    let e = exp.at(0);
    let off = |steps: i64| judge.accepts(DType::F32, &e, (e.bits as i64 + steps) as u64);
    // e = 2.71828182845904…, an ulp is 2^-22; the bound is 2.5 ulp from the exact value.
    assert!(off(0) && off(2) && off(-2) && !off(4) && !off(-4));
    assert!(!judge.accepts(DType::F32, &e, f32::NAN.to_bits().into()));
    assert!(!judge.accepts(DType::F32, &e, f32::INFINITY.to_bits().into()));
    // e^100 overflows: only the infinity is right, and a NaN is not.
    assert!(judge.accepts(DType::F32, &exp.at(1), f32::INFINITY.to_bits().into()));
    assert!(!judge.accepts(DType::F32, &exp.at(1), f32::MAX.to_bits().into()));
    assert!(!judge.accepts(DType::F32, &exp.at(1), f32::NAN.to_bits().into()));
    // At the edge an infinity is one step past the largest number.
    let edge = floats(DType::F32, &[f64::from(f32::MAX.ln().next_down())]);
    let edge = unary(UnaryOp::Exp, &edge).unwrap().at(0);
    let gap = (f64::from(f32::MAX) - edge.value.hi) / reference::round::ulp(DType::F32, edge.value.hi);
    let infinity = f32::INFINITY.to_bits().into();
    let difference = reference::difference(DType::F32, &edge, infinity);
    assert_eq!(difference / reference::round::ulp(DType::F32, edge.value.hi), gap + 1.0);
    // Saturated f8: any value beyond 448 is 448.
    let eight = floats(DType::F8E4M3, &[8.0]);
    let eight = unary(UnaryOp::Exp, &eight).unwrap().at(0);
    assert_eq!(eight.bits, 0x7e);
    assert_eq!(reference::difference(DType::F8E4M3, &eight, 0x7d), 32.0);
    // NaN is any NaN, and only NaN.
    let nan = unary(UnaryOp::Log, &x).unwrap();
    assert!(nan.judge().accepts(DType::F32, &nan.at(3), 0xffc0_0001));
    assert!(!nan.judge().accepts(DType::F32, &nan.at(3), 0));
}

proptest! {
    #[test]
    fn exact_f32_arithmetic_is_the_machine_s(x: u32, y: u32) {
        let (x, y) = (f32::from_bits(x), f32::from_bits(y));
        let (a, b) = (floats(DType::F32, &[x.into()]), floats(DType::F32, &[y.into()]));
        for (op, result) in [
            (BinaryOp::Add, x + y),
            (BinaryOp::Sub, x - y),
            (BinaryOp::Mul, x * y),
            (BinaryOp::Div, x / y),
        ] {
            let got = binary(op, &a, &b).unwrap();
            prop_assert!(got.judge().accepts(DType::F32, &got.at(0), result.to_bits().into()), "{:?}", op);
        }
    }

    #[test]
    fn f16_results_are_f32_results_rounded_once(x: u16, y: u16) {
        let (x, y) = (half::f16::from_bits(x), half::f16::from_bits(y));
        let (a, b) = (floats(DType::F16, &[x.into()]), floats(DType::F16, &[y.into()]));
        for (op, result) in [
            (BinaryOp::Add, x.to_f32() + y.to_f32()),
            (BinaryOp::Mul, x.to_f32() * y.to_f32()),
            (BinaryOp::Div, x.to_f32() / y.to_f32()),
        ] {
            let got = binary(op, &a, &b).unwrap();
            let theirs = half::f16::from_f32_const(result).to_bits();
            prop_assert!(got.judge().accepts(DType::F16, &got.at(0), theirs.into()), "{:?}", op);
        }
    }

    #[test]
    fn remainders_are_exact(x in 0u64..1 << 53, y in 1u64..1 << 53, shift in 0u32..60) {
        let a = floats(DType::F64, &[(x as f64) * 2f64.powi(shift as i32)]);
        let b = floats(DType::F64, &[y as f64]);
        let exact = (u128::from(x) << shift) % u128::from(y);
        prop_assert_eq!(binary(BinaryOp::Rem, &a, &b).unwrap().at(0).value.hi, exact as f64);
    }
}
