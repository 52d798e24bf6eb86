//! Level 3 but for triangular matrices and plain products: every type, layout and form.

use crate::gaps::done;
use crate::grid::{FORMS, Fill, Form, Grid, LAYS, Lay, Op, all};
use crate::line::{INCS, Line};
use crate::sample::{Numbers, Part, Sample, for_types};
use crate::under_test;
use hip_safe::Stream;
use num_complex::{Complex32, Complex64};
use reference::blas;
use rocblas_safe::{Blas, Complex, Error, Handle, Side, Triangle};

const SIZES: [(usize, usize); 5] = [(4, 4), (5, 3), (2, 9), (1, 4), (20, 3)];

struct Case<'a> {
    stream: &'a Stream,
    handle: &'a Handle,
    numbers: Numbers,
    form: Form,
    fill: Fill,
    lays: [Lay; 3],
    ops: [Op; 2],
    size: (usize, usize),
    alpha: (f64, f64),
    beta: (f64, f64),
    upper: bool,
    left: bool,
}

/// Calls the function for each form, three layouts and two transpositions.
fn cases<T: Sample>(mut run: impl FnMut(&mut Case<'_>)) {
    let (stream, handle) = under_test::handle();
    let ops: &[Op] = if T::COMPLEX { &[Op::N, Op::T, Op::H] } else { &[Op::N, Op::T] };
    let mut turn = 0;
    for (form, a) in FORMS.iter().flat_map(|&form| LAYS.map(|lay| (form, lay))) {
        for (b, c) in LAYS.iter().flat_map(|&b| LAYS.map(|c| (b, c))) {
            for (&oa, &ob) in ops.iter().flat_map(|a| ops.iter().map(move |b| (a, b))) {
                turn += 1;
                let fill = if turn % 2 == 0 { Fill::Whole } else { Fill::Values };
                let mut numbers = Numbers::new(turn);
                let size = SIZES[turn as usize % SIZES.len()];
                let alpha = numbers.pick(&[(1.0, 0.0), (-2.0, 1.0), (3.0, 0.0)]);
                let beta = numbers.pick(&[(1.0, 0.0), (0.0, 0.0), (2.0, -1.0)]);
                let (upper, left) = (numbers.pick(&[true, false]), numbers.pick(&[true, false]));
                let (stream, handle, lays, ops) = (&stream, &handle, [a, b, c], [oa, ob]);
                run(&mut Case {
                    stream,
                    handle,
                    numbers,
                    form,
                    fill,
                    lays,
                    ops,
                    size,
                    alpha,
                    beta,
                    upper,
                    left,
                });
            }
        }
    }
}

impl Case<'_> {
    fn grid<T: Sample>(&mut self, which: usize, size: (usize, usize)) -> Grid<T> {
        Grid::new(&mut self.numbers, self.fill, size, self.lays[which], self.form.count())
    }

    /// The same, before it is transposed.
    fn grid_for_op<T: Sample>(&mut self, which: usize, (rows, cols): (usize, usize)) -> Grid<T> {
        self.grid(which, if self.ops[which] == Op::N { (rows, cols) } else { (cols, rows) })
    }

    fn scalars<T: Sample + Blas>(&self) -> (T, T) {
        (T::of(self.alpha.0, self.alpha.1), T::of(self.beta.0, self.beta.1))
    }

    fn triangle(&self) -> Triangle {
        if self.upper { Triangle::Upper } else { Triangle::Lower }
    }

    fn says<T>(&self, op: &str) -> String {
        let Self { form, fill, lays, ops, size, alpha, beta, upper, left, .. } = self;
        let name = std::any::type_name::<T>();
        format!(
            "{op} of {name}: {form:?}, {fill:?}, {lays:?}, {ops:?}, {size:?}, {alpha:?}, {beta:?}, upper: {upper}, left: {left}"
        )
    }

    fn exact(&self) -> bool {
        self.fill == Fill::Whole
    }

    fn is_thin(&self) -> bool {
        self.size.0 == 1 || self.size.1 == 1
    }

    /// Whether an operand, as it is stored, is the other way round than the result.
    fn differs(&self, which: usize) -> bool {
        let turned = self.ops[which] != Op::N;
        (self.lays[which].by_rows != turned) != self.lays[2].by_rows
    }

    fn in_triangle(&self) -> impl Fn(usize, usize) -> bool + use<> {
        let upper = self.upper;
        move |i, j| if upper { i <= j } else { i >= j }
    }
}

#[test]
fn symm() {
    fn of<T: Sample + Blas>() {
        cases::<T>(|case| {
            if case.ops.contains(&Op::H) {
                return;
            }
            let (m, n) = case.size;
            let order = if case.left { m } else { n };
            let mut a = case.grid::<T>(0, (order, order));
            let upper_here = case.upper == (case.ops[0] == Op::N);
            a.poison(|i, j| if upper_here { i > j } else { i < j });
            let (b, c) = (case.grid_for_op::<T>(1, (m, n)), case.grid::<T>(2, (m, n)));
            let (da, db, mut dc) = (a.upload(case.stream), b.upload(case.stream), c.upload(case.stream));
            let ((alpha, beta), form, [oa, ob]) = (case.scalars::<T>(), case.form, case.ops);
            let side = if case.left { Side::Left } else { Side::Right };
            let context = || case.says::<T>("symm");
            let (a_op, b_op) = (a.operand(&da, form, oa), b.operand(&db, form, ob));
            let result = c.result(&mut dc, form);
            let called = case.handle.symm(side, case.triangle(), alpha, a_op, b_op, beta, result);
            if matches!(called, Err(Error::NotSupported { .. })) && case.differs(1) || !done(called, context)
            {
                return;
            }
            assert!(!case.differs(1) || case.is_thin(), "{}: BLAS transposes no such operand", context());
            let sums = |member| {
                let (a, b) = (a.judged(member, oa).symmetric(case.upper), b.judged(member, ob));
                let (first, second) = if case.left { (&a, &b) } else { (&b, &a) };
                blas::gemm(alpha.number(), first, second, beta.number(), &c.judged(member, Op::N))
            };
            c.check(case.stream, &dc, case.exact(), all, sums, context);
        });
    }
    for_types!(of: f32, f64, Complex32, Complex64);
}

#[test]
fn syrk() {
    fn of<T: Sample + Blas>() {
        cases::<T>(|case| {
            if case.ops[0] == Op::H || case.ops[1] != Op::N {
                return;
            }
            let (n, k) = case.size;
            let (a, c) = (case.grid_for_op::<T>(0, (n, k)), case.grid::<T>(2, (n, n)));
            let (da, mut dc) = (a.upload(case.stream), c.upload(case.stream));
            let ((alpha, beta), form, [op, _]) = (case.scalars::<T>(), case.form, case.ops);
            let context = || case.says::<T>("syrk");
            let a_op = a.operand(&da, form, op);
            if done(case.handle.syrk(case.triangle(), alpha, a_op, beta, c.result(&mut dc, form)), context) {
                let sums = |m| {
                    blas::rank_k(alpha.number(), &a.judged(m, op), false, beta.number(), &c.judged(m, Op::N))
                };
                c.check(case.stream, &dc, case.exact(), case.in_triangle(), sums, context);
            }
        });
    }
    for_types!(of: f32, f64, Complex32, Complex64);
}

#[test]
fn herk() {
    fn of<T: Sample + Complex>() {
        cases::<T>(|case| {
            if case.ops[1] != Op::N {
                return;
            }
            let (n, k) = case.size;
            let (a, mut c) = (case.grid_for_op::<T>(0, (n, k)), case.grid::<T>(2, (n, n)));
            // The diagonal of a Hermitian matrix is real.
            for (member, i) in (0..c.count).flat_map(|member| (0..n).map(move |i| (member, i))) {
                let index = c.index(member, i, i);
                c.data[index] = T::of(c.data[index].parts()[0], 0.0);
            }
            let (da, mut dc) = (a.upload(case.stream), c.upload(case.stream));
            let (alpha, beta) = (T::Real::of(case.alpha.0, 0.0), T::Real::of(case.beta.0, 0.0));
            let (form, [op, _]) = (case.form, case.ops);
            let context = || case.says::<T>("herk");
            let a_op = a.operand(&da, form, op);
            let called = case.handle.herk(case.triangle(), alpha, a_op, beta, c.result(&mut dc, form));
            // As it is stored, a has to be like the result, or the other way round and conjugated.
            let lacks = case.lays[0].by_rows != case.lays[2].by_rows || op == Op::T;
            if matches!(called, Err(Error::NotSupported { .. })) && lacks || !done(called, context) {
                return;
            }
            let sums =
                |m| blas::rank_k(alpha.number(), &a.judged(m, op), true, beta.number(), &c.judged(m, Op::N));
            c.check(case.stream, &dc, case.exact(), case.in_triangle(), sums, context);
        });
    }
    for_types!(of: Complex32, Complex64);
}

#[test]
fn geam() {
    fn of<T: Sample + Blas>() {
        cases::<T>(|case| {
            let size = case.size;
            let (a, b) = (case.grid_for_op::<T>(0, size), case.grid_for_op::<T>(1, size));
            let c = case.grid::<T>(2, size);
            let (da, db, mut dc) = (a.upload(case.stream), b.upload(case.stream), c.upload(case.stream));
            let ((alpha, beta), form, [oa, ob]) = (case.scalars::<T>(), case.form, case.ops);
            let lacks = |which: usize| {
                let differs = case.lays[which].by_rows != case.lays[2].by_rows;
                case.ops[which] == Op::H && (differs || case.is_thin())
            };
            let context = || case.says::<T>("geam");
            let (a_op, b_op) = (a.operand(&da, form, oa), b.operand(&db, form, ob));
            let called = case.handle.geam(alpha, a_op, beta, b_op, c.result(&mut dc, form));
            let lacking = matches!(called, Err(Error::NotSupported { .. })) && (lacks(0) || lacks(1));
            if !lacking && done(called, context) {
                let sums = |m| blas::geam(alpha.number(), &a.judged(m, oa), beta.number(), &b.judged(m, ob));
                c.check(case.stream, &dc, case.exact(), all, sums, context);
            }
            let mut dc = c.upload(case.stream);
            let context = || case.says::<T>("geam in place");
            let a_op = a.operand(&da, form, oa);
            let called = case.handle.geam_in_place(alpha, a_op, beta, c.result(&mut dc, form));
            if matches!(called, Err(Error::NotSupported { .. })) && lacks(0) || !done(called, context) {
                return;
            }
            let sums = |m| blas::geam(alpha.number(), &a.judged(m, oa), beta.number(), &c.judged(m, Op::N));
            c.check(case.stream, &dc, case.exact(), all, sums, context);
        });
    }
    for_types!(of: f32, f64, Complex32, Complex64);
}

#[test]
fn dgmm() {
    fn of<T: Sample + Blas>() {
        cases::<T>(|case| {
            if case.ops[0] == Op::H || case.ops[1] != Op::N {
                return;
            }
            let ((m, n), inc) = (case.size, case.numbers.pick(&INCS));
            let (a, c) = (case.grid_for_op::<T>(0, (m, n)), case.grid::<T>(2, (m, n)));
            let len = if case.left { m } else { n };
            let x = Line::<T>::new(&mut case.numbers, case.fill, len, inc, case.form.count());
            let (da, dx, mut dc) = (a.upload(case.stream), x.upload(case.stream), c.upload(case.stream));
            let (form, [op, _]) = (case.form, case.ops);
            let side = if case.left { Side::Left } else { Side::Right };
            let context = || format!("{}, increment {inc}", case.says::<T>("dgmm"));
            let (a_op, x_op) = (a.operand(&da, form, op), x.operand(&dx, form));
            let called = case.handle.dgmm(side, a_op, x_op, c.result(&mut dc, form));
            if matches!(called, Err(Error::NotSupported { .. })) && case.differs(0) || !done(called, context)
            {
                return;
            }
            let sums = |m| {
                let (a, x) = (a.judged(m, op), x.judged(m));
                if case.left { blas::diagonal_left(&x, &a) } else { blas::diagonal_right(&a, &x) }
            };
            c.check(case.stream, &dc, case.exact(), all, sums, context);
        });
    }
    for_types!(of: f32, f64, Complex32, Complex64);
}
