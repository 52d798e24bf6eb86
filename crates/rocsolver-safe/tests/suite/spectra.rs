//! Eigenvalues and singular values.

use crate::dense::{C, Dense, Judged, small};
use crate::operand::Operand;
use crate::under_test;
use rocblas_safe::Triangle;
use rocsolver_safe::{Complex32, Complex64, Error, Problem, Solver, Vectors};

/// The backward error of the reduction by n reflectors from each side; the rotations of the iteration are taken to add no more than that: LAPACK
/// calls their part a modest function of n.
fn bound<T: Judged>(n: usize) -> f64 {
    T::reflections(n, 2 * n)
}

fn numbers<T: Judged>(values: Vec<T::Real>) -> Vec<f64> {
    values.into_iter().map(T::real).collect()
}

/// With equal, negative and zero eigenvalues too.
fn hermitian_matrices<T: Judged>(n: usize) -> Vec<Dense> {
    let mut row = Dense::hermitian::<T>(n, 0.0, 1).only(|_, _| false);
    row[(0, n - 1)] = C::new(1.0, 0.0);
    row[(n - 1, 0)] = C::new(1.0, 0.0);
    vec![Dense::hermitian::<T>(n, 0.0, 2), row, Dense::identity(n, n)]
}

fn eigen<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    for n in [1, 2, 5, 16, 33] {
        for triangle in [Triangle::Upper, Triangle::Lower] {
            let given = hermitian_matrices::<T>(n);
            // What the other triangle has does not matter.
            let inside = |i: usize, j: usize| if triangle == Triangle::Upper { i <= j } else { i >= j };
            let half: Vec<_> = given.iter().map(|a| a.only(inside)).collect();
            let (mut a, mut only) =
                (Operand::<T>::batch(&stream, &half), Operand::<T>::batch(&stream, &half));
            let mut values = stream.alloc_zeros::<T::Real>(n * 3).unwrap();
            solver.syevd(Vectors::InPlace, triangle, a.write(), &mut values).unwrap().check().unwrap();
            let with = numbers::<T>(stream.download(&values).unwrap());
            solver.syevd(Vectors::No, triangle, only.write(), &mut values).unwrap().check().unwrap();
            let without = numbers::<T>(stream.download(&values).unwrap());
            for (member, v) in a.download(&stream).iter().enumerate() {
                let (a, what) = (&given[member], format!("{n}, {triangle:?}, {member}"));
                let values = &with[member * n..][..n];
                assert!(values.is_sorted(), "{what}: {values:?}");
                let error = bound::<T>(n) * a.norm();
                small(&what, &(&a.times(v) - &v.scaled(values)), error);
                let unit = &v.adjoint().times(v) - &Dense::identity(n, n);
                small(&what, &unit, bound::<T>(n) * (n as f64).sqrt());
                // Weyl: each has the backward error of its own computation.
                for (one, other) in values.iter().zip(&without[member * n..][..n]) {
                    assert!((one - other).abs() <= 2.0 * error, "{what}: {one} and {other}");
                }
            }
        }
    }
}

/// Of full rank, or of rank 1 and of zeros.
fn singular<T: Judged>(full: bool) {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    for (m, n) in [(1, 1), (4, 4), (9, 5), (5, 9), (1, 6), (24, 17)] {
        let least = m.min(n);
        let line = Dense::random::<T>(m, 1, 2).times(&Dense::random::<T>(1, n, 3));
        let line = Dense::from_fn(m, n, |i, j| T::of(line[(i, j)]).wide());
        let given = if full {
            vec![Dense::random::<T>(m, n, 1), Dense::random::<T>(m, n, 2)]
        } else {
            vec![line, Dense::from_fn(m, n, |_, _| C::ZERO)]
        };
        for (cols, rows) in [(least, least), (m, n), (m, least), (least, n)] {
            let what = format!("{m} x {n}, {cols}, {rows}");
            let mut a = Operand::<T>::batch(&stream, &given);
            let mut u = Operand::<T>::batch(&stream, &vec![Dense::from_fn(m, cols, |_, _| C::ZERO); 2]);
            let mut vh = Operand::<T>::batch(&stream, &vec![Dense::from_fn(rows, n, |_, _| C::ZERO); 2]);
            let mut values = stream.alloc_zeros::<T::Real>(least * 2).unwrap();
            let info = solver.gesvd(a.write(), &mut values, Some(u.write()), Some(vh.write())).unwrap();
            info.check().unwrap();
            let found = numbers::<T>(stream.download(&values).unwrap());
            let (u, vh) = (u.download(&stream), vh.download(&stream));
            let mut a = Operand::<T>::batch(&stream, &given);
            solver.gesvd(a.write(), &mut values, None, None).unwrap().check().unwrap();
            let alone = numbers::<T>(stream.download(&values).unwrap());
            for member in 0..2 {
                let (given, u, vh) = (&given[member], &u[member], &vh[member]);
                let values = &found[member * least..][..least];
                assert!(values.is_sorted_by(|a, b| a >= b) && values.iter().all(|&s| s >= 0.0), "{values:?}");
                let (relative, long) = (bound::<T>(m.max(n)), m.max(n) as f64);
                let product = u.part(m, least).scaled(values).times(&vh.part(least, n));
                small(&what, &(given - &product), relative * given.norm());
                let unit = |q: &Dense| &q.adjoint().times(q) - &Dense::identity(q.cols, q.cols);
                small(&what, &unit(u), relative * long.sqrt());
                small(&what, &unit(&vh.adjoint()), relative * long.sqrt());
                for (one, other) in values.iter().zip(&alone[member * least..][..least]) {
                    assert!(
                        (one - other).abs() <= 2.0 * relative * given.norm(),
                        "{what}: {one} and {other}"
                    );
                }
            }
        }
    }
}

fn generalised<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    for n in [1, 3, 12] {
        for problem in [Problem::Ax, Problem::Abx, Problem::Bax] {
            for triangle in [Triangle::Upper, Triangle::Lower] {
                let first: Vec<_> = (1..=2).map(|seed| Dense::hermitian::<T>(n, 0.0, seed)).collect();
                let second: Vec<_> =
                    (3..=4).map(|seed| Dense::hermitian::<T>(n, 1.5 * n as f64, seed)).collect();
                let (mut a, mut b) =
                    (Operand::<T>::batch(&stream, &first), Operand::<T>::batch(&stream, &second));
                let mut values = stream.alloc_zeros::<T::Real>(n * 2).unwrap();
                let info = solver
                    .sygvd(problem, Vectors::InPlace, triangle, a.write(), b.write(), &mut values)
                    .unwrap();
                info.check().unwrap();
                let values = numbers::<T>(stream.download(&values).unwrap());
                for (member, v) in a.download(&stream).iter().enumerate() {
                    let (a, b, what) =
                        (&first[member], &second[member], format!("{n}, {problem:?}, {triangle:?}"));
                    let values = &values[member * n..][..n];
                    assert!(values.is_sorted());
                    let inverse = b.inverse();
                    let condition = b.norm() * inverse.norm();
                    let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
                    // LAPACK Users' Guide, section 4.10: the error of an eigenvalue, times what multiplies it.
                    let (left, right, error) = match problem {
                        Problem::Ax => {
                            let error = b.norm() * (a.norm() * inverse.norm() + condition * largest);
                            (a.times(v), b.times(&v.scaled(values)), error)
                        }
                        Problem::Abx => (
                            a.times(&b.times(v)),
                            v.scaled(values),
                            a.norm() * b.norm() + condition * largest,
                        ),
                        Problem::Bax => (
                            b.times(&a.times(v)),
                            v.scaled(values),
                            a.norm() * b.norm() + condition * largest,
                        ),
                    };
                    small(&what, &(&left - &right), bound::<T>(n) * error * v.norm());
                    let metric = if problem == Problem::Bax { &inverse } else { b };
                    let unit = &v.adjoint().times(&metric.times(v)) - &Dense::identity(n, n);
                    small(&what, &unit, bound::<T>(n) * condition * (n as f64).sqrt());
                }
            }
        }
    }
    let (mut a, mut b) = (Operand::<T>::one(&stream, &Dense::identity(3, 3)), Dense::identity(3, 3));
    b[(1, 1)] = C::new(-4.0, 0.0);
    let mut b = Operand::<T>::one(&stream, &b);
    let mut values = stream.alloc_zeros::<T::Real>(3).unwrap();
    let info =
        solver.sygvd(Problem::Ax, Vectors::No, Triangle::Lower, a.write(), b.write(), &mut values).unwrap();
    let error = info.check().unwrap_err();
    assert!(matches!(error, Error::NotPositiveDefinite { op: "sygvd", minor: 2, member: None }), "{error}");
}

macro_rules! tests {
    ($($name:ident $T:ty;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn eigenvalues() {
                eigen::<$T>();
            }

            #[test]
            fn singular_values() {
                singular::<$T>(true);
            }

            #[test]
            fn singular_values_of_deficient_matrices() {
                singular::<$T>(false);
            }

            #[test]
            fn generalised_eigenvalues() {
                generalised::<$T>();
            }
        }
    )*};
}

tests! { of_f32 f32; of_f64 f64; of_complex32 Complex32; of_complex64 Complex64; }

/// On the host they end the computation; a GPU may give NaN for them.
#[test]
fn nan_ends() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let mut given = Dense::identity(4, 4);
    given[(2, 1)] = C::new(f64::NAN, 0.0);
    let mut values = stream.alloc_zeros::<f64>(4).unwrap();
    let mut a = Operand::<f64>::one(&stream, &given);
    let eigen = solver.syevd(Vectors::No, Triangle::Lower, a.write(), &mut values).unwrap().check();
    let mut a = Operand::<f64>::one(&stream, &given);
    let singular = solver.gesvd(a.write(), &mut values, None, None).unwrap().check();
    for ended in [eigen, singular] {
        assert!(matches!(ended, Ok(()) | Err(Error::NotConverged { .. })), "{ended:?}");
        assert!(under_test::name() != "host" || ended.is_err());
    }
}
