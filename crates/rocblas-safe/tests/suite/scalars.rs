//! Alpha and beta, and results, in device memory.

use crate::under_test;
use half::f16;
use hip_safe::DeviceBuffer;
use rocblas_safe::{Error, Layout, Matrix, MatrixMut};

fn numbers() -> (hip_safe::Stream, rocblas_safe::Handle, DeviceBuffer<f32>, DeviceBuffer<f32>) {
    let (stream, handle) = under_test::handle();
    let x = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    let y = stream.upload(&[10.0_f32, 20.0, 30.0, 40.0]).unwrap();
    (stream, handle, x, y)
}

#[test]
fn scalars_in_device_memory_are_read_when_the_work_runs() {
    let (stream, handle, x, mut y) = numbers();
    // The result of one call is the factor of the next; nothing waits in between.
    let mut factor = stream.alloc_zeros::<f32>(1).unwrap();
    handle.dot_into(&x, &x, factor.view_mut()).unwrap();
    handle.axpy(factor.view(), &x, &mut y).unwrap();
    assert_eq!(stream.download(&y).unwrap(), [40.0, 80.0, 120.0, 160.0]);
    // A value afterwards, and an element again.
    handle.scal(0.5, &mut y).unwrap();
    handle.scal(factor.view(), &mut y).unwrap();
    assert_eq!(stream.download(&y).unwrap(), [600.0, 1200.0, 1800.0, 2400.0]);
}

#[test]
fn products_with_scalars_in_device_memory() {
    let (stream, handle, a, mut c) = numbers();
    let scalars = stream.upload(&[2.0_f32, -1.0]).unwrap();
    let (alpha, beta) = (scalars.slice(..1).unwrap(), scalars.slice(1..).unwrap());
    let a = Matrix::new(a.view(), 2, 2, Layout::RowMajor).unwrap();
    let result = MatrixMut::new(c.view_mut(), 2, 2, Layout::RowMajor).unwrap();
    handle.gemm(alpha, a, a, beta, result).unwrap();
    // 2 [7 10; 15 22] - [10 20; 30 40]
    assert_eq!(stream.download(&c).unwrap(), [4.0, 0.0, 0.0, 4.0]);
    // Of 16-bit matrices they are f32.
    let halves = stream.upload(&[1.0, 2.0, 3.0, 4.0].map(f16::from_f32)).unwrap();
    let mut result = stream.upload(&[f16::ONE; 4]).unwrap();
    let a = Matrix::new(halves.view(), 2, 2, Layout::ColMajor).unwrap();
    let c = MatrixMut::new(result.view_mut(), 2, 2, Layout::ColMajor).unwrap();
    handle.gemm(alpha, a, a.t(), beta, c).unwrap();
    // 2 [10 14; 14 20] - 1, by columns
    assert_eq!(stream.download(&result).unwrap(), [19.0, 27.0, 27.0, 39.0].map(f16::from_f32));
}

#[test]
fn scalars_of_two_kinds_are_refused() {
    let (stream, handle, a, mut c) = numbers();
    let alpha = stream.upload(&[2.0_f32, 3.0]).unwrap();
    let a = Matrix::new(a.view(), 2, 2, Layout::RowMajor).unwrap();
    let mut c = MatrixMut::new(c.view_mut(), 2, 2, Layout::RowMajor).unwrap();
    let called = handle.gemm(alpha.slice(..1).unwrap(), a, a, 0.0, &mut c);
    assert!(matches!(called, Err(Error::MixedScalars { op: "gemm" })), "{called:?}");
    let called = handle.gemm(alpha.view(), a, a, alpha.view(), &mut c);
    assert!(matches!(called, Err(Error::ScalarLen { wanted: 1, got: 2, .. })), "{called:?}");
}

#[test]
fn results_in_device_memory() {
    let (stream, handle, x, y) = numbers();
    let mut results = stream.alloc_zeros::<f32>(3).unwrap();
    let (first, rest) = results.view_mut().into_split_at(1).unwrap();
    let (second, third) = rest.into_split_at(1).unwrap();
    handle.dot_into(&x, &y, first).unwrap();
    handle.nrm2_into(x.slice(2..).unwrap(), second).unwrap();
    handle.asum_into(&y, third).unwrap();
    assert_eq!(stream.download(&results).unwrap(), [300.0, 5.0, 100.0]);
    let mut index = stream.alloc_zeros::<i32>(1).unwrap();
    handle.iamax_into(&y, index.view_mut()).unwrap();
    assert_eq!(stream.download(&index).unwrap(), [4], "C counts from 1");
    assert_eq!(handle.iamax(&y).unwrap(), Some(3));
    handle.iamin_into(&y, index.view_mut()).unwrap();
    assert_eq!(stream.download(&index).unwrap(), [1]);
    let called = handle.dot_into(&x, &y, results.view_mut());
    assert!(matches!(called, Err(Error::ScalarLen { wanted: 1, got: 3, .. })), "{called:?}");
}
