//! Triangular systems: what is left when the solution is put in has to be small.

use crate::judge::{Dense, Sum};
use crate::matrices::Matrix;
use crate::numbers::{C, Number, Random, for_all_types};
use crate::products::{OPS, lay, offset_of};
use crate::under_test::{self, offered};
use rocsparse_safe::{
    DenseMatrix, DenseShape, DiagonalKind, Error, Format, Handle, Index, Layout, Op, Parts, Spsm, Spsv,
    Triangle,
};

const KINDS: [DiagonalKind; 2] = [DiagonalKind::Stored, DiagonalKind::Unit];

/// A square matrix with entries in both triangles, and a diagonal from 1 on.
fn square<T: Number>(seed: u64, size: usize) -> Matrix<T> {
    let mut matrix = Matrix::random(seed, size, size, 20);
    matrix.entries.retain(|entry| entry.0 != entry.1);
    matrix.entries.extend((0..size).map(|at| (at, at, T::of(C::new(1.5 + at as f64 / 64.0, 0.25)))));
    matrix.entries.sort_by_key(|entry| (entry.0, entry.1));
    matrix
}

/// The triangle that is solved with.
fn triangle<T: Number>(of: &Matrix<T>, which: Triangle, diagonal: DiagonalKind) -> Dense {
    let mut dense = of.dense();
    for (row, elements) in dense.0.iter_mut().enumerate() {
        for (col, element) in elements.iter_mut().enumerate() {
            let inside = if which == Triangle::Lower { col <= row } else { col >= row };
            if !inside {
                *element = C::default();
            }
            if row == col && diagonal == DiagonalKind::Unit {
                *element = C::new(1.0, 0.0);
            }
        }
    }
    dense
}

/// Checks what each row of op(A)·y − α·x leaves.
fn check_rest<T: Number>(what: &str, a: &Dense, y: &[C], alpha: C, x: &[C]) {
    for (row, &right) in a.0.iter().zip(x) {
        let mut rest = Sum::default();
        row.iter().zip(y).for_each(|(&element, &y)| rest.add(&[element, y]));
        rest.add(&[-alpha, right]);
        rest.check_rest::<T>(what);
    }
}

fn one<I: Index, T: Number>() {
    for stream in under_test::streams() {
        let handle = Handle::new(&stream).unwrap();
        for (seed, size) in [(1, 40), (2, 1), (3, 0)] {
            let matrix = square::<T>(seed, size);
            for format in [Format::Csr, Format::Coo] {
                for (which, diagonal) in [Triangle::Lower, Triangle::Upper]
                    .into_iter()
                    .flat_map(|which| KINDS.map(|kind| (which, kind)))
                {
                    for op in OPS {
                        let what = format!("{format:?} {which:?} {diagonal:?} {op:?}");
                        let uploaded = matrix.parts::<I>(format).as_slices().upload(&stream).unwrap();
                        let prepared = Spsv::prepare(&handle, (which, diagonal), op, uploaded);
                        if op == Op::Adjoint && T::is_complex() {
                            assert!(matches!(prepared.map(drop), Err(Error::Adjoint { .. })));
                            continue;
                        }
                        let Some(prepared) = offered(prepared) else { continue };
                        let mut random = Random(size as u64);
                        for _twice in 0..2 {
                            let x = random.numbers::<T>(size);
                            let alpha = T::of(random.number());
                            let mut y = stream.alloc_zeros::<T>(size).unwrap();
                            prepared.compute(alpha, &stream.upload(&x).unwrap(), &mut y).unwrap();
                            let y: Vec<C> = stream.download(&y).unwrap().iter().map(|y| y.to()).collect();
                            let x: Vec<C> = x.iter().map(|x| x.to()).collect();
                            let a = triangle(&matrix, which, diagonal).op(op, size);
                            check_rest::<T>(&what, &a, &y, alpha.to(), &x);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn one_right_side() {
    for_all_types!(one);
}

fn many<I: Index, T: Number>() {
    for stream in under_test::streams() {
        let handle = Handle::new(&stream).unwrap();
        let (size, cols, matrix) = (30, 4, square::<T>(5, 30));
        for (which, ops) in [
            (Triangle::Lower, [Op::None, Op::None]),
            (Triangle::Upper, [Op::Transpose, Op::None]),
            (Triangle::Upper, [Op::Adjoint, Op::None]),
            (Triangle::Upper, [Op::None, Op::Transpose]),
            (Triangle::Lower, [Op::None, Op::Adjoint]),
        ] {
            let what = format!("{which:?} {ops:?}");
            let uploaded = matrix.parts::<I>(Format::Csr).as_slices().upload(&stream).unwrap();
            let [b_rows, b_cols] = if ops[1] == Op::None { [size, cols] } else { [cols, size] };
            let mut b = DenseShape::new(b_rows, b_cols, Layout::ColumnMajor);
            b.leading += 1;
            let c = DenseShape::new(size, cols, Layout::ColumnMajor);
            let prepared = Spsm::prepare(&handle, (which, DiagonalKind::Stored), ops, uploaded, b, c);
            if ops.contains(&Op::Adjoint) && T::is_complex() {
                assert!(matches!(prepared.map(drop), Err(Error::Adjoint { .. })));
                continue;
            }
            let Some(prepared) = offered(prepared) else { continue };
            let mut random = Random(8);
            let (right, alpha) = (random.numbers::<T>(b_rows * b_cols), T::of(random.number()));
            let on_device = stream.upload(&lay(b, &right, T::ZERO)).unwrap();
            let mut result = DenseMatrix::new(stream.alloc_zeros::<T>(size * cols).unwrap(), c).unwrap();
            prepared.compute(alpha, &DenseMatrix::new(on_device, b).unwrap(), &mut result).unwrap();
            let found = stream.download(result.memory()).unwrap();
            let a = triangle(&matrix, which, DiagonalKind::Stored).op(ops[0], size);
            let right = Dense::by_rows(b_cols, &right).op(ops[1], b_cols);
            for col in 0..cols {
                let y: Vec<C> = (0..size).map(|row| found[offset_of(c, row, col)].to()).collect();
                let x: Vec<C> = (0..size).map(|row| right.0[row][col]).collect();
                check_rest::<T>(&what, &a, &y, alpha.to(), &x);
            }
        }
    }
}

#[test]
fn many_right_sides() {
    for_all_types!(many);
}

#[test]
fn a_diagonal_with_a_zero_or_a_gap_names_its_row() {
    let stream = under_test::stream();
    let handle = Handle::new(&stream).unwrap();
    let lower = |diagonal| (Triangle::Lower, diagonal);
    let zero = Parts::csr(3, 3, &[0, 1, 2, 4][..], &[0, 1, 0, 2][..], &[1.0_f32, 0.0, 5.0, 2.0][..]);
    let gap = Parts::coo(3, 3, &[0, 1, 2][..], &[0, 1, 0][..], &[1.0_f32, 2.0, 3.0][..]);
    let prepare = |parts: Parts<&[i32], &[f32]>, diagonal| {
        Spsv::prepare(&handle, lower(diagonal), Op::None, parts.upload(&stream).unwrap()).map(drop)
    };
    let error = prepare(zero, DiagonalKind::Stored).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 1 has a zero on the diagonal, so the system has no solution: set the entry, or solve with a unit diagonal"
    );
    let error = prepare(gap, DiagonalKind::Stored).unwrap_err();
    assert!(matches!(error, Error::Singular { row: 2, stored: false }), "{error}");
    let shape = DenseShape::new(3, 1, Layout::ColumnMajor);
    let many = Spsm::prepare(
        &handle,
        lower(DiagonalKind::Stored),
        [Op::None; 2],
        gap.upload(&stream).unwrap(),
        shape,
        shape,
    );
    assert!(matches!(many.map(drop), Err(Error::Singular { row: 2, .. })));
    // The rows are too many for anything that is kept for each, in 64 bits.
    let size = 1 << 62;
    let few = Parts::coo(size, size, &[0_i64, 1][..], &[0_i64, 1][..], &[1.0_f32, 2.0][..]);
    let many = Spsv::prepare(&handle, lower(DiagonalKind::Stored), Op::None, few.upload(&stream).unwrap());
    assert!(matches!(many.map(drop), Err(Error::Singular { row: 2, stored: false })));
    // With ones on the diagonal both have a solution.
    prepare(zero, DiagonalKind::Unit).unwrap();
    prepare(gap, DiagonalKind::Unit).unwrap();
}
