//! Batches of matrices that lie anywhere: each member gets what the same call of it alone gets, bit for bit.

use crate::dense::{C, Dense, Judged};
use crate::operand::Operand;
use crate::under_test;
use hip_safe::Stream;
use rocblas_safe::{Side, Triangle};
use rocsolver_safe::{Complex32, Problem, Solver, Transpose, Vectors};

/// The same matrices as a batch, and each alone.
struct Both<T: Judged> {
    all: Operand<T>,
    each: Vec<Operand<T>>,
}

impl<T: Judged> Both<T> {
    fn new(stream: &Stream, given: &[Dense]) -> Self {
        let each = given.iter().map(|matrix| Operand::one(stream, matrix)).collect();
        Self { all: Operand::anywhere(stream, given), each }
    }

    #[track_caller]
    fn are_equal(&self, stream: &Stream) {
        let each: Vec<_> = self.each.iter().map(|one| one.download(stream).remove(0)).collect();
        assert_eq!(self.all.download(stream), each);
    }
}

const N: usize = 6;

fn random<T: Judged>(rows: usize, cols: usize, seeds: [u64; 2]) -> Vec<Dense> {
    seeds.map(|seed| Dense::random::<T>(rows, cols, seed)).into()
}

fn definite<T: Judged>() -> Vec<Dense> {
    [1, 2].map(|seed| Dense::hermitian::<T>(N, 1.5 * N as f64, seed)).into()
}

fn linear<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let mut a = Both::<T>::new(&stream, &random::<T>(N, N, [1, 2]));
    let mut b = Both::<T>::new(&stream, &random::<T>(N, 3, [3, 4]));
    let (pivots, info) = solver.getrf(a.all.write()).unwrap();
    info.check().unwrap();
    assert_eq!((pivots.count(), pivots.rows()), (Some(2), N));
    solver.getrs(Transpose::Yes, a.all.read(), &pivots, b.all.write()).unwrap();
    let kept = stream.download(&pivots.view()).unwrap();
    for (member, (a, b)) in a.each.iter_mut().zip(&mut b.each).enumerate() {
        let (alone, info) = solver.getrf(a.write()).unwrap();
        info.check().unwrap();
        assert_eq!(stream.download(&alone.view()).unwrap(), kept[member * N..][..N]);
        solver.getrs(Transpose::Yes, a.read(), &alone, b.write()).unwrap();
        solver.getri(a.write(), &alone).unwrap().check().unwrap();
    }
    solver.getri(a.all.write(), &pivots).unwrap().check().unwrap();
    a.are_equal(&stream);
    b.are_equal(&stream);

    let mut a = Both::<T>::new(&stream, &definite::<T>());
    let mut b = Both::<T>::new(&stream, &random::<T>(N, 3, [3, 4]));
    let mut c = Both::<T>::new(&stream, &definite::<T>());
    solver.potrf(Triangle::Lower, a.all.write()).unwrap().check().unwrap();
    solver.potrs(Triangle::Lower, a.all.read(), b.all.write()).unwrap();
    solver.posv(Triangle::Upper, c.all.write(), b.all.write()).unwrap().check().unwrap();
    for ((a, b), c) in a.each.iter_mut().zip(&mut b.each).zip(&mut c.each) {
        solver.potrf(Triangle::Lower, a.write()).unwrap().check().unwrap();
        solver.potrs(Triangle::Lower, a.read(), b.write()).unwrap();
        solver.posv(Triangle::Upper, c.write(), b.write()).unwrap().check().unwrap();
    }
    [&a, &b, &c].into_iter().for_each(|both| both.are_equal(&stream));
}

/// Of the second one the last pivot is zero: the answer names it and its member.
fn singular<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let good = Dense::random::<T>(N, N, 1);
    let bad = good.only(|_, j| j + 1 != N);
    let mut a = Operand::<T>::anywhere(&stream, &[good, bad]);
    assert_eq!(solver.getrf(a.write()).unwrap().1.numbers().unwrap(), [0, N as i32]);
}

fn orthogonal<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let (rows, cols) = (N + 2, N);
    let given = random::<T>(rows, cols, [5, 6]);
    let [mut a, mut q, mut l] = [(); 3].map(|()| Both::<T>::new(&stream, &given));
    let mut c = Both::<T>::new(&stream, &random::<T>(rows, 2, [7, 8]));
    let mut b = Both::<T>::new(&stream, &random::<T>(rows, 2, [9, 10]));
    let zeros = |count| stream.alloc_zeros::<T>(count).unwrap();
    let (mut taus, mut again) = (zeros(2 * cols), zeros(2 * cols));
    solver.geqrf(a.all.write(), &mut taus).unwrap();
    solver.geqrf(q.all.write(), &mut again).unwrap();
    solver.ormqr(Side::Left, Transpose::Conjugate, a.all.write(), &taus, c.all.write()).unwrap();
    solver.orgqr(cols, q.all.write(), &again).unwrap();
    solver.gels(Transpose::No, l.all.write(), b.all.write()).unwrap().check().unwrap();
    for member in 0..2 {
        let mut tau = zeros(cols);
        solver.geqrf(a.each[member].write(), &mut tau).unwrap();
        assert_eq!(
            stream.download(&tau).unwrap(),
            stream.download(&taus.slice(member * cols..(member + 1) * cols).unwrap()).unwrap()
        );
        let (a, c) = (&mut a.each[member], &mut c.each[member]);
        solver.ormqr(Side::Left, Transpose::Conjugate, a.write(), &tau, c.write()).unwrap();
        solver.geqrf(q.each[member].write(), &mut tau).unwrap();
        solver.orgqr(cols, q.each[member].write(), &tau).unwrap();
        let (l, b) = (&mut l.each[member], &mut b.each[member]);
        solver.gels(Transpose::No, l.write(), b.write()).unwrap().check().unwrap();
    }
    [&c, &q, &b].into_iter().for_each(|both| both.are_equal(&stream));
}

fn spectra<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let (rows, cols) = (N, N - 2);
    let zero = |rows, cols| vec![Dense::from_fn(rows, cols, |_, _| C::ZERO); 2];
    let mut a = Both::<T>::new(&stream, &random::<T>(rows, cols, [1, 2]));
    let mut u = Both::<T>::new(&stream, &zero(rows, cols));
    let mut vh = Both::<T>::new(&stream, &zero(cols, cols));
    let reals = |count| stream.alloc_zeros::<T::Real>(count).unwrap();
    let (mut values, mut one) = (reals(2 * cols), reals(cols));
    let (left, right) = (Some(u.all.write()), Some(vh.all.write()));
    solver.gesvd(a.all.write(), &mut values, left, right).unwrap().check().unwrap();
    let all = stream.download(&values).unwrap();
    for member in 0..2 {
        let (left, right) = (Some(u.each[member].write()), Some(vh.each[member].write()));
        solver.gesvd(a.each[member].write(), &mut one, left, right).unwrap().check().unwrap();
        let found = stream.download(&one).unwrap().into_iter().map(T::real);
        assert!(found.eq(all[member * cols..][..cols].iter().map(|&value| T::real(value))));
    }
    [&u, &vh].into_iter().for_each(|both| both.are_equal(&stream));

    let mut a = Both::<T>::new(&stream, &definite::<T>());
    let mut b = Both::<T>::new(&stream, &definite::<T>());
    let mut v = Both::<T>::new(&stream, &random::<T>(N, N, [3, 4]));
    let (mut values, mut one) = (reals(2 * N), reals(N));
    let (how, upper) = (Vectors::InPlace, Triangle::Upper);
    solver.syevd(how, upper, v.all.write(), &mut values).unwrap().check().unwrap();
    solver
        .sygvd(Problem::Ax, how, upper, a.all.write(), b.all.write(), &mut values)
        .unwrap()
        .check()
        .unwrap();
    for member in 0..2 {
        let (a, b, v) = (&mut a.each[member], &mut b.each[member], &mut v.each[member]);
        solver.syevd(how, upper, v.write(), &mut one).unwrap().check().unwrap();
        solver.sygvd(Problem::Ax, how, upper, a.write(), b.write(), &mut one).unwrap().check().unwrap();
    }
    [&a, &b, &v].into_iter().for_each(|both| both.are_equal(&stream));
}

macro_rules! tests {
    ($($name:ident $T:ty;)*) => {$(
        #[test]
        fn $name() {
            linear::<$T>();
            singular::<$T>();
            orthogonal::<$T>();
            spectra::<$T>();
        }
    )*};
}

tests! { of_f64 f64; of_complex32 Complex32; }
