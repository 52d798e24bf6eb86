//! Cholesky factors.

use crate::dense::{C, Dense, Judged, small};
use crate::operand::Operand;
use crate::under_test;
use rocblas_safe::Triangle;
use rocsolver_safe::{Complex32, Complex64, Error, Solver};

/// L, from the triangle that has it, and that the other one is as it was.
#[track_caller]
fn lower(packed: &Dense, given: &Dense, triangle: Triangle) -> Dense {
    let inside = |i: usize, j: usize| match triangle {
        Triangle::Upper => i <= j,
        Triangle::Lower => i >= j,
    };
    assert_eq!(packed.only(|i, j| !inside(i, j)), given.only(|i, j| !inside(i, j)));
    let factor = packed.only(inside);
    if triangle == Triangle::Upper { factor.adjoint() } else { factor }
}

fn factors<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    for n in [1, 2, 5, 17, 32] {
        for triangle in [Triangle::Upper, Triangle::Lower] {
            // By Gershgorin's circles.
            let given: Vec<_> = (1..=3).map(|seed| Dense::hermitian::<T>(n, 1.5 * n as f64, seed)).collect();
            let right: Vec<_> = (4..=6).map(|seed| Dense::random::<T>(n, 2, seed)).collect();
            let (mut a, mut b) = (Operand::<T>::batch(&stream, &given), Operand::<T>::batch(&stream, &right));
            solver.potrf(triangle, a.write()).unwrap().check().unwrap();
            solver.potrs(triangle, a.read(), b.write()).unwrap();
            let (packed, solved) = (a.download(&stream), b.download(&stream));
            let (mut a, mut b) =
                (Operand::<T>::one(&stream, &given[0]), Operand::<T>::one(&stream, &right[0]));
            solver.posv(triangle, a.write(), b.write()).unwrap().check().unwrap();
            // Without right sides there are factors as well.
            let mut only = Operand::<T>::one(&stream, &given[0]);
            let mut none = Operand::<T>::one(&stream, &Dense::from_fn(n, 0, |_, _| C::ZERO));
            solver.posv(triangle, only.write(), none.write()).unwrap().check().unwrap();
            let l = lower(&only.download(&stream)[0], &given[0], triangle);
            let size = l.norm() * l.norm();
            small("posv without b", &(&given[0] - &l.times(&l.adjoint())), T::gamma(n + 1) * size);
            let (both, also) = (a.download(&stream), b.download(&stream));
            let cases = packed.iter().zip(&solved).zip(given.iter().zip(&right));
            let posv = both.iter().zip(&also).zip(given.iter().zip(&right));
            for ((packed, x), (given, right)) in cases.chain(posv) {
                let what = format!("{n}, {triangle:?}");
                let l = lower(packed, given, triangle);
                assert!((0..n).all(|i| l[(i, i)].re > 0.0 && l[(i, i)].im == 0.0));
                // Higham, theorems 10.3 and 10.4.
                let size = l.norm() * l.norm();
                small(&what, &(given - &l.times(&l.adjoint())), T::gamma(n + 1) * size);
                small(&what, &(&given.times(x) - right), T::gamma(3 * n + 1) * size * x.norm());
            }
        }
    }
}

fn indefinite<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let mut given = vec![Dense::identity(4, 4); 3];
    given[1][(2, 2)] = C::new(-1.0, 0.0);
    given[2][(1, 1)] = C::ZERO;
    for triangle in [Triangle::Upper, Triangle::Lower] {
        let mut a = Operand::<T>::batch(&stream, &given);
        let info = solver.potrf(triangle, a.write()).unwrap();
        assert_eq!(info.numbers().unwrap(), [0, 3, 2]);
        let error = info.check().unwrap_err();
        assert!(matches!(error, Error::NotPositiveDefinite { minor: 3, member: Some(1), .. }), "{error}");
        let mut a = Operand::<T>::one(&stream, &given[2]);
        let error = solver.potrf(triangle, a.write()).unwrap().check().unwrap_err();
        assert!(
            matches!(error, Error::NotPositiveDefinite { op: "potrf", minor: 2, member: None }),
            "{error}"
        );
        let (mut a, mut b) =
            (Operand::<T>::one(&stream, &given[1]), Operand::<T>::one(&stream, &Dense::identity(4, 1)));
        let error = solver.posv(triangle, a.write(), b.write()).unwrap().check().unwrap_err();
        assert!(
            matches!(error, Error::NotPositiveDefinite { op: "posv", minor: 3, member: None }),
            "{error}"
        );
    }
}

macro_rules! tests {
    ($($name:ident $T:ty;)*) => {$(
        #[test]
        fn $name() {
            factors::<$T>();
            indefinite::<$T>();
        }
    )*};
}

tests! { of_f32 f32; of_f64 f64; of_complex32 Complex32; of_complex64 Complex64; }
