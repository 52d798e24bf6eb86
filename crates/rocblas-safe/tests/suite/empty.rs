//! Operands without elements, and factors of zero.

use crate::under_test;
use rocblas_safe::{
    BandMatrix, Layout, Matrix, MatrixBatch, MatrixBatchMut, MatrixMut, Side, Triangle, Vector,
};

const ROWS: Layout = Layout::RowMajor;

#[test]
fn sums_of_nothing() {
    let (stream, handle) = under_test::handle();
    let none = stream.alloc_zeros::<f64>(0).unwrap();
    assert_eq!(handle.dot(&none, &none).unwrap(), 0.0);
    assert_eq!(handle.nrm2(&none).unwrap(), 0.0);
    assert_eq!(handle.asum(&none).unwrap(), 0.0);
    assert_eq!(handle.iamax(&none).unwrap(), None);
    assert_eq!(handle.iamin(&none).unwrap(), None);
    assert!(handle.dot_batch(Vector::new(none.view()).repeat(0), &none).unwrap().is_empty());
    let twice = Vector::new(none.view()).repeat(2);
    assert_eq!(handle.dot_batch(twice.clone(), twice).unwrap(), [0.0, 0.0]);
    let mut result = stream.upload(&[7.0_f64]).unwrap();
    handle.dot_into(&none, &none, result.view_mut()).unwrap();
    assert_eq!(stream.download(&result).unwrap(), [0.0]);
}

#[test]
fn vectors_of_nothing() {
    let (stream, handle) = under_test::handle();
    let none = stream.alloc_zeros::<f32>(0).unwrap();
    let (mut x, mut y) = (stream.alloc_zeros::<f32>(0).unwrap(), stream.alloc_zeros::<f32>(0).unwrap());
    handle.axpy(1.0, &none, &mut x).unwrap();
    handle.scal(1.0, &mut x).unwrap();
    handle.copy(&none, &mut x).unwrap();
    handle.swap(&mut x, &mut y).unwrap();
    handle.rot(&mut x, &mut y, 1.0, 0.0).unwrap();
}

#[test]
fn a_product_of_no_columns_and_rows_is_beta_c() {
    let (stream, handle) = under_test::handle();
    let none = stream.alloc_zeros::<f32>(0).unwrap();
    let mut c = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let (a, b) =
        (Matrix::new(none.view(), 2, 0, ROWS).unwrap(), Matrix::new(none.view(), 0, 3, ROWS).unwrap());
    handle.gemm(1.0, a, b, 2.0, MatrixMut::new(c.view_mut(), 2, 3, ROWS).unwrap()).unwrap();
    assert_eq!(stream.download(&c).unwrap(), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    let square = MatrixMut::new(c.slice_mut(..4).unwrap(), 2, 2, ROWS).unwrap();
    handle.syrk(Triangle::Upper, 1.0, a, 0.5, square).unwrap();
    assert_eq!(stream.download(&c).unwrap(), [1.0, 2.0, 6.0, 4.0, 10.0, 12.0]);
    // Nothing to write is nothing to do.
    let mut d = stream.alloc_zeros::<f32>(0).unwrap();
    let wide = Matrix::new(c.view(), 3, 2, ROWS).unwrap();
    let result = MatrixMut::new(d.view_mut(), 0, 2, ROWS).unwrap();
    handle.gemm(1.0, Matrix::new(none.view(), 0, 3, ROWS).unwrap(), wide, 0.0, result).unwrap();
}

#[test]
fn a_matrix_without_columns_times_a_vector_is_beta_y() {
    let (stream, handle) = under_test::handle();
    let none = stream.alloc_zeros::<f64>(0).unwrap();
    for layout in [Layout::RowMajor, Layout::ColMajor] {
        let mut y = stream.upload(&[1.0_f64, 2.0, f64::NAN]).unwrap();
        let a = Matrix::new(none.view(), 3, 0, layout).unwrap();
        handle.gemv(1.0, a, &none, 2.0, &mut y).unwrap();
        let got = stream.download(&y).unwrap();
        assert!(got[..2] == [2.0, 4.0] && got[2].is_nan(), "{got:?}");
        let band = BandMatrix::new(none.view(), (3, 0), (0, 0), layout, None);
        // By rows a band has elements to store, even where none of them lies inside.
        if let Ok(band) = band {
            handle.gbmv(1.0, band, &none, 0.0, &mut y).unwrap();
            assert_eq!(stream.download(&y).unwrap(), [0.0; 3]);
        }
        handle.gemv(1.0, a, &none, 0.0, &mut y).unwrap();
        assert_eq!(stream.download(&y).unwrap(), [0.0; 3]);
    }
}

#[test]
fn batches_of_nothing() {
    let (stream, handle) = under_test::handle();
    let mut c = stream.upload(&[1.0_f32; 4]).unwrap();
    let a = stream.upload(&[1.0_f32; 4]).unwrap();
    let single = Matrix::new(a.view(), 2, 2, ROWS).unwrap();
    let result = MatrixBatchMut::strided(c.view_mut(), (2, 2), ROWS, None, (0, 4)).unwrap();
    handle.gemm(1.0, single, single.repeat(0), 0.0, result).unwrap();
    assert_eq!(stream.download(&c).unwrap(), [1.0; 4]);
    let nobody: MatrixBatch<'_, f32> = MatrixBatch::from_matrices([]).unwrap();
    assert_eq!(nobody.count(), 0);
}

#[test]
fn operands_with_a_factor_of_zero_are_not_read() {
    let (stream, handle) = under_test::handle();
    let nan = stream.upload(&[f32::NAN; 4]).unwrap();
    let ones = stream.upload(&[1.0_f32; 4]).unwrap();
    let mut c = stream.upload(&[f32::NAN; 4]).unwrap();
    let (bad, good) =
        (Matrix::new(nan.view(), 2, 2, ROWS).unwrap(), Matrix::new(ones.view(), 2, 2, ROWS).unwrap());
    handle.gemm(1.0, good, good, 0.0, MatrixMut::new(c.view_mut(), 2, 2, ROWS).unwrap()).unwrap();
    assert_eq!(stream.download(&c).unwrap(), [2.0; 4]);
    handle.gemm(0.0, bad, bad, 3.0, MatrixMut::new(c.view_mut(), 2, 2, ROWS).unwrap()).unwrap();
    assert_eq!(stream.download(&c).unwrap(), [6.0; 4]);
    handle.geam(0.0, bad, 2.0, good, MatrixMut::new(c.view_mut(), 2, 2, ROWS).unwrap()).unwrap();
    assert_eq!(stream.download(&c).unwrap(), [2.0; 4]);
    let mut y = stream.upload(&[f32::NAN; 2]).unwrap();
    handle.gemv(1.0, good, ones.slice(..2).unwrap(), 0.0, &mut y).unwrap();
    assert_eq!(stream.download(&y).unwrap(), [2.0; 2]);
    let mut c = stream.upload(&[f32::NAN; 4]).unwrap();
    let result = MatrixMut::new(c.view_mut(), 2, 2, ROWS).unwrap();
    handle.symm(Side::Left, Triangle::Lower, 1.0, good, good, 0.0, result).unwrap();
    assert_eq!(stream.download(&c).unwrap(), [2.0; 4]);
}
