//! Level 1: every type, increment and form.

use crate::gaps::done;
use crate::grid::{FORMS, Fill, Form};
use crate::judge::{assert_part_right, assert_right};
use crate::line::{INCS, Line};
use crate::sample::{Numbers, Part, Sample, for_types};
use crate::under_test;
use half::{bf16, f16};
use hip_safe::Stream;
use num_complex::{Complex32, Complex64};
use reference::blas::{self, Number, Sum};
use rocblas_safe::{Blas, Complex, Handle};

const LENGTHS: [usize; 4] = [1, 2, 7, 300];

/// A case, its number, and what is needed to run it.
struct Case<'a> {
    stream: &'a Stream,
    handle: &'a Handle,
    numbers: Numbers,
    form: Form,
    fill: Fill,
    len: usize,
    incs: [isize; 2],
}

/// Calls the function for each form, length and pair of increments.
fn cases(mut run: impl FnMut(&mut Case<'_>)) {
    let (stream, handle) = under_test::handle();
    let mut turn = 0;
    for form in FORMS {
        for len in LENGTHS {
            for incs in INCS.iter().flat_map(|&x| INCS.map(|y| [x, y])) {
                turn += 1;
                let fill = if turn % 2 == 0 { Fill::Whole } else { Fill::Values };
                let numbers = Numbers::new(turn);
                run(&mut Case { stream: &stream, handle: &handle, numbers, form, fill, len, incs });
            }
        }
    }
}

impl Case<'_> {
    fn line<T: Sample>(&mut self, which: usize) -> Line<T> {
        Line::new(&mut self.numbers, self.fill, self.len, self.incs[which], self.form.count())
    }

    fn says<T>(&self, op: &str) -> String {
        let Self { form, fill, len, incs, .. } = self;
        format!("{op} of {}: {form:?}, {fill:?}, {len} elements, {incs:?}", std::any::type_name::<T>())
    }

    fn exact(&self) -> bool {
        self.fill == Fill::Whole
    }
}

#[test]
fn axpy() {
    fn of<T: Sample>() {
        cases(|case| {
            let (x, y) = (case.line::<T>(0), case.line::<T>(1));
            let (dx, mut dy) = (x.upload(case.stream), y.upload(case.stream));
            let alpha = T::Scale::of(-2.0, 3.0);
            let context = || case.says::<T>("axpy");
            let form = case.form;
            if done(case.handle.axpy(alpha, x.operand(&dx, form), y.result(&mut dy, form)), context) {
                let sums = |member| blas::axpy(alpha.number(), &x.judged(member), &y.judged(member));
                y.check(case.stream, &dy, case.exact(), sums, context);
            }
        });
    }
    for_types!(of: f32, f64, f16, bf16, Complex32, Complex64);
}

#[test]
fn scal() {
    fn of<T: Sample>() {
        cases(|case| {
            let x = case.line::<T>(0);
            let mut dx = x.upload(case.stream);
            let alpha = T::Scale::of(-2.0, 3.0);
            let context = || case.says::<T>("scal");
            if done(case.handle.scal(alpha, x.result(&mut dx, case.form)), context) {
                x.check(
                    case.stream,
                    &dx,
                    case.exact(),
                    |m| blas::scal(alpha.number(), &x.judged(m)),
                    context,
                );
            }
        });
    }
    fn real<T: Sample + Complex>() {
        cases(|case| {
            let x = case.line::<T>(0);
            let mut dx = x.upload(case.stream);
            let alpha = T::Real::of(-3.0, 0.0);
            let context = || case.says::<T>("scal_real");
            if done(case.handle.scal_real::<T>(alpha, x.result(&mut dx, case.form)), context) {
                x.check(
                    case.stream,
                    &dx,
                    case.exact(),
                    |m| blas::scal(alpha.number(), &x.judged(m)),
                    context,
                );
            }
        });
    }
    for_types!(of: f32, f64, f16, bf16, Complex32, Complex64);
    for_types!(real: Complex32, Complex64);
}

#[test]
fn copy_and_swap() {
    fn of<T: Sample + Blas>() {
        cases(|case| {
            let (x, y) = (case.line::<T>(0), case.line::<T>(1));
            let (mut dx, mut dy) = (x.upload(case.stream), y.upload(case.stream));
            let form = case.form;
            let exactly = |line: &Line<T>, member| -> Vec<Sum> {
                line.judged(member).into_iter().map(Sum::exactly).collect()
            };
            let context = || case.says::<T>("swap");
            if done(case.handle.swap(x.result(&mut dx, form), y.result(&mut dy, form)), context) {
                x.check(case.stream, &dx, true, |m| exactly(&y, m), context);
                y.check(case.stream, &dy, true, |m| exactly(&x, m), context);
            }
            let (dx, mut dy) = (x.upload(case.stream), y.upload(case.stream));
            let context = || case.says::<T>("copy");
            if done(case.handle.copy(x.operand(&dx, form), y.result(&mut dy, form)), context) {
                y.check(case.stream, &dy, true, |m| exactly(&x, m), context);
            }
        });
    }
    for_types!(of: f32, f64, Complex32, Complex64);
}

#[test]
fn dot() {
    fn of<T: Sample>() {
        cases(|case| {
            let (x, y) = (case.line::<T>(0), case.line::<T>(1));
            let (dx, dy) = (x.upload(case.stream), y.upload(case.stream));
            let form = case.form;
            let plain = case.handle.dot_batch(x.operand(&dx, form), y.operand(&dy, form));
            let conjugate = case.handle.dotc_batch(x.operand(&dx, form), y.operand(&dy, form));
            type Judge = fn(&[Number], &[Number]) -> Sum;
            let judges: [(_, Judge); 2] = [(plain, blas::dot), (conjugate, blas::dotc)];
            for (name, (got, judge)) in ["dot", "dotc"].into_iter().zip(judges) {
                let context = || case.says::<T>(name);
                let Some(got) = value(got, context) else { continue };
                assert_eq!(got.len(), form.count());
                for (member, got) in got.into_iter().enumerate() {
                    let sum = judge(&x.judged(member), &y.judged(member));
                    assert_right(got, &sum, case.exact(), context);
                }
            }
        });
    }
    for_types!(of: f32, f64, f16, bf16, Complex32, Complex64);
}

/// The value, if the platform does it.
#[track_caller]
fn value<R>(result: rocblas_safe::Result<R>, context: impl Fn() -> String) -> Option<R> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            done(Err(error), context);
            None
        }
    }
}

#[test]
fn norms() {
    fn two<T: Sample>() {
        cases(|case| {
            let x = case.line::<T>(0);
            let dx = x.upload(case.stream);
            let context = || case.says::<T>("nrm2");
            let got = value(case.handle.nrm2_batch(x.operand(&dx, case.form)), context).unwrap_or_default();
            for (member, got) in got.into_iter().enumerate() {
                assert_part_right(T::DTYPE, got, &blas::nrm2(&x.judged(member)), false, context);
            }
        });
    }
    fn one<T: Sample + Blas>() {
        cases(|case| {
            let x = case.line::<T>(0);
            let dx = x.upload(case.stream);
            let context = || case.says::<T>("asum");
            let got = value(case.handle.asum_batch(x.operand(&dx, case.form)), context).unwrap_or_default();
            for (member, got) in got.into_iter().enumerate() {
                let sum = blas::asum(&x.judged(member));
                assert_part_right(T::DTYPE, got, &sum, case.exact(), context);
            }
        });
    }
    for_types!(two: f32, f64, f16, bf16, Complex32, Complex64);
    for_types!(one: f32, f64, Complex32, Complex64);
}

#[test]
fn norms_do_not_overflow() {
    let (stream, handle) = under_test::handle();
    let large = stream.upload(&[3e30_f32, 4e30]).unwrap();
    assert_eq!(handle.nrm2(&large).unwrap(), 5e30);
    let small = stream.upload(&[3e-200_f64, -4e-200]).unwrap();
    let norm = handle.nrm2(&small).unwrap();
    assert!((norm / 5e-200 - 1.0).abs() < 4e-16, "{norm:e}");
}

#[test]
fn extremes() {
    fn of<T: Sample + Blas>() {
        cases(|case| {
            if case.incs[0] < 0 {
                return;
            }
            let x = case.line::<T>(0);
            let dx = x.upload(case.stream);
            let largest = case.handle.iamax_batch(x.operand(&dx, case.form));
            let smallest = case.handle.iamin_batch(x.operand(&dx, case.form));
            type Judge = fn(&[Number]) -> Option<usize>;
            let judges: [(_, Judge); 2] = [(largest, blas::first_largest), (smallest, blas::first_smallest)];
            for (name, (got, judge)) in ["iamax", "iamin"].into_iter().zip(judges) {
                let context = || case.says::<T>(name);
                let got = value(got, context).unwrap_or_default();
                let wanted: Vec<_> = (0..got.len()).map(|member| judge(&x.judged(member))).collect();
                assert_eq!(got, wanted, "{}", context());
            }
        });
    }
    for_types!(of: f32, f64, Complex32, Complex64);
}

#[test]
fn rotations() {
    fn of<T: Sample>() {
        cases(|case| {
            let (x, y) = (case.line::<T>(0), case.line::<T>(1));
            let (mut dx, mut dy) = (x.upload(case.stream), y.upload(case.stream));
            let (c, s) = (T::Real::of(3.0, 0.0), T::of(-2.0, 1.0));
            let form = case.form;
            let context = || case.says::<T>("rot");
            if done(case.handle.rot::<T>(x.result(&mut dx, form), y.result(&mut dy, form), c, s), context) {
                let turned = |m| blas::rot(&x.judged(m), &y.judged(m), c.number(), s.number());
                x.check(case.stream, &dx, case.exact(), |m| turned(m).0, context);
                y.check(case.stream, &dy, case.exact(), |m| turned(m).1, context);
            }
        });
    }
    fn real<T: Sample + Complex>() {
        cases(|case| {
            let (x, y) = (case.line::<T>(0), case.line::<T>(1));
            let (mut dx, mut dy) = (x.upload(case.stream), y.upload(case.stream));
            let (c, s) = (T::Real::of(3.0, 0.0), T::Real::of(-2.0, 0.0));
            let form = case.form;
            let context = || case.says::<T>("rot_real");
            let called = case.handle.rot_real::<T>(x.result(&mut dx, form), y.result(&mut dy, form), c, s);
            if done(called, context) {
                let turned = |m| blas::rot(&x.judged(m), &y.judged(m), c.number(), s.number());
                x.check(case.stream, &dx, case.exact(), |m| turned(m).0, context);
                y.check(case.stream, &dy, case.exact(), |m| turned(m).1, context);
            }
        });
    }
    for_types!(of: f32, f64, f16, bf16, Complex32, Complex64);
    for_types!(real: Complex32, Complex64);
}

#[test]
fn rotations_that_make_a_zero() {
    fn of<T: Sample + Blas>() {
        let (stream, handle) = under_test::handle();
        let mut numbers = Numbers::new(7);
        let mut pairs: Vec<(T, T)> = (0..20).map(|_| (numbers.value(), numbers.value())).collect();
        let of = |x: f64, y: f64| (T::of(x, 0.0), T::of(y, 0.0));
        pairs.extend([of(3.0, -4.0), of(-3.0, 2.0), of(0.0, 2.0), of(2.0, 0.0), of(0.0, 0.0), of(1.0, 1.0)]);
        let check = |index: usize, r: T, c: T::Real, s: T| {
            let (a, b) = pairs[index];
            let turned = blas::rotg(a.number(), b.number(), T::COMPLEX);
            let context = |what| move || format!("rotg of {a:?} and {b:?}: {what}");
            let sum = |value: Number| Sum { value, scale: value.size(), terms: 4 };
            assert_right(r, &sum(turned.r), false, context("r"));
            let cosine = sum(Number { re: turned.c, ..Number::ZERO });
            assert_part_right(T::DTYPE, c, &cosine, false, context("c"));
            assert_right(s, &sum(turned.s), false, context("s"));
        };
        for (index, &(a, b)) in pairs.iter().enumerate() {
            let Some(turned) = value(handle.rotg(a, b), || "rotg".to_owned()) else { return };
            check(index, turned.r, turned.c, turned.s);
        }
        let (a, b): (Vec<T>, Vec<T>) = pairs.iter().copied().unzip();
        let (mut a, mut b) = (stream.upload(&a).unwrap(), stream.upload(&b).unwrap());
        let mut c = stream.alloc_zeros::<T::Real>(pairs.len()).unwrap();
        let mut s = stream.alloc_zeros::<T>(pairs.len()).unwrap();
        let called = handle.rotg_on_device(a.view_mut(), b.view_mut(), c.view_mut(), s.view_mut());
        if !done(called, || "rotg".to_owned()) {
            return;
        }
        let (r, c, s) = (stream.download(&a), stream.download(&c), stream.download(&s));
        let (r, c, s) = (r.unwrap(), c.unwrap(), s.unwrap());
        (0..pairs.len()).for_each(|index| check(index, r[index], c[index], s[index]));
    }
    for_types!(of: f32, f64, Complex32, Complex64);
}
