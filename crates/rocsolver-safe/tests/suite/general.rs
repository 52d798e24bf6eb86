//! LU factors.

use crate::dense::{Dense, Judged, small};
use crate::operand::Operand;
use crate::under_test;
use rocsolver_safe::{Complex32, Complex64, Error, Pivots, Solver, Transpose};

const SIZES: [(usize, usize); 6] = [(1, 1), (3, 3), (7, 4), (4, 9), (16, 16), (33, 33)];

/// L and U, and the matrix with its rows in the order of the pivots.
fn parts(packed: &Dense, pivots: &[i32], a: &Dense) -> (Dense, Dense, Dense) {
    let least = a.rows.min(a.cols);
    let unit = Dense::identity(a.rows, least);
    let lower = Dense::from_fn(a.rows, least, |i, j| if i > j { packed[(i, j)] } else { unit[(i, j)] });
    let upper = packed.part(least, a.cols).only(|i, j| i <= j);
    let mut ordered = a.clone();
    for (i, &row) in pivots.iter().enumerate() {
        assert!((i + 1..=a.rows).contains(&(row as usize)), "pivot {i} is {row}, and they count from 1");
        ordered.swap_rows(i, row as usize - 1);
    }
    (lower, upper, ordered)
}

fn factors<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    for (m, n) in SIZES {
        let least = m.min(n);
        for batched in [false, true] {
            let given: Vec<_> =
                (1..=if batched { 3 } else { 1 }).map(|seed| Dense::random::<T>(m, n, seed)).collect();
            let mut a =
                if batched { Operand::<T>::batch(&stream, &given) } else { Operand::one(&stream, &given[0]) };
            let (pivots, info) = solver.getrf(a.write()).unwrap();
            info.check().unwrap();
            assert_eq!((pivots.rows(), pivots.count()), (m, batched.then_some(3)));
            let pivots = stream.download(&pivots.view()).unwrap();
            for ((packed, pivots), given) in a.download(&stream).iter().zip(pivots.chunks(least)).zip(&given)
            {
                let (lower, upper, ordered) = parts(packed, pivots, given);
                // Partial pivoting: no element of L is above 1, but for rounding and for complex numbers' |re| + |im|.
                assert!(lower.elements.iter().all(|z| z.norm() <= 1.5));
                // Higham, theorem 9.3: |PA - LU| is at most gamma(n) |L| |U|.
                let bound = T::gamma(least) * lower.norm() * upper.norm();
                small(&format!("{m} x {n}"), &(&ordered - &lower.times(&upper)), bound);
            }
        }
    }
}

fn solutions<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    for (n, nrhs) in [(1, 1), (5, 3), (24, 2)] {
        let given: Vec<_> = (1..=2).map(|seed| Dense::random::<T>(n, n, seed)).collect();
        let right: Vec<_> = (11..=12).map(|seed| Dense::random::<T>(n, nrhs, seed)).collect();
        let mut a = Operand::<T>::batch(&stream, &given);
        let (pivots, info) = solver.getrf(a.write()).unwrap();
        info.check().unwrap();
        let found_pivots = stream.download(&pivots.view()).unwrap();
        for transpose in [Transpose::No, Transpose::Yes, Transpose::Conjugate] {
            let mut b = Operand::<T>::batch(&stream, &right);
            solver.getrs(transpose, a.read(), &pivots, b.write()).unwrap();
            let packed = a.download(&stream);
            for (member, x) in b.download(&stream).iter().enumerate() {
                let (lower, upper, _) =
                    parts(&packed[member], &found_pivots[member * n..][..n], &given[member]);
                let matrix = match transpose {
                    Transpose::No => given[member].clone(),
                    Transpose::Yes => given[member].transposed(),
                    Transpose::Conjugate => given[member].adjoint(),
                };
                // Higham, theorem 9.4: (A + E) x = b with |E| of at most gamma(3n) |L| |U|.
                let bound = T::gamma(3 * n) * lower.norm() * upper.norm() * x.norm();
                small(&format!("{n}, {transpose:?}"), &(&matrix.times(x) - &right[member]), bound);
            }
        }
    }
}

fn inverses<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    for n in [1, 4, 20] {
        let given: Vec<_> = (1..=2).map(|seed| Dense::random::<T>(n, n, seed)).collect();
        let mut a = Operand::<T>::batch(&stream, &given);
        let (pivots, info) = solver.getrf(a.write()).unwrap();
        info.check().unwrap();
        let packed = a.download(&stream);
        solver.getri(a.write(), &pivots).unwrap().check().unwrap();
        let pivots = stream.download(&pivots.view()).unwrap();
        for (member, inverse) in a.download(&stream).iter().enumerate() {
            let (lower, upper, _) = parts(&packed[member], &pivots[member * n..][..n], &given[member]);
            // Higham, chapter 14: each way to invert makes one of the two residuals small, not both.
            let one = Dense::identity(n, n);
            let right = &given[member].times(inverse) - &one;
            let left = &inverse.times(&given[member]) - &one;
            let bound = T::gamma(4 * n) * lower.norm() * upper.norm() * inverse.norm();
            small("the smaller residual", if left.norm() < right.norm() { &left } else { &right }, bound);
        }
    }
}

fn singular<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let good = Dense::random::<T>(5, 5, 3);
    // A column of zeros stays one.
    let bad = good.only(|_, j| j != 2);
    let mut a = Operand::<T>::one(&stream, &bad);
    let (_, info) = solver.getrf(a.write()).unwrap();
    assert_eq!(info.numbers().unwrap(), [3]);
    let error = info.check().unwrap_err();
    assert!(matches!(error, Error::Singular { op: "getrf", pivot: 3, member: None }), "{error}");
    let mut a = Operand::<T>::batch(&stream, &[good.clone(), good.clone(), bad]);
    let (pivots, info) = solver.getrf(a.write()).unwrap();
    assert_eq!(info.numbers().unwrap(), [0, 0, 3]);
    let error = info.check().unwrap_err();
    assert!(matches!(error, Error::Singular { pivot: 3, member: Some(2), .. }), "{error}");
    let error = solver.getri(a.write(), &pivots).unwrap().check().unwrap_err();
    assert!(matches!(error, Error::Singular { op: "getri", pivot: 3, member: Some(2) }), "{error}");
}

/// Of the matrix [[0, 1], [2, 0]], whose rows have to be exchanged, from the host; and one matrix for two right sides.
fn pivots_of_the_host<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let real =
        |rows, values: &[f64]| Dense::from_fn(rows, values.len() / rows, |i, j| values[j * rows + i].into());
    // Rows exchanged and L = 1: the factors are U alone.
    let a = Operand::<T>::one(&stream, &real(2, &[2.0, 0.0, 0.0, 1.0]));
    let pivots = Pivots::from_host(&stream, &[2, 2], 2, None).unwrap();
    let mut b = Operand::<T>::batch(&stream, &[real(2, &[3.0, 8.0]), real(2, &[5.0, 6.0])]);
    solver.getrs(Transpose::No, a.read(), &pivots, b.write()).unwrap();
    assert_eq!(b.download(&stream), [real(2, &[4.0, 3.0]), real(2, &[3.0, 5.0])]);
    // Of a batch, each its own.
    let a = Operand::<T>::batch(&stream, &[real(2, &[2.0, 0.0, 0.0, 1.0]), real(2, &[2.0, 0.0, 0.0, 1.0])]);
    let pivots = Pivots::from_host(&stream, &[2, 2, 1, 2], 2, Some(2)).unwrap();
    solver.getrs(Transpose::No, a.read(), &pivots, b.write()).unwrap();
    assert_eq!(b.download(&stream), [real(2, &[1.5, 4.0]), real(2, &[1.5, 5.0])]);
}

/// Numbers without an order lead to rows of the matrix too.
fn not_a_number<T: Judged>() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    for n in [3, 70] {
        let mut a = Operand::<T>::one(&stream, &Dense::from_fn(n, n, |_, _| f64::NAN.into()));
        let (pivots, info) = solver.getrf(a.write()).unwrap();
        info.numbers().unwrap();
        let pivots = stream.download(&pivots.view()).unwrap();
        assert!(pivots.iter().all(|&row| (1..=n as i32).contains(&row)), "{pivots:?}");
    }
}

macro_rules! tests {
    ($($name:ident $T:ty;)*) => {$(
        #[test]
        fn $name() {
            factors::<$T>();
            solutions::<$T>();
            inverses::<$T>();
            singular::<$T>();
            pivots_of_the_host::<$T>();
            not_a_number::<$T>();
        }
    )*};
}

tests! { of_f32 f32; of_f64 f64; of_complex32 Complex32; of_complex64 Complex64; }
