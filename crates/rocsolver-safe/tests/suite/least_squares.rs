//! Least squares.

use crate::dense::{C, Dense, Judged, small};
use crate::operand::Operand;
use crate::under_test;
use rocsolver_safe::{Complex32, Complex64, Error, Solver, Transpose};

fn solutions<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    for (m, n) in [(1, 1), (5, 5), (12, 5), (5, 12), (25, 10)] {
        for transpose in [Transpose::No, Transpose::Conjugate] {
            let given: Vec<_> = (1..=2).map(|seed| Dense::random::<T>(m, n, seed)).collect();
            let right: Vec<_> = (3..=4).map(|seed| Dense::random::<T>(m.max(n), 2, seed)).collect();
            let (mut a, mut b) = (Operand::<T>::batch(&stream, &given), Operand::<T>::batch(&stream, &right));
            solver.gels(transpose, a.write(), b.write()).unwrap().check().unwrap();
            for (member, found) in b.download(&stream).iter().enumerate() {
                let a = &given[member];
                let a = if transpose == Transpose::No { a.clone() } else { a.adjoint() };
                let (x, b) = (found.part(a.cols, 2), right[member].part(a.rows, 2));
                let what = format!("{} x {}", a.rows, a.cols);
                let rest = &b - &a.times(&x);
                // Higham, theorem 20.3: x solves the problem of a matrix and a right side that differ by this factor at most.
                let error = T::reflections(m.max(n), m.min(n)) + T::gamma(m.min(n));
                let size = a.norm() * x.norm() + b.norm();
                if a.rows >= a.cols {
                    // The residual is orthogonal to the columns.
                    small(&what, &a.adjoint().times(&rest), 3.0 * error * a.norm() * size);
                }
                if a.rows <= a.cols {
                    // Theorem 21.4. The smallest solution is Aᴴ z, where A Aᴴ z = b.
                    small(&what, &rest, error * size);
                    let z = a.times(&a.adjoint()).inverse().times(&b);
                    let condition = a.norm() * a.adjoint().times(&a.times(&a.adjoint()).inverse()).norm();
                    small(
                        &what,
                        &(&x - &a.adjoint().times(&z)),
                        2.0 * error * condition * (x.norm() + a.norm() * z.norm()),
                    );
                }
            }
        }
    }
}

fn deficient<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let given = Dense::random::<T>(6, 3, 8).only(|_, j| j != 1);
    let (mut a, mut b) =
        (Operand::<T>::one(&stream, &given), Operand::<T>::one(&stream, &Dense::random::<T>(6, 1, 9)));
    let error = solver.gels(Transpose::No, a.write(), b.write()).unwrap().check().unwrap_err();
    assert!(matches!(error, Error::RankDeficient { element: 2, member: None, .. }), "{error}");
}

/// Without equations the smallest solution is zero; without unknowns there is nothing to find.
fn empty<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let none = Dense::from_fn(0, 3, |_, _| C::ZERO);
    let (mut a, mut b) =
        (Operand::<T>::one(&stream, &none), Operand::<T>::one(&stream, &Dense::random::<T>(3, 2, 1)));
    solver.gels(Transpose::No, a.write(), b.write()).unwrap().check().unwrap();
    assert_eq!(b.download(&stream)[0], Dense::from_fn(3, 2, |_, _| C::ZERO));
}

macro_rules! tests {
    ($($name:ident $T:ty;)*) => {$(
        #[test]
        fn $name() {
            solutions::<$T>();
            deficient::<$T>();
            empty::<$T>();
        }
    )*};
}

tests! { of_f32 f32; of_f64 f64; of_complex32 Complex32; of_complex64 Complex64; }
