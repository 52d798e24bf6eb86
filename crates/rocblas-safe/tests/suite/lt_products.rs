//! Products of `lt` against sums in `f64`: every type, layout, transposition, epilogue and kind of batch.
//!
//! The bound is the worst case of sums in `f32`, from the definition. With u = 2^-24, a sum of k products to which two numbers are added after at
//! most four roundings of its factors is off by at most γ(k + 6) Σ|terms|, γ(n) = n u / (1 - n u). ReLU does not enlarge that. GELU has a slope
//! below 1.13, and its evaluation is off by 8 u |x|: its tanh is between -1 and 1, and off by less than 6 u where its argument is off by 4 u of
//! itself (t sech² t < 0.45), then come two products. Last, the result is rounded to its type.

use crate::grid::{LAYS, Lay};
use crate::lt_platforms::{Next, computed, is_refusal, known, types};
use crate::lt_sample::{Number, Sheet};
use crate::sample::Numbers;
use crate::under_test;
use half::{bf16, f16};
use rocblas_safe::lt::{BiasFor, F8E4M3, F8E4M3Fnuz, F8E5M2, F8E5M2Fnuz, LtHandle, MatmulTypes};
use rocblas_safe::{Layout, Matrix, MatrixMut};

const U: f64 = 1.0 / (1 << 24) as f64;
const SIZES: [(usize, usize, usize); 5] = [(5, 4, 3), (2, 7, 16), (1, 3, 6), (6, 1, 2), (9, 8, 33)];

/// What follows a product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Act {
    None,
    Relu,
    Gelu,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Adds {
    Nothing,
    Itself,
    Other,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) lays: [Lay; 3],
    pub(crate) turned: [bool; 2],
    pub(crate) size: (usize, usize, usize),
    /// Members of a, of b and of the result.
    pub(crate) counts: [usize; 3],
    pub(crate) act: Act,
    pub(crate) bias: bool,
    pub(crate) aux: bool,
    pub(crate) adds: Adds,
    alpha: f32,
}

/// What units for 8 bits take: a transposed, b not, by columns, in multiples of 16.
const FOR_8_BITS: Case = Case {
    lays: [LAYS[1]; 3],
    turned: [true, false],
    size: (32, 16, 48),
    counts: [1; 3],
    act: Act::None,
    bias: false,
    aux: false,
    adds: Adds::Nothing,
    alpha: 0.75,
};

/// A number before its activation.
pub(crate) struct Exact {
    pub(crate) value: f64,
    /// How far f32 may be from it.
    bound: f64,
    /// The largest absolute value of the product and of what each addition to it gives.
    pub(crate) largest: f64,
    /// The largest absolute value of the product's terms and of their running sums.
    pub(crate) most: f64,
    /// How many terms the product has.
    pub(crate) inner: usize,
}

/// All layouts and transpositions, each with the next of the other choices.
fn cases() -> Vec<Case> {
    let acts = [Act::None, Act::Relu, Act::Gelu];
    let counts = [[1, 1, 1], [3, 3, 3], [1, 3, 3], [2, 1, 2]];
    let adds = [Adds::Nothing, Adds::Itself, Adds::Other];
    let mut cases = Vec::new();
    for (a, b) in LAYS.iter().flat_map(|&a| LAYS.map(|b| (a, b))) {
        for (d, turned) in
            LAYS.iter().flat_map(|&d| [[false; 2], [true, false], [false, true], [true; 2]].map(|t| (d, t)))
        {
            let turn = cases.len() + cases.len() / 16;
            let act = acts[turn % 3];
            cases.push(Case {
                lays: [a, b, d],
                turned,
                size: SIZES[turn % 5],
                counts: counts[turn / 2 % 4],
                act,
                bias: turn / 3 % 2 == 1,
                aux: act != Act::None && turn % 7 < 2,
                adds: adds[turn / 5 % 3],
                alpha: [1.0, -2.5, 0.75][turn / 4 % 3],
            });
        }
    }
    cases
}

fn gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x)).tanh())
}

/// Products of floats, with a bias of type `E`: each case, or one of so many.
fn floats<A: Number, B: Number, D: Number, E: Number + BiasFor<D>>(every: usize)
where
    (A, B, D): MatmulTypes<Scale = f32>,
{
    let stream = under_test::stream();
    let lt = LtHandle::new(stream.device()).expect("the platform has the library");
    let mut numbers = Numbers::new(7);
    let all: Vec<Case> = cases().into_iter().step_by(every).chain([FOR_8_BITS]).collect();
    let count = all.iter().filter(|case| product::<A, B, D, E>(&stream, &lt, &mut numbers, **case)).count();
    println!("{count} of {} products of {:?} were computed", all.len(), types::<A, B, D, E>());
}

fn product<A: Number, B: Number, D: Number, E: Number + BiasFor<D>>(
    stream: &hip_safe::Stream,
    lt: &LtHandle,
    numbers: &mut Numbers,
    case: Case,
) -> bool
where
    (A, B, D): MatmulTypes<Scale = f32>,
{
    let Case { lays, turned, size: (m, n, k), counts, act, bias, aux, adds, alpha } = case;
    let stored = |turned, (rows, cols)| if turned { (cols, rows) } else { (rows, cols) };
    let a = Sheet::<A>::new(numbers, 2.0, stored(turned[0], (m, k)), lays[0], counts[0]);
    let b = Sheet::<B>::new(numbers, 2.0, stored(turned[1], (k, n)), lays[1], counts[1]);
    let d = Sheet::<D>::new(numbers, 3.0, (m, n), lays[2], counts[2]);
    let other = Sheet::<D>::new(numbers, 3.0, (m, n), lays[2], counts[2]);
    let beta = -0.5_f32;
    // C adds to the rows of what it stores by columns.
    let per_row = !lays[2].by_rows;
    let biases: Vec<E> = (0..if per_row { m } else { n }).map(|_| E::of(numbers.unit())).collect();
    let types = types::<A, B, D, E>();
    let context = || format!("{types:?} {case:?}");
    let (da, db, mut dd) = (a.upload(stream), b.upload(stream), d.upload(stream));
    let (dother, mut daux) = (other.upload(stream), d.upload(stream));
    let dbias = stream.upload(&biases).unwrap();
    let left = if turned[0] { a.operand(&da).t() } else { a.operand(&da) };
    let right = if turned[1] { b.operand(&db).t() } else { b.operand(&db) };
    let mut call = lt.matmul(left, right, d.result(&mut dd)).alpha(alpha);
    call = match adds {
        Adds::Nothing => call,
        Adds::Itself => call.accumulate(beta),
        Adds::Other => call.add(beta, other.operand(&dother)),
    };
    call = match act {
        Act::None => call,
        Act::Relu => call.relu(),
        Act::Gelu => call.gelu(),
    };
    if bias {
        let view = dbias.view();
        call = if per_row { call.bias_per_row(view) } else { call.bias_per_column(view) };
    }
    if aux {
        call = call.aux(d.result(&mut daux));
    }
    if !computed(&types, &case, call.run(stream)) {
        return false;
    }

    let before = |member: usize, i: usize, j: usize| {
        let (mut value, mut scale, mut most) = (0.0_f64, 0.0, 0.0_f64);
        for l in 0..k {
            let x = if turned[0] { a.at(member, l, i) } else { a.at(member, i, l) };
            let y = if turned[1] { b.at(member, j, l) } else { b.at(member, l, j) };
            value += f64::from(alpha) * x * y;
            scale += (f64::from(alpha) * x * y).abs();
            most = most.max(value.abs()).max((f64::from(alpha) * x * y).abs());
        }
        let mut largest = f64::abs(value);
        let mut plus = |term: f64| {
            (value, scale) = (value + term, scale + term.abs());
            largest = largest.max(value.abs());
        };
        match adds {
            Adds::Nothing => {}
            Adds::Itself => plus(f64::from(beta) * d.at(member, i, j)),
            Adds::Other => plus(f64::from(beta) * other.at(member, i, j)),
        }
        if bias {
            plus(biases[if per_row { i } else { j }].value());
        }
        let count = (k + 6) as f64;
        Exact { value, bound: count * U / (1.0 - count * U) * scale, largest, most, inner: k }
    };
    let rounded = |(value, bound): (f64, f64)| {
        let (relative, least) = D::ROUNDING;
        (value, bound + relative * (value.abs() + bound) + least)
    };
    let after = |member, i, j| {
        let Exact { value: x, bound, .. } = before(member, i, j);
        rounded(match act {
            Act::None => (x, bound),
            Act::Relu => (x.max(0.0), bound),
            Act::Gelu => (gelu(x), 1.13 * bound + 8.0 * U * (x.abs() + bound)),
        })
    };
    let differing = |got: &[D], act: Act, wanted: &dyn Fn(usize, usize, usize) -> (f64, f64), what: &str| {
        let known = known(&types, Next::of(&case, act));
        let further = |member, i, j| known.share * (known.of)(&before(member, i, j));
        let count = d.check(got, wanted, further, &|| format!("{}: {what}", context()));
        if count > 0 {
            println!("known difference: {count} numbers of {}: {what}: {}", context(), known.reason);
        }
    };
    differing(&stream.download(&dd).unwrap(), act, &after, "the result");
    if aux {
        let before = |member, i, j| {
            let exact = before(member, i, j);
            rounded((exact.value, exact.bound))
        };
        differing(&stream.download(&daux).unwrap(), Act::None, &before, "what goes into the activation");
    }
    true
}

#[test]
fn floats_of_32_bits() {
    floats::<f32, f32, f32, f32>(1);
}

#[test]
fn floats_of_16_bits() {
    floats::<f16, f16, f16, f16>(1);
    floats::<bf16, bf16, bf16, bf16>(1);
}

#[test]
fn floats_of_16_bits_with_a_bias_of_32() {
    floats::<f16, f16, f16, f32>(5);
    floats::<bf16, bf16, bf16, f32>(5);
}

#[test]
fn f16_into_f32() {
    floats::<f16, f16, f32, f32>(3);
}

#[test]
fn bf16_into_f32() {
    floats::<bf16, bf16, f32, f32>(3);
}

#[test]
fn floats_of_8_bits() {
    floats::<F8E4M3, F8E4M3, f32, f32>(3);
    floats::<F8E4M3, F8E5M2, f16, f16>(3);
    floats::<F8E5M2, F8E4M3, bf16, bf16>(3);
    floats::<F8E4M3Fnuz, F8E4M3Fnuz, f32, f32>(3);
    floats::<F8E5M2Fnuz, F8E4M3Fnuz, f16, f32>(5);
    floats::<F8E4M3, F8E4M3, F8E4M3, f32>(3);
    floats::<F8E4M3, F8E5M2, F8E5M2, f32>(5);
    floats::<F8E5M2Fnuz, F8E5M2Fnuz, F8E4M3Fnuz, f32>(3);
    floats::<F8E4M3Fnuz, F8E4M3Fnuz, F8E5M2Fnuz, f32>(5);
}

/// More than a tile in each direction, of several threads.
#[test]
fn large_products() {
    let stream = under_test::stream();
    let lt = LtHandle::new(stream.device()).unwrap();
    let (counts, size) = ([1, 1, 1], (300, 270, 70));
    let case = Case {
        lays: [LAYS[0], LAYS[1], LAYS[3]],
        turned: [false, true],
        size,
        counts,
        act: Act::Relu,
        bias: true,
        aux: true,
        adds: Adds::Itself,
        alpha: 1.5,
    };
    product::<f16, f16, f16, f16>(&stream, &lt, &mut Numbers::new(8), case);
    product::<f16, f16, f16, f16>(&stream, &lt, &mut Numbers::new(10), Case { aux: false, ..case });
    product::<f32, f32, f32, f32>(
        &stream,
        &lt,
        &mut Numbers::new(9),
        Case { lays: [LAYS[1], LAYS[0], LAYS[0]], ..case },
    );
}

/// Sums of bytes are exact, and compared so: k reaches from 1 to 300, where they need 23 bits.
#[test]
fn integers() {
    let stream = under_test::stream();
    let lt = LtHandle::new(stream.device()).unwrap();
    let mut numbers = Numbers::new(3);
    let long = |(turn, case): (usize, Case)| match turn % 8 {
        0 => Case { size: (case.size.0, case.size.1, 300), ..case },
        _ => case,
    };
    let without = |case: Case| Case { act: Act::None, bias: false, aux: false, ..case };
    let all = cases().into_iter().enumerate().step_by(2).map(long).map(without);
    for case in all.chain([FOR_8_BITS]) {
        let Case { lays, turned, size: (m, n, k), counts, adds, .. } = case;
        let stored = |turned, (rows, cols)| if turned { (cols, rows) } else { (rows, cols) };
        let a = Sheet::<i8>::new(&mut numbers, 127.0, stored(turned[0], (m, k)), lays[0], counts[0]);
        let b = Sheet::<i8>::new(&mut numbers, 127.0, stored(turned[1], (k, n)), lays[1], counts[1]);
        let d = Sheet::<i32>::new(&mut numbers, 1e6, (m, n), lays[2], counts[2]);
        let (da, db, mut dd) = (a.upload(&stream), b.upload(&stream), d.upload(&stream));
        let left = if turned[0] { a.operand(&da).t() } else { a.operand(&da) };
        let right = if turned[1] { b.operand(&db).t() } else { b.operand(&db) };
        let mut call = lt.matmul(left, right, d.result(&mut dd)).alpha(3);
        if adds != Adds::Nothing {
            call = call.accumulate(-2);
        }
        if !computed(&types::<i8, i8, i32, i32>(), &case, call.run(&stream)) {
            continue;
        }
        let wanted = |member: usize, i: usize, j: usize| {
            let term = |l| {
                let x = if turned[0] { a.at(member, l, i) } else { a.at(member, i, l) };
                x * if turned[1] { b.at(member, j, l) } else { b.at(member, l, j) }
            };
            let sum = 3.0 * (0..k).map(term).sum::<f64>();
            (sum - if adds == Adds::Nothing { 0.0 } else { 2.0 * d.at(member, i, j) }, 0.0)
        };
        d.check(&stream.download(&dd).unwrap(), wanted, |_, _, _| 0.0, &|| format!("{case:?}"));
    }
}

/// Whether the library did it. Others than hip-host have no kernels for a single number of 8 bits.
#[track_caller]
fn done(result: rocblas_safe::Result<()>, what: &str) -> bool {
    match result {
        Err(error) if is_refusal(&error) && under_test::name() != "host" => {
            println!("refused: {what}: {error}");
            false
        }
        result => result.map(|()| true).unwrap_or_else(|error| panic!("{what}: {error}")),
    }
}

/// By hand: 2 · 1.5 = 3 with factors 4 and 0.5 is 6; a tenth of -6 is off E4M3's grid, whose neighbours are -0.625 and -0.5625.
#[test]
fn factors_of_8_bit_floats() {
    let stream = under_test::stream();
    let lt = LtHandle::new(stream.device()).unwrap();
    let (a, b) = (stream.upload(&[F8E4M3::of(2.0)]).unwrap(), stream.upload(&[F8E4M3::of(1.5)]).unwrap());
    let factors = stream.upload(&[4.0_f32, 0.5, 0.1]).unwrap();
    let factor = |index: usize| factors.slice(index..index + 1).unwrap();
    let one = |view| Matrix::new(view, 1, 1, Layout::ColMajor).unwrap();
    let mut wide = stream.alloc_zeros::<f32>(1).unwrap();
    let result = MatrixMut::new(wide.view_mut(), 1, 1, Layout::ColMajor).unwrap();
    let call = lt.matmul(one(a.view()), one(b.view()), result).scale_a(factor(0)).scale_b(factor(1));
    if done(call.run(&stream), "a factor of a and of b") {
        assert_eq!(stream.download(&wide).unwrap(), [6.0]);
    }
    let mut narrow = stream.alloc_zeros::<F8E4M3>(2).unwrap();
    let (first, second) = narrow.split_at_mut(1).unwrap();
    let result = MatrixMut::new(first, 1, 1, Layout::ColMajor).unwrap();
    let call = lt.matmul(one(a.view()), one(b.view()), result).alpha(-1.0);
    let call = call.scale_a(factor(0)).scale_b(factor(1)).scale_d(factor(2));
    if !done(call.run(&stream), "a factor of d") {
        return;
    }
    // 3 · 1e6 is beyond the largest number, 448.
    let result = MatrixMut::new(second, 1, 1, Layout::ColMajor).unwrap();
    lt.matmul(one(a.view()), one(b.view()), result).alpha(1e6).run(&stream).unwrap();
    let got = stream.download(&narrow).unwrap().iter().map(|x| x.value()).collect::<Vec<_>>();
    assert_eq!(got, [-0.625, 448.0]);
}

/// With alpha or beta zero, NaNs in what they multiply have no effect.
#[test]
fn what_a_zero_multiplies_is_not_read() {
    let stream = under_test::stream();
    let lt = LtHandle::new(stream.device()).unwrap();
    let nan = stream.upload(&[f32::NAN; 4]).unwrap();
    let ones = stream.upload(&[1.0_f32; 4]).unwrap();
    let square = |buffer| Matrix::new(buffer, 2, 2, Layout::RowMajor).unwrap();
    let mut d = stream.upload(&[f32::NAN; 4]).unwrap();
    let result = MatrixMut::new(d.view_mut(), 2, 2, Layout::RowMajor).unwrap();
    lt.matmul(square(ones.view()), square(ones.view()), result).accumulate(0.0).run(&stream).unwrap();
    assert_eq!(stream.download(&d).unwrap(), [2.0; 4]);
    let result = MatrixMut::new(d.view_mut(), 2, 2, Layout::RowMajor).unwrap();
    lt.matmul(square(nan.view()), square(ones.view()), result)
        .alpha(0.0)
        .accumulate(3.0)
        .run(&stream)
        .unwrap();
    assert_eq!(stream.download(&d).unwrap(), [6.0; 4]);
}
