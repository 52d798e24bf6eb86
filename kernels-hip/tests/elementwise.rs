//! Elementwise kernels against results computed by hand or by Rust's own arithmetic.

mod common;

use bytemuck::{NoUninit, Pod};
use common::Random;
use common::device::{Arg, WAVE_32, input, input_at, output, run, value};
use half::f16;
use kernels_hip::args::{CopyMap, Map1, Map2};

/// Several blocks, but few enough threads that each of them iterates more than once.
const SHAPE: (u32, u32) = (2, 64);

/// Runs a kernel of one array; `scalars` are its last arguments.
fn unary<T: NoUninit, O: Pod>(name: &str, x: &[T], map: Map1, scalars: &[T]) -> Vec<O> {
    let mut out = vec![O::zeroed(); map.count as usize];
    let mut args = vec![input(x), output(&mut out), value(&map)];
    args.extend(scalars.iter().map(value));
    // SAFETY: S9: the output has as many elements as the map says; the tests keep their strides inside the input.
    unsafe { run(WAVE_32, name, SHAPE, &mut args) };
    out
}

/// Runs a kernel of one tight array.
fn tight<T: NoUninit, O: Pod>(name: &str, x: &[T], scalars: &[T]) -> Vec<O> {
    unary(name, x, Map1::tight(x.len() as u64), scalars)
}

/// Runs a kernel of two arrays.
fn binary<T: NoUninit, O: Pod>(name: &str, a: &[T], b: &[T], map: Map2) -> Vec<O> {
    let mut out = vec![O::zeroed(); map.count as usize];
    // SAFETY: S9: as above.
    unsafe { run(WAVE_32, name, SHAPE, &mut [input(a), input(b), output(&mut out), value(&map)]) };
    out
}

/// Operations and their definitions.
type Unary = (&'static str, fn(f32) -> f32);
type Binary = (&'static str, fn(f32, f32) -> f32);
type Comparison = (&'static str, fn(f32, f32) -> bool);

/// Every pair of `values`, as two tight arrays.
fn pairs<T: Copy>(values: &[T]) -> (Vec<T>, Vec<T>) {
    values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b))).unzip()
}

fn all_pairs<T: NoUninit, O: Pod>(name: &str, values: &[T]) -> Vec<((T, T), O)> {
    let (a, b) = pairs(values);
    let out = binary(name, &a, &b, Map2::flat(a.len() as u64, Map2::A_TIGHT | Map2::B_TIGHT));
    a.into_iter().zip(b).zip(out).collect()
}

macro_rules! integer_arithmetic {
    ($t:ident, $values:expr) => {{
        let values: &[$t] = &$values;
        type Op = fn($t, $t) -> $t;
        let ops: [(&str, Op); 7] = [
            ("add", $t::wrapping_add),
            ("sub", $t::wrapping_sub),
            ("mul", $t::wrapping_mul),
            ("div", |a, b| if b == 0 { 0 } else { a.wrapping_div(b) }),
            ("rem", |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) }),
            ("minimum", std::cmp::min),
            ("maximum", std::cmp::max),
        ];
        for (name, op) in ops {
            let name = format!("elementwise_{name}_{}", stringify!($t));
            for ((a, b), got) in all_pairs::<$t, $t>(&name, values) {
                assert_eq!(got, op(a, b), "{name}({a}, {b})");
            }
        }
        let compare: [(&str, fn($t, $t) -> bool); 6] = [
            ("eq", |a, b| a == b),
            ("ne", |a, b| a != b),
            ("lt", |a, b| a < b),
            ("le", |a, b| a <= b),
            ("gt", |a, b| a > b),
            ("ge", |a, b| a >= b),
        ];
        for (name, op) in compare {
            let name = format!("elementwise_{name}_{}", stringify!($t));
            for ((a, b), got) in all_pairs::<$t, u8>(&name, values) {
                assert_eq!(got, u8::from(op(a, b)), "{name}({a}, {b})");
            }
        }
        let one: [(&str, fn($t) -> $t); 3] =
            [("neg", $t::wrapping_neg), ("sqr", |a| a.wrapping_mul(a)), ("relu", |a| std::cmp::max(a, 0))];
        for (name, op) in one {
            let name = format!("elementwise_{name}_{}", stringify!($t));
            let got: Vec<$t> = tight(&name, values, &[]);
            assert_eq!(got, values.iter().map(|a| op(*a)).collect::<Vec<_>>(), "{name}");
        }
        let name = format!("elementwise_affine_{}", stringify!($t));
        let got: Vec<$t> = tight(&name, values, &[37, 200 as $t]);
        let wanted = values.iter().map(|a| a.wrapping_mul(37).wrapping_add(200 as $t));
        assert_eq!(got, wanted.collect::<Vec<_>>(), "{name}");
        let name = format!("elementwise_clamp_{}", stringify!($t));
        let got: Vec<$t> = tight(&name, values, &[2, 100]);
        assert_eq!(got, values.iter().map(|a| (*a).clamp(2, 100)).collect::<Vec<_>>(), "{name}");
    }};
}

#[test]
fn integers_wrap_and_never_trap() {
    integer_arithmetic!(u8, [0, 1, 2, 3, 7, 100, 127, 128, 254, 255]);
    integer_arithmetic!(u32, [0, 1, 2, 3, 7, 1000, 65535, 65536, 0x8000_0000, u32::MAX - 1, u32::MAX]);
    integer_arithmetic!(i16, [0, 1, -1, 2, -3, 7, 181, 182, -300, i16::MAX, i16::MIN, i16::MIN + 1]);
    integer_arithmetic!(i32, [0, 1, -1, 2, -3, 7, 46340, 46341, -70000, i32::MAX, i32::MIN, i32::MIN + 1]);
    integer_arithmetic!(i64, [0, 1, -1, 2, -3, 7, 3037000500, -5000000000, i64::MAX, i64::MIN, i64::MIN + 1]);
    assert_eq!(tight::<i32, i32>("elementwise_abs_i32", &[5, -5, i32::MIN], &[]), [5, 5, i32::MIN]);
    assert_eq!(tight::<i16, i16>("elementwise_sign_i16", &[5, -5, 0, i16::MIN], &[]), [1, -1, 0, -1]);
    assert_eq!(tight::<u8, u8>("elementwise_sign_u8", &[5, 0, 255], &[]), [1, 0, 1]);
    assert_eq!(tight::<u32, u32>("elementwise_abs_u32", &[0, u32::MAX], &[]), [0, u32::MAX]);
}

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| if v.is_nan() { 0x7fc0_0000 } else { v.to_bits() }).collect()
}

/// The bits of the result of an f32 kernel of one tight array.
fn single(name: &str, input: &[f32], scalars: &[f32]) -> Vec<u32> {
    bits(&tight(name, input, scalars))
}

#[test]
fn nan_wins_and_minus_zero_is_less() {
    // An independent definition: NaN if there is one, else by total order.
    let choose = |a: f64, b: f64, greater: bool| {
        if a.is_nan() || b.is_nan() {
            f64::NAN
        } else if (a.total_cmp(&b) == std::cmp::Ordering::Greater) == greater {
            a
        } else {
            b
        }
    };
    let values = [NAN, -INF, -2.0, -f32::MIN_POSITIVE, -0.0, 0.0, 1e-45, 1.0, 2.5, INF];
    for (op, greater) in [("maximum", true), ("minimum", false)] {
        for ((a, b), got) in all_pairs::<f32, f32>(&format!("elementwise_{op}_f32"), &values) {
            assert_eq!(bits(&[got]), bits(&[choose(a.into(), b.into(), greater) as f32]), "{op}({a}, {b})");
        }
        let wide = values.map(f64::from);
        for ((a, b), got) in all_pairs::<f64, f64>(&format!("elementwise_{op}_f64"), &wide) {
            let wanted = choose(a, b, greater);
            assert!(got.to_bits() == wanted.to_bits() || (got.is_nan() && wanted.is_nan()), "{op}({a}, {b})");
        }
        let narrow = values.map(f16::from_f32);
        for ((a, b), got) in all_pairs::<f16, f16>(&format!("elementwise_{op}_f16"), &narrow) {
            let wanted = choose(a.into(), b.into(), greater) as f32;
            assert_eq!(bits(&[got.to_f32()]), bits(&[wanted]), "{op}({a}, {b})");
        }
    }
    let x = [NAN, -1.0, -0.0, 0.0, 3.0, INF, -INF];
    assert_eq!(single("elementwise_relu_f32", &x, &[]), bits(&[NAN, 0.0, 0.0, 0.0, 3.0, INF, 0.0]));
    let clamped = single("elementwise_clamp_f32", &x, &[-0.5, 2.0]);
    assert_eq!(clamped, bits(&[NAN, -0.5, -0.0, 0.0, 2.0, 2.0, -0.5]));
    assert_eq!(single("elementwise_clamp_f32", &[0.0, 1.0], &[NAN, 2.0]), bits(&[NAN, NAN]));
    assert_eq!(single("elementwise_clamp_f32", &[-0.0], &[0.0, 2.0]), bits(&[0.0]));
    // If the bounds cross, the upper one wins.
    assert_eq!(single("elementwise_clamp_f32", &[-9.0, 9.0], &[5.0, 1.0]), bits(&[1.0, 1.0]));
}

#[test]
fn comparisons_follow_ieee() {
    let values = [NAN, -INF, -1.0, -0.0, 0.0, 1.0, INF];
    let ops: [Comparison; 6] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| a != b),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
    ];
    for (name, op) in ops {
        for ((a, b), got) in all_pairs::<f32, u8>(&format!("elementwise_{name}_f32"), &values) {
            assert_eq!(got, u8::from(op(a, b)), "{a} {name} {b}");
        }
        for ((a, b), got) in
            all_pairs::<f16, u8>(&format!("elementwise_{name}_f16"), &values.map(f16::from_f32))
        {
            assert_eq!(got, u8::from(op(a.into(), b.into())), "{a} {name} {b}");
        }
    }
}

#[test]
fn exact_functions_of_one_argument() {
    let x = [NAN, -0.0, 0.0, 0.5, -0.5, 1.5, -2.5, 0.49999997, 8388609.0, -4.25, INF, -INF];
    let wanted: [Unary; 9] = [
        ("neg", |x| -x),
        ("abs", f32::abs),
        ("sqr", |x| x * x),
        ("sqrt", f32::sqrt),
        ("recip", |x| 1.0 / x),
        ("ceil", f32::ceil),
        ("floor", f32::floor),
        ("round", f32::round),
        ("sign", |x| f32::from(x > 0.0) - f32::from(x < 0.0)),
    ];
    for (name, op) in wanted {
        let got = single(&format!("elementwise_{name}_f32"), &x, &[]);
        assert_eq!(got, bits(&x.map(op)), "{name}");
        let got: Vec<f64> = tight(&format!("elementwise_{name}_f64"), &x.map(f64::from), &[]);
        let narrow: Vec<f32> = got.iter().map(|v| *v as f32).collect();
        // All but square, square root and reciprocal are exact in f64 if they are in f32.
        if !["sqr", "sqrt", "recip"].contains(&name) {
            assert_eq!(bits(&narrow), bits(&x.map(op)), "{name} f64");
        }
    }
    // Rounds half away from zero: 0.5 to 1, not to the even 0. sign(-0) is +0.
    assert_eq!(single("elementwise_round_f32", &[0.5, -0.5, 2.5], &[]), bits(&[1.0, -1.0, 3.0]));
    // What rounds to zero keeps its sign; adding +0 to the truncated number would lose it.
    let small = [-0.0, -0.3, 0.3, -0.49999997, 0.49999997, -1e-40];
    assert_eq!(single("elementwise_round_f32", &small, &[]), bits(&[-0.0, -0.0, 0.0, -0.0, 0.0, -0.0]));
    let wide: Vec<f64> = tight("elementwise_round_f64", &small.map(f64::from), &[]);
    assert!(
        wide.iter().zip(small).all(|(got, x)| *got == 0.0 && got.is_sign_negative() == x.is_sign_negative())
    );
    assert_eq!(single("elementwise_sign_f32", &[-0.0, -3.0], &[]), bits(&[0.0, -1.0]));
}

#[test]
fn arithmetic_rounds_once() {
    let mut random = Random(5);
    let mut next = || f32::from_bits((random.next() >> 32) as u32);
    let values: Vec<f32> = (0..60).map(|_| next()).chain([0.0, -0.0, 1.0, INF, NAN]).collect();
    let ops: [Binary; 5] = [
        ("add", |a, b| a + b),
        ("sub", |a, b| a - b),
        ("mul", |a, b| a * b),
        ("div", |a, b| a / b),
        ("rem", |a, b| a % b),
    ];
    let halves: Vec<f16> = (0..60).map(|_| f16::from_bits((random.next() >> 48) as u16)).collect();
    for (name, op) in ops {
        for ((a, b), got) in all_pairs::<f32, f32>(&format!("elementwise_{name}_f32"), &values) {
            assert_eq!(bits(&[got]), bits(&[op(a, b)]), "{name}({a}, {b})");
        }
        for ((a, b), got) in all_pairs::<f16, f16>(&format!("elementwise_{name}_f16"), &halves) {
            let wanted = f16::from_f32(op(a.into(), b.into())).to_f32();
            assert_eq!(bits(&[got.into()]), bits(&[wanted]), "{name}({a}, {b})");
        }
    }
    // (1 + u)² - (1 + 2u) = u². If the product is rounded before the addition, the result is 0.
    let u = 2f32.powi(-12);
    assert_eq!(tight::<f32, f32>("elementwise_affine_f32", &[1.0 + u], &[1.0 + u, -1.0 - 2.0 * u]), [u * u]);
    let u = 2f64.powi(-30);
    assert_eq!(tight::<f64, f64>("elementwise_affine_f64", &[1.0 + u], &[1.0 + u, -1.0 - 2.0 * u]), [u * u]);
    assert_eq!(single("elementwise_leaky_relu_f32", &[-4.0, 3.0, NAN], &[0.25]), bits(&[-1.0, 3.0, NAN]));
    assert_eq!(tight::<f32, f32>("elementwise_powf_f32", &[3.0, -2.0, 0.0], &[3.0]), [27.0, -8.0, 0.0]);
    let tiny = 2f64.powi(-60);
    assert_eq!(tight::<f64, f64>("elementwise_elu_f64", &[-tiny, 2.0], &[3.0]), [-3.0 * tiny, 2.0]);
}

#[test]
fn any_length_and_any_address() {
    let numbers: Vec<f32> = (0..3000).map(|i| i as f32 - 7.5).collect();
    let bytes: Vec<u8> = (0..3000).map(|i| (i * 7 % 256) as u8).collect();
    for length in (0..140).chain([255, 256, 257, 511, 1000, 2990]) {
        for first in [0, 1, 3] {
            let (mut out, map) = (vec![0f32; length], Map1::tight(length as u64));
            let mut args = [input_at(&numbers, first), output(&mut out), value(&map)];
            // SAFETY: S9: the arrays hold `length` elements from there.
            unsafe { run(WAVE_32, "elementwise_neg_f32", SHAPE, &mut args) };
            let part = &numbers[first..first + length];
            assert_eq!(out, part.iter().map(|x| -x).collect::<Vec<_>>(), "{length} {first}");

            let (mut out, map) =
                (vec![0u8; length], Map2::flat(length as u64, Map2::A_TIGHT | Map2::B_TIGHT));
            let mut args = [input_at(&bytes, first), input(&bytes), output(&mut out), value(&map)];
            // SAFETY: S9: as above.
            unsafe { run(WAVE_32, "elementwise_add_u8", SHAPE, &mut args) };
            let (a, b) = (&bytes[first..first + length], &bytes[..length]);
            let wanted: Vec<u8> = a.iter().zip(b).map(|(x, y)| x.wrapping_add(*y)).collect();
            assert_eq!(out, wanted, "{length} {first}");

            let scalar = Map2::flat(length as u64, Map2::A_TIGHT | Map2::B_SCALAR);
            let got: Vec<u8> = binary("elementwise_sub_u8", a, &[9], scalar);
            assert_eq!(got, a.iter().map(|x| x.wrapping_sub(9)).collect::<Vec<_>>());
            let scalar = Map2::flat(length as u64, Map2::A_SCALAR | Map2::B_TIGHT);
            let got: Vec<u8> = binary("elementwise_sub_u8", &[9], b, scalar);
            assert_eq!(got, b.iter().map(|x| 9u8.wrapping_sub(*x)).collect::<Vec<_>>());
        }
    }
    let two_scalars = Map2::flat(300, Map2::A_SCALAR | Map2::B_SCALAR);
    assert_eq!(binary::<f32, f32>("elementwise_sub_f32", &[5.0], &[3.0], two_scalars), vec![2.0; 300]);
    let (mut all, map) = (numbers.clone(), Map1::tight(3000));
    // SAFETY: S9: in place, tight, 3000 elements.
    unsafe { run(WAVE_32, "elementwise_neg_f32", SHAPE, &mut [output(&mut all), Arg::Same(0), value(&map)]) };
    assert_eq!(all, numbers.iter().map(|x| -x).collect::<Vec<_>>());
}

/// Row-major indices of a shape.
fn indices(dims: &[u64]) -> Vec<Vec<u64>> {
    dims.iter().fold(vec![vec![]], |all, dim| {
        all.iter().flat_map(|index| (0..*dim).map(|i| [index.as_slice(), &[i]].concat())).collect()
    })
}

fn offset(index: &[u64], strides: &[u64]) -> usize {
    index.iter().zip(strides).fold(0u64, |sum, (i, s)| sum.wrapping_add(i.wrapping_mul(*s))) as usize
}

/// Shapes and strides of two inputs of fewer than 4096 elements: transposed, broadcast, with gaps, eight dimensions, none.
fn layouts() -> Vec<(Vec<u64>, Vec<u64>, Vec<u64>)> {
    vec![
        (vec![], vec![], vec![]),
        (vec![7], vec![3], vec![0]),
        (vec![40, 50], vec![1, 40], vec![50, 1]),
        (vec![40, 50], vec![50, 1], vec![0, 1]),
        (vec![40, 50], vec![0, 1], vec![1, 0]),
        (vec![3, 4, 5], vec![60, 1, 12], vec![0, 0, 1]),
        (vec![9, 300], vec![301, 1], vec![400, 1]),
        (vec![300, 1], vec![2, 5], vec![1, 0]),
        (vec![2, 3, 2, 2, 3, 2, 2, 3], vec![1, 2, 6, 12, 24, 72, 144, 288], vec![0, 9, 0, 3, 1, 0, 27, 2]),
    ]
}

#[test]
fn strided_inputs() {
    let numbers: Vec<i32> = (0..4096).map(|i| i * i % 10007).collect();
    for (dims, a, b) in layouts() {
        let wanted: Vec<i32> = indices(&dims).iter().map(|i| -numbers[offset(i, &a)]).collect();
        let map = Map1::strided(&dims, &a).expect("at most 8 dims");
        assert_eq!(unary::<i32, i32>("elementwise_neg_i32", &numbers, map, &[]), wanted, "{dims:?}");
        let at = |i: &Vec<u64>| numbers[offset(i, &a)] - numbers[offset(i, &b)];
        let wanted: Vec<i32> = indices(&dims).iter().map(at).collect();
        let map = Map2::strided(&dims, &a, &b).expect("at most 8 dims");
        assert_eq!(binary::<i32, i32>("elementwise_sub_i32", &numbers, &numbers, map), wanted, "{dims:?}");
    }
    // Negative stride: the pointer is that of the last element.
    let map = Map1::strided(&[300], &[1u64.wrapping_neg()]).expect("1 dim");
    let mut out = [0i32; 300];
    let mut args = [input_at(&numbers, 299), output(&mut out), value(&map)];
    // SAFETY: S9: 300 elements back from number 299.
    unsafe { run(WAVE_32, "elementwise_neg_i32", (1, 64), &mut args) };
    assert_eq!(out.to_vec(), numbers[..300].iter().rev().map(|x| -x).collect::<Vec<_>>());
    assert!(Map1::strided(&[1; 9], &[1; 9]).is_none() && Map2::strided(&[1], &[1, 2], &[1]).is_none());
}

#[test]
fn copies_and_fills_touch_only_their_elements() {
    let numbers: Vec<u32> = (0..4096).map(|i| i * 3 + 1).collect();
    for (dims, src, _) in layouts() {
        // A destination with gaps: every dimension's stride covers the inner ones and one more.
        let mut dst = vec![2u64; dims.len()];
        for d in (1..dims.len()).rev() {
            dst[d - 1] = dst[d] * dims[d] + 1;
        }
        let all = indices(&dims);
        let length = all.iter().map(|i| offset(i, &dst)).max().unwrap_or(0) + 1;
        let mut copied = vec![u32::MAX; length];
        let mut set = vec![u32::MAX; length];
        let map = CopyMap::strided(&dims, &src, &dst).expect("at most 8 dims");
        let mut copy = [input(&numbers), output(&mut copied), value(&map)];
        // SAFETY: S9: the destinations reach as far as their strides do.
        unsafe { run(WAVE_32, "elementwise_copy_u32", SHAPE, &mut copy) };
        let mut fill = [output(&mut set), value(&map), value(&77u32)];
        // SAFETY: S9: as above.
        unsafe { run(WAVE_32, "elementwise_const_set_u32", SHAPE, &mut fill) };
        let (mut wanted, mut wanted_set) = (vec![u32::MAX; length], vec![u32::MAX; length]);
        for i in &all {
            wanted[offset(i, &dst)] = numbers[offset(i, &src)];
            wanted_set[offset(i, &dst)] = 77;
        }
        assert_eq!(copied, wanted, "{dims:?}");
        assert_eq!(set, wanted_set, "{dims:?}");
    }
    let (mut out, mut moved) = (vec![0f64; 1000], vec![0i64; 1000]);
    // SAFETY: S9: 999 elements of 1000.
    unsafe {
        run(WAVE_32, "elementwise_fill_f64", SHAPE, &mut [output(&mut out), value(&999u64), value(&2.5f64)])
    };
    assert_eq!((out[0], out[998], out[999]), (2.5, 2.5, 0.0));
    let (ascending, map) = ((0..1000).collect::<Vec<i64>>(), CopyMap::tight(1000));
    // SAFETY: S9: 1000 elements of 1000.
    unsafe {
        run(WAVE_32, "elementwise_copy_i64", SHAPE, &mut [input(&ascending), output(&mut moved), value(&map)])
    };
    assert_eq!(moved, ascending);
}
