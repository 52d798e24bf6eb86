//! Products of matrices: every type, layout, form and transposition.

use crate::gaps::done;
use crate::grid::{FORMS, Fill, Form, Grid, LAYS, Lay, Op, all};
use crate::sample::{Numbers, Part, Sample, for_types};
use crate::under_test;
use half::{bf16, f16};
use hip_safe::Stream;
use num_complex::{Complex32, Complex64};
use reference::blas;
use rocblas_safe::{Error, Handle, Layout, Matrix, MatrixMut, Operable, Product};

const SIZES: [(usize, usize, usize); 6] = [(5, 4, 3), (2, 7, 4), (1, 3, 6), (6, 1, 2), (9, 8, 17), (3, 3, 1)];
const SCALARS: [[(f64, f64); 2]; 4] = [
    [(1.0, 0.0), (0.0, 0.0)],
    [(2.0, 1.0), (-1.0, 0.0)],
    [(-3.0, 0.0), (1.0, 2.0)],
    [(0.0, 0.0), (2.0, 0.0)],
];

#[test]
fn gemm_in_every_layout() {
    for_types!(gemm: f32, f64, f16, bf16, Complex32, Complex64);
}

#[derive(Debug, Clone, Copy)]
struct Case {
    form: Form,
    lays: [Lay; 3],
    ops: (Op, Op),
    size: (usize, usize, usize),
    scalars: [(f64, f64); 2],
    fill: Fill,
}

fn gemm<T: Sample>() {
    let (stream, handle) = under_test::handle();
    let mut numbers = Numbers::new(1);
    let ops: &[Op] = if T::COMPLEX { &[Op::N, Op::T, Op::H] } else { &[Op::N, Op::T] };
    let mut turn = 0;
    for form in FORMS {
        for (a, b) in LAYS.iter().flat_map(|&a| LAYS.map(|b| (a, b))) {
            for c in LAYS {
                for ops in ops.iter().flat_map(|&a| ops.iter().map(move |&b| (a, b))) {
                    turn += 1;
                    let fill = if turn % 2 == 0 { Fill::Whole } else { Fill::Values };
                    let (size, scalars) = (SIZES[turn % SIZES.len()], SCALARS[turn % SCALARS.len()]);
                    let case = Case { form, lays: [a, b, c], ops, size, scalars, fill };
                    product::<T>(&stream, &handle, &mut numbers, case);
                }
            }
        }
    }
}

fn product<T: Sample>(stream: &Stream, handle: &Handle, numbers: &mut Numbers, case: Case) {
    let Case { form, lays, ops: (oa, ob), size: (m, n, k), scalars, fill } = case;
    let count = form.count();
    let turned = |op, (rows, cols)| if op == Op::N { (rows, cols) } else { (cols, rows) };
    let a = Grid::<T>::new(numbers, fill, turned(oa, (m, k)), lays[0], count);
    let b = Grid::<T>::new(numbers, fill, turned(ob, (k, n)), lays[1], count);
    let c = Grid::<T>::new(numbers, fill, (m, n), lays[2], count);
    let [alpha, beta] = scalars.map(|(re, im)| T::Scale::of(re, im));
    let (da, db, mut dc) = (a.upload(stream), b.upload(stream), c.upload(stream));
    let context = || format!("gemm of {}: {case:?}", std::any::type_name::<T>());
    let called =
        handle.gemm(alpha, a.operand(&da, form, oa), b.operand(&db, form, ob), beta, c.result(&mut dc, form));
    // A row or column is stored in both layouts, and its stride tells which one is meant.
    let unclear = [(m, k), (k, n), (m, n)].iter().any(|&(rows, cols)| rows == 1 || cols == 1);
    let alone = |op, lay: Lay| op == Op::H && lay.by_rows != lays[2].by_rows;
    match called {
        Err(Error::NotSupported { .. }) if unclear || alone(oa, lays[0]) || alone(ob, lays[1]) => return,
        called => {
            if !done(called, context) {
                return;
            }
        }
    }
    let sums = |member| {
        let (a, b) = (a.judged(member, oa), b.judged(member, ob));
        blas::gemm(alpha.number(), &a, &b, beta.number(), &c.judged(member, Op::N))
    };
    c.check(stream, &dc, fill == Fill::Whole, all, sums, context);
}

#[test]
fn a_single_factor_is_used_for_every_member() {
    let (stream, handle) = under_test::handle();
    let mut numbers = Numbers::new(2);
    let lay = LAYS[0];
    for form in [Form::Strided, Form::Pointers] {
        let a = Grid::<f32>::new(&mut numbers, Fill::Values, (4, 3), lay, 1);
        let b = Grid::<f32>::new(&mut numbers, Fill::Values, (3, 5), lay, 3);
        let c = Grid::<f32>::new(&mut numbers, Fill::Values, (4, 5), lay, 3);
        let (da, db, mut dc) = (a.upload(&stream), b.upload(&stream), c.upload(&stream));
        let single = a.operand(&da, Form::Single, Op::N);
        handle.gemm(1.0, single, b.operand(&db, form, Op::N), 0.0, c.result(&mut dc, form)).unwrap();
        let sums = |member| {
            let (a, b) = (a.judged(0, Op::N), b.judged(member, Op::N));
            blas::gemm(1.0.into(), &a, &b, 0.0.into(), &c.judged(member, Op::N))
        };
        c.check(&stream, &dc, false, all, sums, || format!("{form:?}"));
    }
    // Batches in different forms meet.
    let a = Grid::<f32>::new(&mut numbers, Fill::Values, (4, 3), lay, 3);
    let b = Grid::<f32>::new(&mut numbers, Fill::Values, (3, 5), lay, 3);
    let c = Grid::<f32>::new(&mut numbers, Fill::Values, (4, 5), lay, 3);
    let (da, db, mut dc) = (a.upload(&stream), b.upload(&stream), c.upload(&stream));
    let (a_op, b_op) = (a.operand(&da, Form::Pointers, Op::N), b.operand(&db, Form::Strided, Op::N));
    handle.gemm(1.0, a_op, b_op, 0.0, c.result(&mut dc, Form::Strided)).unwrap();
    let sums = |member| {
        let (a, b) = (a.judged(member, Op::N), b.judged(member, Op::N));
        blas::gemm(1.0.into(), &a, &b, 0.0.into(), &c.judged(member, Op::N))
    };
    c.check(&stream, &dc, false, all, sums, || "mixed forms".to_owned());
}

#[test]
fn sums_of_16_bits_are_computed_in_f32() {
    let (stream, handle) = under_test::handle();
    // 2048 + 1 is no f16, so a sum in f16 would stay at 2048; 256 + 1 is no bf16.
    let ones = vec![f16::ONE; 4096];
    let (a, mut c) = (stream.upload(&ones).unwrap(), stream.alloc_zeros::<f16>(1).unwrap());
    let row = Matrix::new(a.view(), 1, 4096, Layout::RowMajor).unwrap();
    let result = MatrixMut::new(c.view_mut(), 1, 1, Layout::RowMajor).unwrap();
    handle.gemm(1.0, row, row.t(), 0.0, result).unwrap();
    assert_eq!(stream.download(&c).unwrap(), [f16::from_f32(4096.0)]);
    let ones = vec![bf16::ONE; 1024];
    let (a, mut c) = (stream.upload(&ones).unwrap(), stream.alloc_zeros::<bf16>(1).unwrap());
    let row = Matrix::new(a.view(), 1, 1024, Layout::ColMajor).unwrap();
    let result = MatrixMut::new(c.view_mut(), 1, 1, Layout::ColMajor).unwrap();
    handle.gemm(1.0, row, row.t(), 0.0, result).unwrap();
    assert_eq!(stream.download(&c).unwrap(), [bf16::from_f32(1024.0)]);
    assert_eq!(handle.dot(&a, &a).unwrap(), bf16::from_f32(1024.0));
}

#[test]
fn products_of_chosen_types() {
    chosen::<f32, f16, f32>(1.0, 0.5);
    chosen::<f32, bf16, f32>(2.0, 0.0);
    chosen::<f32, f16, f16>(1.0, -1.0);
    chosen::<f32, bf16, bf16>(1.0, 1.0);
    chosen::<f32, f32, f32>(1.0, 2.0);
    chosen::<f64, f64, f64>(-1.0, 2.0);
    chosen::<Complex32, Complex32, Complex32>(Complex32::new(0.0, 1.0), Complex32::new(2.0, 0.0));
}

/// Whole numbers, so that there is one right answer.
fn chosen<S, In, Out>(alpha: S, beta: S)
where
    S: Product<In, Out> + Part,
    In: Sample,
    Out: Sample + Operable,
{
    let (stream, handle) = under_test::handle();
    let mut numbers = Numbers::new(3);
    for form in FORMS {
        for [la, lb, lc] in [[LAYS[0]; 3], [LAYS[1], LAYS[2], LAYS[1]], [LAYS[2], LAYS[0], LAYS[2]]] {
            let count = form.count();
            let a = Grid::<In>::new(&mut numbers, Fill::Whole, (4, 6), la, count);
            let b = Grid::<In>::new(&mut numbers, Fill::Whole, (6, 5), lb, count);
            let c = Grid::<Out>::new(&mut numbers, Fill::Whole, (4, 5), lc, count);
            let d = Grid::<Out>::new(&mut numbers, Fill::Whole, (4, 5), lc, count);
            let (da, db, dc, mut dd) =
                (a.upload(&stream), b.upload(&stream), c.upload(&stream), d.upload(&stream));
            let names = [std::any::type_name::<In>(), std::any::type_name::<Out>()];
            let context = || format!("gemm_ex of {names:?}, {form:?}, {la:?}, {lb:?}, {lc:?}");
            let (a_op, b_op, c_op) =
                (a.operand(&da, form, Op::N), b.operand(&db, form, Op::N), c.operand(&dc, form, Op::N));
            if !done(handle.gemm_ex(alpha, a_op, b_op, beta, c_op, d.result(&mut dd, form)), context) {
                return;
            }
            let sums = |member| {
                let (a, b, c) = (a.judged(member, Op::N), b.judged(member, Op::N), c.judged(member, Op::N));
                blas::gemm(alpha.number(), &a, &b, beta.number(), &c)
            };
            d.check(&stream, &dd, true, all, sums, context);
        }
    }
}

#[test]
fn products_of_bytes() {
    bytes((4, 8, 12), "gemm_ex of i8");
    bytes((3, 5, 4), "gemm_ex of i8, uneven");
}

fn bytes((m, n, k): (usize, usize, usize), name: &str) {
    let (stream, handle) = under_test::handle();
    let byte = |x: usize| i8::try_from((x * 37) % 256).unwrap_or(i8::MIN);
    let (a, b): (Vec<i8>, Vec<i8>) = ((0..m * k).map(byte).collect(), (1..=k * n).map(byte).collect());
    let (da, db) = (stream.upload(&a).unwrap(), stream.upload(&b).unwrap());
    let c: Vec<i32> = (0..1000).step_by(10).take(m * n).collect();
    let (dc, mut dd) = (stream.upload(&c).unwrap(), stream.alloc_zeros::<i32>(m * n).unwrap());
    let layout = Layout::RowMajor;
    let called = handle.gemm_ex(
        2_i32,
        Matrix::new(da.view(), m, k, layout).unwrap(),
        Matrix::new(db.view(), k, n, layout).unwrap(),
        -1_i32,
        Matrix::new(dc.view(), m, n, layout).unwrap(),
        MatrixMut::new(dd.view_mut(), m, n, layout).unwrap(),
    );
    if !done(called, || name.to_owned()) {
        return;
    }
    let element = |i: usize, j: usize| {
        let sum: i32 = (0..k).map(|p| i32::from(a[i * k + p]) * i32::from(b[p * n + j])).sum();
        2 * sum - c[i * n + j]
    };
    let wanted: Vec<i32> = (0..m * n).map(|x| element(x / n, x % n)).collect();
    assert_eq!(stream.download(&dd).unwrap(), wanted, "{name}");
}
