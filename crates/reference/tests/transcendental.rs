//! The transcendental functions against values computed by mpmath (points.py made points.tsv), and their
//! special cases.

use proptest::prelude::*;
use reference::{Array, BinaryOp, DType, Dd, Judge, ScalarOp, UnaryOp, binary, unary, unary_scalar};

struct Point {
    function: &'static str,
    dtype: DType,
    x: f64,
    y: Option<f64>,
    value: Dd,
}

fn points() -> Vec<Point> {
    include_str!("points.tsv")
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let number = |i: usize| fields[i].parse::<f64>().expect("a number");
            Point {
                function: fields[0],
                dtype: DType::from_name(fields[1]).expect("a dtype"),
                x: number(2),
                y: (fields[3] != "-").then(|| number(3)),
                value: Dd { hi: number(4), lo: number(5) },
            }
        })
        .collect()
}

/// The reference's value before rounding.
fn computed(point: &Point) -> Dd {
    let array = |x: f64| Array::from_f64(point.dtype, &[], &[x]).expect("one value");
    let x = array(point.x);
    let op = UnaryOp::ALL.into_iter().find(|op| op.name() == point.function);
    match (point.function, point.y) {
        ("pow", Some(y)) => binary(BinaryOp::Pow, &x, &array(y)).expect("floats").at(0).value,
        ("elu", Some(y)) => unary_scalar(ScalarOp::Elu, &x, y).expect("floats").at(0).value,
        ("expm1", _) => Dd::from(point.x).exp_m1(),
        ("log1p", _) => Dd::from(point.x).ln_1p(),
        ("erfcx", _) => Dd::from(point.x).erfcx(),
        _ => unary(op.expect("a known function"), &x).expect("floats").at(0).value,
    }
}

#[test]
fn values_agree_with_mpmath() {
    let points = points();
    assert!(points.len() > 1300);
    let mut wrong = Vec::new();
    for point in &points {
        let got = computed(point);
        let error = (got - point.value).abs().hi;
        let allowed = match point.dtype {
            // Below 1e-290 the low part is under the smallest subnormal.
            DType::F64 => 1e-28 * point.value.hi.abs() + 5e-324,
            _ => 1e-13 * point.value.hi.abs(),
        };
        if error.is_nan() || error > allowed {
            let relative = error / point.value.hi.abs();
            wrong.push(format!(
                "{} {} x={:e} y={:?}: {relative:e}",
                point.function, point.dtype, point.x, point.y
            ));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn roundings_agree_with_mpmath() {
    for point in points().iter().filter(|point| point.dtype == DType::F64 && point.value.hi.abs() > 1e-300) {
        // The high part is the correctly rounded f64, unless the low part is within the error of a tie.
        let half = point.value.hi.abs() * f64::EPSILON / 4.0;
        if (point.value.lo.abs() - half).abs() > 1e-9 * half {
            assert_eq!(computed(point).hi, point.value.hi, "{} {:e}", point.function, point.x);
        }
    }
}

fn bits(op: UnaryOp, dtype: DType, x: f64) -> f64 {
    let array = Array::from_f64(dtype, &[1], &[x]).expect("one value");
    let expected = unary(op, &array).expect("floats").at(0);
    reference::round::decode_float(dtype, expected.bits)
}

/// Results at NaN, ±0, ±∞ in both precisions; NaN stands for NaN.
#[test]
fn special_cases() {
    const INF: f64 = f64::INFINITY;
    for op in UnaryOp::ALL {
        for (x, result) in [0.0, -0.0, INF, -INF].into_iter().zip(op.at_limits()) {
            let single = bits(op, DType::F32, x);
            assert!(
                single.is_nan() && result.is_nan() || single == f64::from(result as f32),
                "{op:?} f32 {x}"
            );
            let double = bits(op, DType::F64, x);
            assert!(double.is_nan() && result.is_nan() || double == result, "{op:?} f64 {x}: {double}");
            if result == 0.0 {
                assert_eq!(single.is_sign_negative(), result.is_sign_negative(), "{op:?} f32 {x}");
                assert_eq!(double.is_sign_negative(), result.is_sign_negative(), "{op:?} f64 {x}");
            }
        }
        for dtype in [DType::F8E4M3, DType::BF16, DType::F16, DType::F32, DType::F64] {
            let of_nan = bits(op, dtype, f64::NAN);
            assert!(
                if op == UnaryOp::Sign { of_nan == 0.0 } else { of_nan.is_nan() },
                "{op:?} {dtype}: {of_nan}"
            );
        }
    }
}

#[test]
fn overflow_and_underflow() {
    for (op, x, result) in [
        (UnaryOp::Exp, 709.79, f64::INFINITY),
        (UnaryOp::Exp, 1e300, f64::INFINITY),
        (UnaryOp::Exp, -745.2, 0.0),
        (UnaryOp::Exp, -745.1, 5e-324),
        (UnaryOp::Exp, -1e300, 0.0),
        (UnaryOp::Sigmoid, -1e300, 0.0),
        (UnaryOp::Silu, -1e300, -0.0),
        // −751 e^−751 = −7.4e-324: the product is a subnormal although the exponential is not even one.
        (UnaryOp::Silu, -751.0, -5e-324),
        (UnaryOp::Gelu, 1e300, 1e300),
        (UnaryOp::Gelu, -1e300, -0.0),
        (UnaryOp::GeluErf, 1e300, 1e300),
        (UnaryOp::GeluErf, -1e300, -0.0),
        (UnaryOp::Tanh, 1e300, 1.0),
        (UnaryOp::Tanh, 5e-324, 5e-324),
        (UnaryOp::Sin, -5e-324, -5e-324),
        (UnaryOp::Softplus, 1e300, 1e300),
        (UnaryOp::Softplus, -1e300, 0.0),
    ] {
        assert_eq!(bits(op, DType::F64, x), result, "{op:?} {x}");
    }
    assert_eq!(bits(UnaryOp::Exp, DType::F32, 89.0), f64::INFINITY);
    assert_eq!(bits(UnaryOp::Exp, DType::F16, 12.0), f64::INFINITY);
    assert_eq!(bits(UnaryOp::Exp, DType::F8E4M3, 8.0), 448.0);
    assert_eq!(bits(UnaryOp::Exp, DType::F32, -103.0), f64::from(f32::from_bits(1)));
}

#[test]
fn powers_follow_c() {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    for (x, y, result) in [
        (NAN, 0.0, 1.0),
        (1.0, NAN, 1.0),
        (-1.0, INF, 1.0),
        (-2.0, 3.0, -8.0),
        (-2.0, 2.0, 4.0),
        (-2.0, 0.5, NAN),
        (0.0, -1.0, INF),
        (-0.0, -1.0, -INF),
        (-0.0, 3.0, -0.0),
        (0.5, INF, 0.0),
        (-INF, -3.0, -0.0),
        (-8.0, 1.0 / 3.0, NAN),
        (10.0, 400.0, INF),
        (-10.0, 401.0, -INF),
        (10.0, -400.0, 0.0),
        (2.0, 1023.0, 2f64.powi(1023)),
    ] {
        let array = |dtype, x| Array::from_f64(dtype, &[], &[x]).unwrap();
        let (base, power) = (array(DType::F64, x), array(DType::F64, y));
        for expected in [
            binary(BinaryOp::Pow, &base, &power).unwrap().at(0),
            unary_scalar(ScalarOp::Powf, &base, y).unwrap().at(0),
        ] {
            let got = f64::from_bits(expected.bits);
            assert!(got.is_nan() && result.is_nan() || got.to_bits() == result.to_bits(), "{x} {y}: {got}");
        }
        let base = array(DType::F32, x);
        let got = f32::from_bits(unary_scalar(ScalarOp::Powf, &base, y).unwrap().at(0).bits as u32);
        let result = result as f32;
        assert!(got.is_nan() && result.is_nan() || got.to_bits() == result.to_bits(), "f32 {x} {y}: {got}");
    }
}

#[test]
fn bounds_have_reasons_and_small_floats_one_ulp() {
    for row in reference::BOUNDS {
        assert!(row.f32 >= 1.0 && row.f64 >= 1.0 && row.reason.len() > 5, "{row:?}");
    }
    let x = Array::from_f64(DType::BF16, &[1], &[1.0]).unwrap();
    assert_eq!(unary(UnaryOp::Exp, &x).unwrap().judge(), Judge::Within { ulps: 1.0, t: 0.0 });
}

#[test]
fn the_subnormal_tail_of_gelu_erf_is_magnified() {
    // x/2·erfc(−x/√2) at −38: erfc is 2.9e-316, and an error of one of its last places, 5e-324, counts 19
    // times.
    let at = |dtype, x: f64| {
        let array = Array::from_f64(dtype, &[1], &[x]).unwrap();
        let outcome = unary(UnaryOp::GeluErf, &array).unwrap();
        (outcome.judge(), outcome.at(0))
    };
    let (judge, deep) = at(DType::F64, -38.0);
    assert_eq!(judge, Judge::Within { ulps: 13.0, t: 13.0 * f64::EPSILON / 2.0 });
    assert_eq!(deep.scale, 19.0 * f64::MIN_POSITIVE);
    assert!((judge.tolerance(DType::F64, &deep) / 5e-324 - (13.0 + 6.5 * 19.0)).abs() < 2.0);
    for x in [-37.0, -40.0, -1e300, 3.0, 0.0, f64::NEG_INFINITY] {
        assert_eq!(at(DType::F64, x).1.scale, 0.0, "{x}");
    }
    assert_eq!(at(DType::F32, -13.5).1.scale, 6.75 * f64::from(f32::MIN_POSITIVE));
    assert_eq!(at(DType::F32, -15.0).1.scale, 0.0);
}

#[test]
fn gates_by_hand() {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    let at = |op, dtype, a: f64, b: f64| {
        let array = |x| Array::from_f64(dtype, &[1], &[x]).unwrap();
        let (a, b) = (array(a), array(b));
        let outcome = binary(op, &a, &b).unwrap();
        (outcome.judge(), outcome.at(0))
    };
    // The products are from 50-digit arithmetic outside this program. Below −104 the gate is 0 in f32, but not in f64.
    for (op, dtype, a, b, result) in [
        (BinaryOp::SiluMul, DType::F64, 1.0, 2.0, 1.4621171572600098),
        (BinaryOp::SiluMul, DType::F64, -2.5, 3.0, -0.5689363501593266),
        (BinaryOp::GeluMul, DType::F64, 1.0, 2.0, 1.6823839812165536),
        (BinaryOp::GeluMul, DType::F64, -2.5, 3.0, -0.04525279826999575),
        (BinaryOp::SiluMul, DType::F32, INF, -2.0, -INF),
        (BinaryOp::SiluMul, DType::F32, -INF, 1.0, NAN),
        (BinaryOp::SiluMul, DType::F32, 0.0, INF, NAN),
        (BinaryOp::SiluMul, DType::F32, -110.0, INF, NAN),
        (BinaryOp::SiluMul, DType::F32, -110.0, 1e38, -0.0),
        (BinaryOp::SiluMul, DType::F64, -110.0, INF, -INF),
        (BinaryOp::GeluMul, DType::F32, -0.0, 5.0, -0.0),
        (BinaryOp::GeluMul, DType::BF16, -INF, 0.0, NAN),
    ] {
        let got = at(op, dtype, a, b).1.value.hi;
        let same = got.is_nan() && result.is_nan() || got.is_sign_negative() == result.is_sign_negative();
        let close = got == result || (got - result).abs() <= 4e-16 * result.abs() || result.is_nan();
        assert!(same && close, "{op:?} {dtype} {a} {b}: {got}");
    }
    // silu(−90) = −7.4e-38 is a normal number, silu(−100) = −3.7e-42 is not: an error of one of its last places is
    // magnified by the other factor. The sigmoid at −90 is below the normal numbers, and −90 magnifies its error.
    let normal = f64::from(f32::MIN_POSITIVE);
    let (judge, deep) = at(BinaryOp::SiluMul, DType::F32, -100.0, 1e30);
    assert_eq!(judge, Judge::Within { ulps: 15.0, t: 15.0 * f64::from(f32::EPSILON) / 2.0 });
    assert_eq!(deep.scale, normal * f64::from(1e30f32));
    assert_eq!(at(BinaryOp::SiluMul, DType::F32, -90.0, 1e30).1.scale, 0.0);
    assert_eq!(at(BinaryOp::SiluMul, DType::BF16, -90.0, 2.0).1.scale, 90.0 * normal * 2.0);
    assert_eq!(at(BinaryOp::SiluMul, DType::BF16, -1e30, 2.0).1.scale, 0.0);
    // silu(−106) = −9.8e-45 is subnormal, and its sigmoid may be 0.
    for (a, undecided) in [(-106.0, true), (-90.0, false), (-110.0, false), (3.0, false)] {
        assert_eq!(at(BinaryOp::SiluMul, DType::F32, a, INF).1.overflow, undecided, "{a}");
    }
}

type Machine = (UnaryOp, fn(f32) -> f32, fn(f64) -> f64);

/// The machine's own functions: what a CPU device gives.
const MACHINE: [Machine; 8] = [
    (UnaryOp::Rsqrt, |x| 1.0 / x.sqrt(), |x| 1.0 / x.sqrt()),
    (UnaryOp::Exp, f32::exp, f64::exp),
    (UnaryOp::Log, f32::ln, f64::ln),
    (UnaryOp::Sin, f32::sin, f64::sin),
    (UnaryOp::Cos, f32::cos, f64::cos),
    (UnaryOp::Tan, f32::tan, f64::tan),
    (UnaryOp::Tanh, f32::tanh, f64::tanh),
    (UnaryOp::Sigmoid, |x| 1.0 / (1.0 + (-x.max(-80.0)).exp()), |x| 1.0 / (1.0 + (-x.max(-700.0)).exp())),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_machine_s_functions_are_within_the_bounds(bits: u64, moderate in -60.0..60.0f64) {
        for x in [f64::from_bits(bits), moderate] {
            let single = if x == moderate { x as f32 } else { f32::from_bits(bits as u32) };
            for (op, on_single, on_double) in MACHINE {
                if op == UnaryOp::Sigmoid && x != moderate {
                    continue;
                }
                let array = Array::from_f64(DType::F64, &[1], &[x]).unwrap();
                let outcome = unary(op, &array).unwrap();
                let got = on_double(x);
                let right = outcome.judge().accepts(DType::F64, &outcome.at(0), got.to_bits());
                prop_assert!(right, "{:?} f64 {:e} {:e}", op, x, got);
                let array = Array::from_f64(DType::F32, &[1], &[single.into()]).unwrap();
                let outcome = unary(op, &array).unwrap();
                let got = on_single(single);
                let right = outcome.judge().accepts(DType::F32, &outcome.at(0), got.to_bits().into());
                prop_assert!(right, "{:?} f32 {:e} {:e}", op, single, got);
            }
        }
    }

    #[test]
    fn both_precisions_agree(bits: u32, moderate in -30.0..30.0f32) {
        for x in [f32::from_bits(bits), moderate] {
            let array = |dtype| Array::from_f64(dtype, &[1], &[x.into()]).unwrap();
            let (single, double) = (array(DType::F32), array(DType::F64));
            for op in UnaryOp::ALL {
                if unary(op, &single).unwrap().judge() == Judge::Exact {
                    continue;
                }
                let fast = unary(op, &single).unwrap().at(0).value;
                let full = unary(op, &double).unwrap().at(0).value;
                let error = (fast - full).abs().hi;
                let allowed = 1e-13 * full.hi.abs() + 1e-60;
                let same = fast.hi == full.hi || fast.hi.is_nan() && full.hi.is_nan();
                prop_assert!(same || error <= allowed, "{:?} {:e}: {:e} {:e}", op, x, fast.hi, full.hi);
            }
        }
    }
}
