//! Triangular matrices: products and solutions, of vectors and of matrices.

use crate::gaps::done;
use crate::grid::{FORMS, Fill, Form, Grid, LAYS, Lay, Op, all};
use crate::line::{INCS, Line};
use crate::sample::{Numbers, Sample, for_types};
use crate::under_test;
use hip_safe::Stream;
use num_complex::{Complex32, Complex64};
use reference::blas::{self, Matrix};
use rocblas_safe::{Blas, Diagonal, Error, Handle, Side, Triangle};

const SIZES: [(usize, usize); 5] = [(4, 4), (5, 3), (2, 9), (1, 4), (40, 3)];

struct Case<'a> {
    stream: &'a Stream,
    handle: &'a Handle,
    numbers: Numbers,
    form: Form,
    lays: [Lay; 3],
    op: Op,
    size: (usize, usize),
    alpha: (f64, f64),
    upper: bool,
    unit: bool,
    left: bool,
    inc: isize,
}

/// Calls the function for each form, layout, transposition, triangle, diagonal and side.
fn cases<T: Sample>(mut run: impl FnMut(&mut Case<'_>)) {
    let (stream, handle) = under_test::handle();
    let ops: &[Op] = if T::COMPLEX { &[Op::N, Op::T, Op::H] } else { &[Op::N, Op::T] };
    let mut turn = 0;
    for (form, a) in FORMS.iter().flat_map(|&form| LAYS.map(|lay| (form, lay))) {
        for (&op, c) in ops.iter().flat_map(|op| LAYS.map(|lay| (op, lay))) {
            for flags in 0..8_u32 {
                turn += 1;
                let mut numbers = Numbers::new(turn);
                let (stream, handle) = (&stream, &handle);
                let [upper, unit, left] = [0, 1, 2].map(|bit| flags >> bit & 1 == 1);
                let size = SIZES[turn as usize % SIZES.len()];
                let alpha = numbers.pick(&[(1.0, 0.0), (-2.0, 1.0), (3.0, 0.0)]);
                let b = Lay { by_rows: c.by_rows, ..numbers.pick(&LAYS) };
                let (lays, inc) = ([a, b, c], numbers.pick(&INCS));
                run(&mut Case {
                    stream,
                    handle,
                    numbers,
                    form,
                    lays,
                    op,
                    size,
                    alpha,
                    upper,
                    unit,
                    left,
                    inc,
                });
            }
        }
    }
}

impl Case<'_> {
    /// A triangular matrix that is far from singular, with NaNs where nobody is to read.
    fn factor<T: Sample>(&mut self, order: usize) -> Grid<T> {
        let mut grid =
            Grid::<T>::new(&mut self.numbers, Fill::Values, (order, order), self.lays[0], self.form.count());
        let shrink = 1.0 / order as f64;
        for member in 0..grid.count {
            for (i, j) in (0..order).flat_map(|i| (0..order).map(move |j| (i, j))) {
                let index = grid.index(member, i, j);
                let [re, im] = grid.data[index].parts();
                let more = if i == j { 2.0_f64.copysign(re) } else { 0.0 };
                grid.data[index] = T::of(re * shrink + more, im * shrink);
            }
        }
        let (upper_here, unit) = (self.upper == (self.op == Op::N), self.unit);
        grid.poison(|i, j| if i == j { unit } else { (i < j) != upper_here });
        grid
    }

    fn judged<T: Sample>(&self, a: &Grid<T>, member: usize) -> Matrix {
        a.judged(member, self.op).triangular(self.upper, self.unit)
    }

    fn grid<T: Sample>(&mut self, which: usize) -> Grid<T> {
        Grid::new(&mut self.numbers, Fill::Values, self.size, self.lays[which], self.form.count())
    }

    fn says<T>(&self, op: &str) -> String {
        let Self { form, lays, op: transposed, size, alpha, upper, unit, left, inc, .. } = self;
        let name = std::any::type_name::<T>();
        format!(
            "{op} of {name}: {form:?}, {lays:?}, {transposed:?}, {size:?}, {alpha:?}, upper: {upper}, unit: {unit}, left: {left}, {inc}"
        )
    }

    fn how(&self) -> (Side, Triangle, Diagonal) {
        (
            if self.left { Side::Left } else { Side::Right },
            if self.upper { Triangle::Upper } else { Triangle::Lower },
            if self.unit { Diagonal::Unit } else { Diagonal::Stored },
        )
    }

    /// The order of the triangular factor of a matrix of the case's size.
    fn order(&self) -> usize {
        if self.left { self.size.0 } else { self.size.1 }
    }

    /// `a b`, or `b a`, for the judge.
    fn product(&self, alpha: blas::Number, a: &Matrix, b: &Matrix) -> blas::Sums {
        let none = Matrix::zeros(b.rows(), b.cols());
        let (first, second) = if self.left { (a, b) } else { (b, a) };
        blas::gemm(alpha, first, second, 0.0.into(), &none)
    }
}

#[test]
fn trmv_and_trsv() {
    fn of<T: Sample + Blas>() {
        cases::<T>(|case| {
            let n = case.size.0;
            let a = case.factor::<T>(n);
            let x = Line::<T>::new(&mut case.numbers, Fill::Values, n, case.inc, case.form.count());
            let (da, mut dx) = (a.upload(case.stream), x.upload(case.stream));
            let ((_, triangle, diagonal), form, op) = (case.how(), case.form, case.op);
            let may_lack = op == Op::H && (case.lays[0].by_rows || n == 1);
            let context = || case.says::<T>("trmv");
            let a_op = a.operand(&da, form, op);
            let called = case.handle.trmv(triangle, diagonal, a_op, x.result(&mut dx, form));
            if matches!(called, Err(Error::NotSupported { .. })) && may_lack {
                return;
            }
            if done(called, context) {
                let none = vec![blas::Number::ZERO; n];
                let sums = |m| blas::gemv(1.0.into(), &case.judged(&a, m), &x.judged(m), 0.0.into(), &none);
                x.check(case.stream, &dx, false, sums, context);
            }
            let mut dx = x.upload(case.stream);
            let context = || case.says::<T>("trsv");
            let a_op = a.operand(&da, form, op);
            if !done(case.handle.trsv(triangle, diagonal, a_op, x.result(&mut dx, form)), context) {
                return;
            }
            let got = Line { data: case.stream.download(&dx).unwrap(), ..x.clone() };
            for member in 0..x.count {
                let a = case.judged(&a, member);
                let left = blas::solve_residual_vector(&a, &got.judged(member), &x.judged(member));
                for (i, sum) in left.iter().enumerate() {
                    assert!(is_small::<T>(sum), "{}, member {member}, element {i}: {sum:?}", context());
                }
            }
        });
    }
    for_types!(of: f32, f64, Complex32, Complex64);
}

/// Whether what is left of a solved equation is nothing but rounding errors of its terms.
fn is_small<T: Sample>(left: &blas::Sum) -> bool {
    let zero = blas::Sum { value: blas::Number::ZERO, ..*left };
    zero.accepts(T::DTYPE, [left.value.re.hi, left.value.im.hi])
}

#[test]
fn trmm() {
    fn of<T: Sample + Blas>() {
        cases::<T>(|case| {
            let order = case.order();
            let (a, b, c) = (case.factor::<T>(order), case.grid::<T>(1), case.grid::<T>(2));
            let (da, db, mut dc) = (a.upload(case.stream), b.upload(case.stream), c.upload(case.stream));
            let ((side, triangle, diagonal), form, op) = (case.how(), case.form, case.op);
            let alpha = T::of(case.alpha.0, case.alpha.1);
            // A row or column is stored in both layouts.
            let alone = op == Op::H
                && (case.lays[0].by_rows != case.lays[2].by_rows || order == 1 || case.size.0 == 1);
            let context = || case.says::<T>("trmm");
            let (a_op, b_op) = (a.operand(&da, form, op), b.operand(&db, form, Op::N));
            let called =
                case.handle.trmm(side, triangle, diagonal, alpha, a_op, b_op, c.result(&mut dc, form));
            if matches!(called, Err(Error::NotSupported { .. })) && alone {
                return;
            }
            let sums = |m| case.product(alpha.number(), &case.judged(&a, m), &b.judged(m, Op::N));
            if done(called, context) {
                c.check(case.stream, &dc, false, all, sums, context);
            }
            let mut db = b.upload(case.stream);
            let context = || case.says::<T>("trmm in place");
            let a_op = a.operand(&da, form, op);
            let called =
                case.handle.trmm_in_place(side, triangle, diagonal, alpha, a_op, b.result(&mut db, form));
            if done(called, context) {
                b.check(case.stream, &db, false, all, sums, context);
            }
        });
    }
    for_types!(of: f32, f64, Complex32, Complex64);
}

#[test]
fn trsm() {
    fn of<T: Sample + Blas>() {
        cases::<T>(|case| {
            let order = case.order();
            let (a, b) = (case.factor::<T>(order), case.grid::<T>(2));
            let (da, mut db) = (a.upload(case.stream), b.upload(case.stream));
            let ((side, triangle, diagonal), form, op) = (case.how(), case.form, case.op);
            let alpha = T::of(case.alpha.0, case.alpha.1);
            let alone = op == Op::H
                && (case.lays[0].by_rows != case.lays[2].by_rows || order == 1 || case.size.0 == 1);
            let context = || case.says::<T>("trsm");
            let a_op = a.operand(&da, form, op);
            let called = case.handle.trsm(side, triangle, diagonal, alpha, a_op, b.result(&mut db, form));
            if matches!(called, Err(Error::NotSupported { .. })) && alone || !done(called, context) {
                return;
            }
            let got = Grid { data: case.stream.download(&db).unwrap(), ..b.clone() };
            for member in 0..b.count {
                let (a, x, b) = (case.judged(&a, member), got.judged(member, Op::N), b.judged(member, Op::N));
                let left = if case.left {
                    blas::solve_residual(&a, &x, alpha.number(), &b)
                } else {
                    blas::solve_residual(&a.t(), &x.t(), alpha.number(), &b.t())
                };
                for (i, j) in (0..x.rows()).flat_map(|i| (0..x.cols()).map(move |j| (i, j))) {
                    let sum = &left[if case.left { (i, j) } else { (j, i) }];
                    assert!(is_small::<T>(sum), "{}, member {member}, ({i}, {j}): {sum:?}", context());
                }
            }
        });
    }
    for_types!(of: f32, f64, Complex32, Complex64);
}
