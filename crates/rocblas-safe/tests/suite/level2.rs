//! Level 2: every type, layout, increment and form.

use crate::gaps::{done, lacks_backward};
use crate::grid::{FORMS, Fill, Form, Grid, LAYS, Lay, Op, all};
use crate::line::{INCS, Line};
use crate::sample::{Numbers, Part, Sample, for_types};
use crate::under_test;
use half::{bf16, f16};
use hip_safe::Stream;
use num_complex::{Complex32, Complex64};
use reference::blas::{self, Matrix};
use rocblas_safe::{BandMatrix, Blas, Element, Error, Handle, Layout, Triangle, VectorProduct};

const SIZES: [(usize, usize); 5] = [(4, 4), (5, 3), (2, 9), (1, 4), (6, 1)];

struct Case<'a> {
    stream: &'a Stream,
    handle: &'a Handle,
    numbers: Numbers,
    form: Form,
    fill: Fill,
    lay: Lay,
    op: Op,
    incs: [isize; 2],
    size: (usize, usize),
    alpha: (f64, f64),
    beta: (f64, f64),
    upper: bool,
}

/// Calls the function for each form, layout, transposition and pair of increments.
fn cases<T: Sample>(mut run: impl FnMut(&mut Case<'_>)) {
    let (stream, handle) = under_test::handle();
    let ops: &[Op] = if T::COMPLEX { &[Op::N, Op::T, Op::H] } else { &[Op::N, Op::T] };
    let mut turn = 0;
    for (form, lay) in FORMS.iter().flat_map(|&form| LAYS.map(|lay| (form, lay))) {
        for (&op, incs) in
            ops.iter().flat_map(|op| INCS.iter().flat_map(move |&x| INCS.map(|y| (op, [x, y]))))
        {
            turn += 1;
            let fill = if turn % 2 == 0 { Fill::Whole } else { Fill::Values };
            let mut numbers = Numbers::new(turn);
            let size = SIZES[turn as usize % SIZES.len()];
            let alpha = numbers.pick(&[(1.0, 0.0), (-2.0, 1.0), (3.0, 0.0)]);
            let beta = numbers.pick(&[(1.0, 0.0), (0.0, 0.0), (2.0, -1.0)]);
            let upper = numbers.pick(&[true, false]);
            let (stream, handle) = (&stream, &handle);
            run(&mut Case { stream, handle, numbers, form, fill, lay, op, incs, size, alpha, beta, upper });
        }
    }
}

impl Case<'_> {
    fn line<T: Sample>(&mut self, which: usize, len: usize) -> Line<T> {
        Line::new(&mut self.numbers, self.fill, len, self.incs[which], self.form.count())
    }

    fn grid<T: Sample>(&mut self, size: (usize, usize)) -> Grid<T> {
        Grid::new(&mut self.numbers, self.fill, size, self.lay, self.form.count())
    }

    /// The same, before it is transposed.
    fn grid_for_op<T: Sample>(&mut self, (rows, cols): (usize, usize)) -> Grid<T> {
        self.grid(if self.op == Op::N { (rows, cols) } else { (cols, rows) })
    }

    fn triangle(&self) -> Triangle {
        if self.upper { Triangle::Upper } else { Triangle::Lower }
    }

    fn scalars<T: Sample + Blas>(&self) -> (T, T) {
        (T::of(self.alpha.0, self.alpha.1), T::of(self.beta.0, self.beta.1))
    }

    fn says<T>(&self, op: &str) -> String {
        let Self { form, fill, lay, op: transposed, incs, size, alpha, beta, upper, .. } = self;
        let name = std::any::type_name::<T>();
        format!(
            "{op} of {name}: {form:?}, {fill:?}, {lay:?}, {transposed:?}, {incs:?}, {size:?}, {alpha:?}, {beta:?}, upper: {upper}"
        )
    }

    fn exact(&self) -> bool {
        self.fill == Fill::Whole
    }

    /// Whether BLAS lacks it: the conjugate of what is stored by rows, and then not transposed. Rows and columns may be either.
    fn may_lack(&self) -> bool {
        self.op == Op::H && (self.lay.by_rows || self.size.0 == 1 || self.size.1 == 1)
    }
}

#[test]
fn gemv() {
    fn of<T: Sample + Blas>() {
        cases::<T>(|case| {
            let (m, n) = case.size;
            let (a, x, y) = (case.grid_for_op::<T>((m, n)), case.line::<T>(0, n), case.line::<T>(1, m));
            let (da, dx, mut dy) = (a.upload(case.stream), x.upload(case.stream), y.upload(case.stream));
            let (alpha, beta) = case.scalars::<T>();
            let (form, op) = (case.form, case.op);
            let context = || case.says::<T>("gemv");
            let a_op = a.operand(&da, form, op);
            let called = case.handle.gemv(alpha, a_op, x.operand(&dx, form), beta, y.result(&mut dy, form));
            if matches!(called, Err(Error::NotSupported { .. })) && case.may_lack() || !done(called, context)
            {
                return;
            }
            let sums = |m| {
                let (x, y) = (x.judged(m), y.judged(m));
                blas::gemv(alpha.number(), &a.judged(m, op), &x, beta.number(), &y)
            };
            y.check(case.stream, &dy, case.exact(), sums, context);
        });
    }
    for_types!(of: f32, f64, Complex32, Complex64);
}

#[test]
fn gemv_of_16_bits() {
    fn of<T: Sample + VectorProduct<O>, O: Sample + Element<Scale = f32>>() {
        cases::<T>(|case| {
            let (m, n) = case.size;
            let (a, x, y) = (case.grid_for_op::<T>((m, n)), case.line::<T>(0, n), case.line::<O>(1, m));
            let (da, dx, mut dy) = (a.upload(case.stream), x.upload(case.stream), y.upload(case.stream));
            let (alpha, beta) = (f32::of(case.alpha.0, 0.0), f32::of(case.beta.0, 0.0));
            let (form, op) = (case.form, case.op);
            let context = || format!("{} into {}", case.says::<T>("gemv_ex"), std::any::type_name::<O>());
            let a_op = a.operand(&da, form, op);
            let called =
                case.handle.gemv_ex(alpha, a_op, x.operand(&dx, form), beta, y.result(&mut dy, form));
            if case.incs.iter().any(|&inc| inc < 0) && lacks_backward(&called) || !done(called, context) {
                return;
            }
            let sums = |m| {
                let (x, y) = (x.judged(m), y.judged(m));
                blas::gemv(alpha.number(), &a.judged(m, op), &x, beta.number(), &y)
            };
            y.check(case.stream, &dy, case.exact(), sums, context);
        });
    }
    of::<f16, f16>();
    of::<f16, f32>();
    of::<bf16, bf16>();
    of::<bf16, f32>();
}

#[test]
fn ger_and_gerc() {
    fn of<T: Sample + Blas>() {
        cases::<T>(|case| {
            if case.op == Op::T {
                return;
            }
            let ((m, n), conjugate) = (case.size, case.op == Op::H);
            let (a, x, y) = (case.grid::<T>((m, n)), case.line::<T>(0, m), case.line::<T>(1, n));
            let (mut da, dx, dy) = (a.upload(case.stream), x.upload(case.stream), y.upload(case.stream));
            let (alpha, _) = case.scalars::<T>();
            let form = case.form;
            let (x_op, y_op) = (x.operand(&dx, form), y.operand(&dy, form));
            let context = || case.says::<T>(if conjugate { "gerc" } else { "ger" });
            let called = if conjugate {
                case.handle.gerc(alpha, x_op, y_op, a.result(&mut da, form))
            } else {
                case.handle.ger(alpha, x_op, y_op, a.result(&mut da, form))
            };
            let may_lack = case.may_lack() && case.incs.iter().any(|&inc| inc < 0);
            if matches!(called, Err(Error::NotSupported { .. })) && may_lack || !done(called, context) {
                return;
            }
            let judge = if conjugate { blas::gerc } else { blas::ger };
            let sums = |m| judge(alpha.number(), &x.judged(m), &y.judged(m), &a.judged(m, Op::N));
            a.check(case.stream, &da, case.exact(), all, sums, context);
        });
    }
    for_types!(of: f32, f64, Complex32, Complex64);
}

#[test]
fn symv_and_syr() {
    fn of<T: Sample + Blas>() {
        cases::<T>(|case| {
            if case.op == Op::H {
                return;
            }
            let n = case.size.0;
            case.size = (n, n);
            let (mut a, x, y) = (case.grid::<T>((n, n)), case.line::<T>(0, n), case.line::<T>(1, n));
            // What is upper in the transposed matrix is lower in this one.
            let upper_here = case.upper == (case.op == Op::N);
            a.poison(|i, j| if upper_here { i > j } else { i < j });
            let (da, dx, mut dy) = (a.upload(case.stream), x.upload(case.stream), y.upload(case.stream));
            let (alpha, beta) = case.scalars::<T>();
            let (form, op, upper, triangle) = (case.form, case.op, case.upper, case.triangle());
            let context = || case.says::<T>("symv");
            let (a_op, x_op) = (a.operand(&da, form, op), x.operand(&dx, form));
            if done(case.handle.symv(triangle, alpha, a_op, x_op, beta, y.result(&mut dy, form)), context) {
                let sums = |m| {
                    let a = a.judged(m, op).symmetric(upper);
                    blas::gemv(alpha.number(), &a, &x.judged(m), beta.number(), &y.judged(m))
                };
                y.check(case.stream, &dy, case.exact(), sums, context);
            }
            let a = case.grid::<T>((n, n));
            let mut da = a.upload(case.stream);
            let context = || case.says::<T>("syr");
            let x_op = x.operand(&dx, form);
            if done(case.handle.syr(triangle, alpha, x_op, a.result(&mut da, form)), context) {
                let sums = |m| blas::ger(alpha.number(), &x.judged(m), &x.judged(m), &a.judged(m, Op::N));
                let written = |i, j| if upper { i <= j } else { i >= j };
                a.check(case.stream, &da, case.exact(), written, sums, context);
            }
        });
    }
    for_types!(of: f32, f64, Complex32, Complex64);
}

#[test]
fn gbmv() {
    fn of<T: Sample + Blas>() {
        cases::<T>(|case| {
            let (m, n) = if case.op == Op::N { case.size } else { (case.size.1, case.size.0) };
            // As it is before it is transposed: m x n, with kl diagonals below and ku above the main one.
            let (kl, ku) = case.numbers.pick(&[(0, 0), (1, 2), (2, 0), (3, 1)]);
            let count = case.form.count();
            let (by_rows, ld) = (case.lay.by_rows, kl + ku + 1 + case.lay.gap);
            let pitch = ld * if by_rows { m } else { n } + 1;
            let mut data = vec![T::of(f64::NAN, f64::NAN); pitch * count];
            let mut judged = vec![Matrix::zeros(m, n); count];
            for (member, matrix) in judged.iter_mut().enumerate() {
                for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    if i <= j + kl && j <= i + ku {
                        let inside = if by_rows { i * ld + kl + j - i } else { j * ld + ku + i - j };
                        let value: T = if case.exact() { case.numbers.whole() } else { case.numbers.value() };
                        data[member * pitch + inside] = value;
                        matrix[(i, j)] = value.number();
                    }
                }
            }
            let (x, y) = (case.line::<T>(0, case.size.1), case.line::<T>(1, case.size.0));
            let da = case.stream.upload(&data).unwrap();
            let (dx, mut dy) = (x.upload(case.stream), y.upload(case.stream));
            let (alpha, beta) = case.scalars::<T>();
            let (form, op) = (case.form, case.op);
            let layout = if by_rows { Layout::RowMajor } else { Layout::ColMajor };
            let one = |member: usize| {
                let view = da.slice(member * pitch..).unwrap();
                BandMatrix::new(view, (m, n), (kl, ku), layout, Some(ld)).unwrap()
            };
            let a = match form {
                Form::Single => one(0),
                Form::Strided => {
                    BandMatrix::strided(da.view(), (m, n), (kl, ku), layout, Some(ld), (count, pitch))
                        .unwrap()
                }
                Form::Pointers => BandMatrix::from_matrices((0..count).map(one)).unwrap(),
            };
            let a = match op {
                Op::N => a,
                Op::T => a.t(),
                Op::H => a.h(),
            };
            let context = || format!("{}, {kl} and {ku} diagonals", case.says::<T>("gbmv"));
            let called = case.handle.gbmv(alpha, a, x.operand(&dx, form), beta, y.result(&mut dy, form));
            if matches!(called, Err(Error::NotSupported { .. })) && op == Op::H && by_rows
                || !done(called, context)
            {
                return;
            }
            let sums = |member: usize| {
                let a = match op {
                    Op::N => judged[member].clone(),
                    Op::T => judged[member].t(),
                    Op::H => judged[member].t().conj(),
                };
                blas::gemv(alpha.number(), &a, &x.judged(member), beta.number(), &y.judged(member))
            };
            y.check(case.stream, &dy, case.exact(), sums, context);
        });
    }
    for_types!(of: f32, f64, Complex32, Complex64);
}
