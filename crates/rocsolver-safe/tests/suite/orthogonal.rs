//! QR factors.

use crate::dense::{Dense, Judged, small};
use crate::operand::Operand;
use crate::under_test;
use rocblas_safe::Side;
use rocsolver_safe::{Complex32, Complex64, Solver, Transpose};

/// Higham, theorem 19.4 and equation 19.13.
fn bound<T: Judged>(m: usize, n: usize) -> f64 {
    T::reflections(m, m.min(n))
}

fn factors<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    for (m, n) in [(1, 1), (2, 1), (6, 6), (9, 4), (4, 9), (30, 20)] {
        let (least, what) = (m.min(n), format!("{m} x {n}"));
        let given: Vec<_> = (1..=2).map(|seed| Dense::random::<T>(m, n, seed)).collect();
        let mut a = Operand::<T>::batch(&stream, &given);
        let mut tau = stream.alloc_zeros::<T>(least * 2).unwrap();
        solver.geqrf(a.write(), &mut tau).unwrap();
        let packed = a.download(&stream);
        // The plain function gives the same as one member of a batch, but for rounding.
        let mut alone = Operand::<T>::one(&stream, &given[1]);
        let mut tau_alone = stream.alloc_zeros::<T>(least).unwrap();
        solver.geqrf(alone.write(), &mut tau_alone).unwrap();
        let upper = |packed: &Dense| packed.part(least, n).only(|i, j| i <= j);
        let difference = &upper(&alone.download(&stream)[0]) - &upper(&packed[1]);
        small(&what, &difference, 2.0 * bound::<T>(m, n) * given[1].norm() * (n as f64).sqrt());

        // Q as a matrix: of the first reflectors, and times the identity.
        let thin: Vec<_> = packed.iter().map(|packed| packed.part(m, least)).collect();
        let mut q = Operand::<T>::batch(&stream, &thin);
        solver.orgqr(least, q.write(), &tau).unwrap();
        let mut reflectors = Operand::<T>::batch(&stream, &thin);
        let mut whole = Operand::<T>::batch(&stream, &vec![Dense::identity(m, m); 2]);
        solver.ormqr(Side::Left, Transpose::No, reflectors.write(), &tau, whole.write()).unwrap();
        assert_eq!(reflectors.download(&stream), thin, "the reflectors are as they were");
        let whole = whole.download(&stream);
        for (member, q) in q.download(&stream).iter().enumerate() {
            let (given, error) = (&given[member], bound::<T>(m, n));
            let upper = upper(&packed[member]);
            let root = (least as f64).sqrt();
            small(&what, &(given - &q.times(&upper)), error * given.norm());
            small(&what, &(&q.adjoint().times(q) - &Dense::identity(least, least)), error * root);
            small(&what, &(&whole[member].part(m, least) - q), 2.0 * error * root);
            let square = &whole[member].adjoint().times(&whole[member]) - &Dense::identity(m, m);
            small(&what, &square, error * (m as f64).sqrt());
        }

        // Qᴴ A is R above zeros; the other sides and forms agree with products of the whole Q.
        for transpose in [Transpose::No, Transpose::Conjugate] {
            for side in [Side::Left, Side::Right] {
                let shape = if side == Side::Left { (m, 3) } else { (3, m) };
                let right: Vec<_> = (5..=6).map(|seed| Dense::random::<T>(shape.0, shape.1, seed)).collect();
                let mut c = Operand::<T>::batch(&stream, &right);
                solver.ormqr(side, transpose, reflectors.write(), &tau, c.write()).unwrap();
                for (member, found) in c.download(&stream).iter().enumerate() {
                    let q = &whole[member];
                    let q = if transpose == Transpose::No { q.clone() } else { q.adjoint() };
                    let right = &right[member];
                    let expected = if side == Side::Left { q.times(right) } else { right.times(&q) };
                    let error = 2.0 * bound::<T>(m, n) * right.norm() * (m as f64).sqrt();
                    small(&format!("{what}, {side:?}, {transpose:?}"), &(found - &expected), error);
                }
            }
        }
        let mut c = Operand::<T>::batch(&stream, &given);
        solver.ormqr(Side::Left, Transpose::Conjugate, reflectors.write(), &tau, c.write()).unwrap();
        for (member, found) in c.download(&stream).iter().enumerate() {
            let expected = packed[member].only(|i, j| i <= j);
            small(&what, &(found - &expected), 2.0 * bound::<T>(m, n) * given[member].norm());
        }
    }
}

/// Numbers whose squares overflow or vanish: LAPACK scales them.
fn extremes<T: Judged>(sizes: [f64; 2]) {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    for size in sizes {
        let given = Dense::random::<T>(6, 1, 9).scaled(&[size]);
        let mut a = Operand::<T>::one(&stream, &given);
        let mut tau = stream.alloc_zeros::<T>(1).unwrap();
        solver.geqrf(a.write(), &mut tau).unwrap();
        let beta = a.download(&stream)[0][(0, 0)].norm() / size;
        let norm = given.scaled(&[1.0 / size]).norm();
        assert!((beta - norm).abs() <= T::gamma(6) * norm, "{size}: {beta} and {norm}");
    }
}

macro_rules! tests {
    ($($name:ident $T:ty;)*) => {$(
        #[test]
        fn $name() {
            factors::<$T>();
        }
    )*};
}

tests! { of_f32 f32; of_f64 f64; of_complex32 Complex32; of_complex64 Complex64; }

#[test]
fn numbers_whose_squares_overflow() {
    extremes::<f32>([1e30, 1e-30]);
    extremes::<f64>([1e200, 1e-200]);
    extremes::<Complex64>([1e200, 1e-200]);
}
