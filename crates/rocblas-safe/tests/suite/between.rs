//! Complex numbers that begin between two others: rocBLAS takes them. cuBLAS would end the device's context by reading them, so that they
//! are refused there, and the device works on.

use crate::under_test;
use num_complex::{Complex32 as C32, Complex64 as C64};
use rocblas_safe::{
    Error, Layout, Matrix, MatrixBatch, MatrixBatchMut, Result, Vector, VectorBatch, VectorBatchMut,
    VectorMut,
};

const NUMBERS: [f64; 6] = [0.5, 1.0, -2.0, 3.0, 4.0, -5.0];

/// The outcome where the platform takes such numbers; `None` where it refuses, as only NVIDIA does.
#[track_caller]
fn taken<T>(outcome: Result<T>) -> Option<T> {
    match outcome {
        Err(Error::Status { name: "rocblas_status_invalid_pointer", .. }) => {
            assert_eq!(under_test::name(), "nvidia");
            None
        }
        outcome => Some(outcome.unwrap()),
    }
}

#[test]
fn vectors() {
    let (stream, handle) = under_test::handle();
    let mut buffer = stream.upload(&NUMBERS).unwrap();
    let twice = C64::new(0.0, 2.0);
    let mut view = buffer.view_mut();
    let part = view.slice_mut(1..5).unwrap().recast::<C64>().unwrap();
    let wanted = match taken(handle.scal(twice, VectorMut::new(part))) {
        Some(()) => [0.5, 4.0, 2.0, -8.0, 6.0, -5.0],
        None => NUMBERS,
    };
    assert_eq!(stream.download(&buffer).unwrap(), wanted);
    // From an offset where they may begin, on every platform.
    let mut view = buffer.view_mut();
    let part = view.slice_mut(0..4).unwrap().recast::<C64>().unwrap();
    handle.scal(twice, VectorMut::new(part)).unwrap();
    let after = stream.download(&buffer).unwrap();
    assert_eq!(after[..2], [-2.0 * wanted[1], 2.0 * wanted[0]]);
}

#[test]
fn a_vector_among_many() {
    let (stream, handle) = under_test::handle();
    let (x, y) = (stream.upload(&NUMBERS).unwrap(), stream.upload(&[C64::new(1.0, 1.0)]).unwrap());
    let at = |index: usize| Vector::new(x.view().slice(index..index + 2).unwrap().recast::<C64>().unwrap());
    let (one, other) = (Vector::new(y.view()), Vector::new(y.view()));
    let many = VectorBatch::from_vectors([at(0), at(3)]).unwrap();
    if let Some(sums) = taken(handle.dot_batch(many, VectorBatch::from_vectors([one, other]).unwrap())) {
        assert_eq!(sums, [C64::new(-0.5, 1.5), C64::new(-1.0, 7.0)]);
    }
    let whole = VectorBatch::from_vectors([at(0), at(4)]).unwrap();
    let (one, other) = (Vector::new(y.view()), Vector::new(y.view()));
    let sums = handle.dot_batch(whole, VectorBatch::from_vectors([one, other]).unwrap()).unwrap();
    assert_eq!(sums, [C64::new(-0.5, 1.5), C64::new(9.0, -1.0)]);
}

#[test]
fn a_matrix_among_many() {
    let (stream, handle) = under_test::handle();
    let numbers: [f32; 6] = [1.0, 2.0, -3.0, 4.0, 5.0, 6.0];
    let a = stream.upload(&numbers).unwrap();
    let part = |start: usize| a.view().slice(start..start + 2).unwrap().recast::<C32>().unwrap();
    let at = |start| Matrix::new(part(start), 1, 1, Layout::RowMajor).unwrap();
    let one = stream.upload(&[C32::new(0.0, 1.0)]).unwrap();
    let one = || Matrix::new(one.view(), 1, 1, Layout::RowMajor).unwrap();
    for (starts, wanted) in [
        ([0, 4], [C32::new(-2.0, 1.0), C32::new(-6.0, 5.0)]),
        ([1, 3], [C32::new(3.0, 2.0), C32::new(-5.0, 4.0)]),
    ] {
        let mut c = stream.alloc_zeros::<C32>(2).unwrap();
        let outcome = handle.gemm(
            C32::new(1.0, 0.0),
            MatrixBatch::from_matrices(starts.map(at)).unwrap(),
            MatrixBatch::from_matrices([one(), one()]).unwrap(),
            C32::new(0.0, 0.0),
            MatrixBatchMut::strided(c.view_mut(), (1, 1), Layout::RowMajor, None, (2, 1)).unwrap(),
        );
        match starts {
            [0, 4] => outcome.unwrap(),
            _ => match taken(outcome) {
                Some(()) => {}
                None => continue,
            },
        }
        assert_eq!(stream.download(&c).unwrap(), wanted);
    }
}

#[test]
fn a_scalar_on_the_device() {
    let (stream, handle) = under_test::handle();
    let scalars = stream.upload(&NUMBERS).unwrap();
    let alpha = scalars.view().slice(1..3).unwrap().recast::<C64>().unwrap();
    let x = stream.upload(&[C64::new(1.0, 1.0)]).unwrap();
    let mut y = stream.upload(&[C64::new(0.0, 0.0)]).unwrap();
    let outcome = handle.axpy(alpha, Vector::new(x.view()), VectorMut::new(y.view_mut()));
    let wanted = taken(outcome).map_or(C64::new(0.0, 0.0), |()| C64::new(3.0, -1.0));
    assert_eq!(stream.download(&y).unwrap(), [wanted]);
}

#[test]
fn a_stride_that_a_single_member_does_not_use() {
    let (stream, handle) = under_test::handle();
    let (x, mut y) = (stream.upload(&[1.5_f64]).unwrap(), stream.upload(&[2.0]).unwrap());
    let many = VectorBatch::strided(x.view(), 1, 1, (1, usize::MAX)).unwrap();
    let into = VectorBatchMut::from_vectors([VectorMut::new(y.view_mut())]).unwrap();
    handle.axpy(2.0, many, into).unwrap();
    assert_eq!(stream.download(&y).unwrap(), [5.0]);
}
