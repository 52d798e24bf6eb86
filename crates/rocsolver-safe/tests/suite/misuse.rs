//! What is an error before any call, and that it changes nothing.

use crate::dense::Dense;
use crate::operand::Operand;
use crate::under_test;
use hip_safe::DeviceViewMut;
use rocblas_safe::Layout::{ColMajor, RowMajor};
use rocblas_safe::{Error as Blas, Matrix, MatrixBatchMut, MatrixMut, Side, Triangle};
use rocsolver_safe::{Complex64, Error, Pivots, Result, Solver, Transpose, Vectors};

#[track_caller]
fn refused<R>(result: Result<R>, text: &str) {
    match result {
        Ok(_) => panic!("it was not refused: {text}"),
        Err(error) => assert_eq!(error.to_string(), text),
    }
}

#[test]
fn operands_that_do_not_fit() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let matrix = |rows, cols| Operand::<f64>::one(&stream, &Dense::random::<f64>(rows, cols, 1));
    let batch = |count| Operand::<f64>::batch(&stream, &vec![Dense::random::<f64>(3, 3, 1); count]);
    let pivots = |count: Option<usize>| {
        Pivots::from_host(&stream, &vec![1; 3 * count.unwrap_or(1)], 3, count).unwrap()
    };
    let mut numbers = stream.alloc_zeros::<f64>(2).unwrap();
    let wanted = "getrs: a is 3 x 4, and 3 x 3 is needed";
    refused(solver.getrs(Transpose::No, matrix(3, 4).read(), &pivots(None), matrix(3, 1).write()), wanted);
    let wanted = "getrs: pivots is 3 steps on 3 rows, and 4 steps on 4 rows is needed";
    refused(solver.getrs(Transpose::No, matrix(4, 4).read(), &pivots(None), matrix(4, 1).write()), wanted);
    let wanted = "getrs: pivots is a batch of 2, and a single matrix is needed";
    refused(solver.getrs(Transpose::No, matrix(3, 3).read(), &pivots(Some(2)), matrix(3, 1).write()), wanted);
    let wanted = "getri: pivots is a batch of 2, and a batch of 3 is needed";
    refused(solver.getri(batch(3).write(), &pivots(Some(2))), wanted);
    refused(solver.getri(matrix(2, 3).write(), &pivots(None)), "getri: a is 2 x 3, and 2 x 2 is needed");
    refused(solver.potrf(Triangle::Upper, matrix(3, 2).write()), "potrf: a is 3 x 2, and 3 x 3 is needed");
    let wanted = "potrs: a is a batch of 2, and a batch of 3 is needed";
    refused(solver.potrs(Triangle::Upper, batch(2).read(), batch(3).write()), wanted);
    let wanted = "posv: b is a single matrix, and a batch of 2 is needed";
    refused(solver.posv(Triangle::Upper, batch(2).write(), matrix(3, 1).write()), wanted);
    let wanted = "tau reaches over 3 elements, and the view has 2: take a longer view, or a smaller tau";
    refused(solver.geqrf(matrix(3, 3).write(), &mut numbers), wanted);
    let wanted = "orgqr: a is 2 x 3 with 2 reflectors, and no fewer rows than columns, and no fewer columns than reflectors, is needed";
    refused(solver.orgqr(2, matrix(2, 3).write(), &numbers), wanted);
    let ormqr = |side, mut a: Operand<f64>, mut c: Operand<f64>| {
        solver.ormqr(side, Transpose::No, a.write(), &numbers, c.write())
    };
    let wanted = "ormqr: a is 3 x 2, and 4 x 4 or fewer columns is needed";
    refused(ormqr(Side::Left, matrix(3, 2), matrix(4, 3)), wanted);
    refused(ormqr(Side::Right, matrix(3, 2), matrix(3, 4)), wanted);
    let wanted = "gels: b is 3 x 1, and 5 x 1 is needed";
    refused(solver.gels(Transpose::No, matrix(3, 5).write(), matrix(3, 1).write()), wanted);
    let wanted = "eigenvalues reaches over 3 elements, and the view has 2: take a longer view, or a smaller eigenvalues";
    refused(solver.syevd(Vectors::No, Triangle::Upper, matrix(3, 3).write(), &mut numbers), wanted);
    let wanted = "gesvd: u is 4 x 3, and 4 x 2 or 4 x 4 is needed";
    refused(solver.gesvd(matrix(4, 2).write(), &mut numbers, Some(matrix(4, 3).write()), None), wanted);
    let wanted = "gesvd: vh is 2 x 4, and 2 x 2 or 2 x 2 is needed";
    refused(solver.gesvd(matrix(4, 2).write(), &mut numbers, None, Some(matrix(2, 4).write())), wanted);
}

/// The library would exchange rows with whatever lies there.
#[test]
fn pivots_that_are_no_rows_of_the_matrix() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let from = |pivots: &[i32], order, count| Pivots::from_host(&stream, pivots, order, count);
    let wanted = "pivots: a number is 1000000 at index 0, and a row from 1 to 2 is needed";
    refused(from(&[1_000_000, 2], 2, None), wanted);
    let wanted = "pivots: a number is 3 at index 3, and a row from 1 to 2 is needed";
    refused(from(&[1, 2, 1, 3], 2, Some(2)), wanted);
    refused(from(&[1, 0], 2, None), "pivots: a number is 0 at index 1, and a row from 1 to 2 is needed");
    refused(from(&[-1], 1, None), "pivots: a number is -1 at index 0, and a row from 1 to 1 is needed");
    refused(from(&[1, 2], 2, Some(2)), "pivots: the slice is 2 numbers, and 4 is needed");
    assert!(matches!(from(&[], usize::MAX, Some(2)), Err(Error::Blas(Blas::SizeOverflow { .. }))));
    // Those of a tall matrix are up to its rows, of which the upper part has fewer.
    let matrix = |rows, cols| Operand::<f64>::one(&stream, &Dense::random::<f64>(rows, cols, 1));
    let (tall, info) = solver.getrf(matrix(9, 3).write()).unwrap();
    info.check().unwrap();
    let wanted = "getrs: pivots is 3 steps on 9 rows, and 3 steps on 3 rows is needed";
    refused(solver.getrs(Transpose::No, matrix(3, 3).read(), &tall, matrix(3, 1).write()), wanted);
    let wanted = "getri: pivots is 3 steps on 9 rows, and 3 steps on 3 rows is needed";
    refused(solver.getri(matrix(3, 3).write(), &tall), wanted);
}

#[test]
fn layouts_that_lapack_has_no_word_for() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let mut numbers = stream.upload(&[Complex64::new(4.0, 0.0); 12]).unwrap();
    let mut b = stream.upload(&[Complex64::new(1.0, 0.0); 12]).unwrap();
    let wanted = "getrf: a matrix that is row-major or conjugated is not in BLAS: store it by columns";
    let rows = MatrixMut::new(numbers.view_mut(), 2, 2, RowMajor).unwrap();
    refused(solver.getrf(rows), wanted);
    let (one, other) = numbers.split_at_mut(4).unwrap();
    let parts = [one, other].map(|view| MatrixMut::new(view, 2, 2, RowMajor).unwrap());
    refused(solver.getrf(MatrixBatchMut::from_matrices(parts).unwrap()), wanted);
    let pivots = Pivots::from_host(&stream, &[1, 2], 2, None).unwrap();
    let a = Matrix::new(numbers.view(), 2, 2, ColMajor).unwrap();
    let b = MatrixMut::new(b.view_mut(), 2, 1, ColMajor).unwrap();
    let refusal = solver.getrs(Transpose::No, a.conj(), &pivots, b).unwrap_err().to_string();
    assert!(refusal.starts_with("getrs: a matrix that is row-major or conjugated"), "{refusal}");
    // Complex Q has no transposed form.
    let mut a = Operand::<Complex64>::one(&stream, &Dense::identity(2, 2));
    let mut c = Operand::<Complex64>::one(&stream, &Dense::identity(2, 2));
    let tau = stream.alloc_zeros::<Complex64>(2).unwrap();
    let refusal = solver.ormqr(Side::Left, Transpose::Yes, a.write(), &tau, c.write()).unwrap_err();
    assert!(matches!(refusal, Error::Blas(Blas::NotSupported { op: "ormqr", .. })), "{refusal}");
    // A transposed row-major matrix is column-major.
    let mut numbers = stream.upload(&[2.0_f32, 0.0, 1.0, 2.0]).unwrap();
    let turned = MatrixMut::new(numbers.view_mut(), 2, 2, RowMajor).unwrap().t();
    solver.getrf(turned).unwrap().1.check().unwrap();
    assert_eq!(stream.download(&numbers).unwrap(), [2.0, 0.0, 1.0, 2.0]);
}

#[test]
fn views_that_are_too_short_and_members_that_overlap() {
    let stream = under_test::stream();
    let mut numbers = stream.alloc_zeros::<f32>(20).unwrap();
    let short = MatrixMut::with_ld(numbers.view_mut(), 4, 5, ColMajor, 5);
    assert!(matches!(short, Err(Blas::Span { needed: 24, len: 20, .. })), "{short:?}");
    let narrow = MatrixMut::with_ld(numbers.view_mut(), 4, 5, ColMajor, 3);
    assert!(matches!(narrow, Err(Blas::LeadingDimension { ld: 3, least: 4, .. })), "{narrow:?}");
    let overlapping = MatrixBatchMut::strided(numbers.view_mut(), (2, 2), ColMajor, None, (3, 2));
    assert!(matches!(overlapping, Err(Blas::Overlap { .. })), "{overlapping:?}");
    let endless = MatrixMut::new(numbers.view_mut(), 1 << 40, 1 << 40, ColMajor);
    assert!(matches!(endless, Err(Blas::SizeOverflow { .. })), "{endless:?}");
}

#[test]
fn sizes_beyond_32_bits() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let mut numbers = stream.alloc_zeros::<f32>(8).unwrap();
    let mut tau = stream.alloc_zeros::<f32>(8).unwrap();
    let mut tall = MatrixMut::new(numbers.view_mut(), 1 << 31, 0, ColMajor).unwrap();
    let wanted = "getrf: the number of rows is 2147483648, and at most 2147483647 is possible";
    refused(solver.getrf(&mut tall), wanted);
    let wide = MatrixMut::new(numbers.view_mut(), 0, 1 << 31, ColMajor).unwrap();
    let wanted = "geqrf: the number of columns is 2147483648, and at most 2147483647 is possible";
    refused(solver.geqrf(wide, &mut tau), wanted);
    let many = MatrixBatchMut::strided(numbers.view_mut(), (1, 0), ColMajor, None, (usize::MAX, 1)).unwrap();
    assert!(solver.getrf(many).is_ok(), "without elements there is nothing to do");
    let many = MatrixBatchMut::strided(numbers.view_mut(), (2, 0), ColMajor, None, (usize::MAX, 1)).unwrap();
    assert!(solver.syevd(Vectors::No, Triangle::Upper, many, &mut tau).is_err());
}

fn empty(view: DeviceViewMut<'_, f64>, rows: usize, cols: usize) -> MatrixMut<'_, f64> {
    MatrixMut::new(view, rows, cols, ColMajor).unwrap()
}

#[test]
fn nothing_to_do() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let (mut none, mut other) =
        (stream.alloc_zeros::<f64>(0).unwrap(), stream.alloc_zeros::<f64>(0).unwrap());
    let mut values = stream.alloc_zeros::<f64>(0).unwrap();
    solver.getrf(empty(none.view_mut(), 4, 0)).unwrap().1.check().unwrap();
    let (pivots, info) = solver.getrf(empty(none.view_mut(), 0, 0)).unwrap();
    info.check().unwrap();
    solver.getri(empty(none.view_mut(), 0, 0), &pivots).unwrap().check().unwrap();
    let a = Matrix::new(other.view(), 0, 0, ColMajor).unwrap();
    solver.getrs(Transpose::No, a, &pivots, empty(none.view_mut(), 0, 3)).unwrap();
    solver.potrs(Triangle::Lower, a, empty(none.view_mut(), 0, 3)).unwrap();
    solver.potrf(Triangle::Lower, empty(none.view_mut(), 0, 0)).unwrap().check().unwrap();
    let b = empty(other.view_mut(), 0, 2);
    solver.posv(Triangle::Lower, empty(none.view_mut(), 0, 0), b).unwrap().check().unwrap();
    solver.geqrf(empty(none.view_mut(), 0, 5), &mut values).unwrap();
    solver
        .syevd(Vectors::InPlace, Triangle::Lower, empty(none.view_mut(), 0, 0), &mut values)
        .unwrap()
        .check()
        .unwrap();
    solver.gesvd(empty(none.view_mut(), 3, 0), &mut values, None, None).unwrap().check().unwrap();
    let no_members = MatrixBatchMut::strided(none.view_mut(), (3, 3), ColMajor, None, (0, 9)).unwrap();
    let (_, info) = solver.getrf(no_members).unwrap();
    assert_eq!(info.numbers().unwrap(), [0; 0]);
    info.check().unwrap();
}
