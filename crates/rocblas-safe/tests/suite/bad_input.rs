//! What does not fit is an error before any call: the outputs are as they were.

use crate::under_test;
use hip_safe::DeviceBuffer;
use num_complex::Complex32;
use rocblas_safe::{
    BandMatrix, Diagonal, Error, Handle, Layout, Matrix, MatrixBatch, MatrixBatchMut, MatrixMut, Result,
    Side, Triangle, Vector, VectorBatch, VectorBatchMut, VectorMut,
};

const ROWS: Layout = Layout::RowMajor;
const COLS: Layout = Layout::ColMajor;

#[track_caller]
fn message<T>(result: Result<T>, part: &str) {
    match result {
        Ok(_) => panic!("no error"),
        Err(Error::Status { function, .. }) => panic!("{function} was called"),
        Err(error) => assert!(error.to_string().contains(part), "{error}"),
    }
}

#[test]
fn leading_dimensions_and_spans() {
    let stream = under_test::stream();
    let mut buffer = stream.alloc_zeros::<f32>(12).unwrap();
    message(
        Matrix::with_ld(buffer.view(), 3, 4, ROWS, 3),
        "row-major matrix of 3 x 4 needs a leading dimension of 4",
    );
    message(Matrix::with_ld(buffer.view(), 3, 4, COLS, 2), "leading dimension of 3 at least, not 2");
    message(Matrix::with_ld(buffer.view(), 3, 4, COLS, 0), "leading dimension of 3 at least");
    message(Matrix::with_ld(buffer.view(), 3, 4, ROWS, 5), "reaches over 14 elements, and the view has 12");
    // The last row needs no gap behind it.
    assert!(Matrix::with_ld(buffer.view(), 3, 2, ROWS, 5).is_ok());
    message(Matrix::new(buffer.view(), 4, 4, ROWS), "reaches over 16 elements");
    message(MatrixMut::new(buffer.view_mut(), 4, 4, ROWS), "reaches over 16 elements");
    message(Vector::with_inc(buffer.view(), 5, -3), "reaches over 13 elements");
    message(VectorMut::with_inc(buffer.view_mut(), 5, 3), "reaches over 13 elements");
    message(Vector::with_inc(buffer.view(), 2, 0), "increment of a vector of 2 elements is 0");
    message(VectorBatch::strided(buffer.view(), 3, 1, (4, 4)), "reaches over 15 elements");
    message(MatrixBatch::strided(buffer.view(), (2, 2), ROWS, None, (3, 5)), "reaches over 14 elements");
    message(BandMatrix::new(buffer.view(), (5, 5), (1, 1), COLS, None), "reaches over 15 elements");
    message(BandMatrix::new(buffer.view(), (3, 3), (1, 1), COLS, Some(2)), "leading dimension of 3 at least");
}

#[test]
fn sizes_past_an_address_space() {
    let stream = under_test::stream();
    let buffer = stream.alloc_zeros::<f32>(12).unwrap();
    let huge = usize::MAX / 2;
    message(Matrix::new(buffer.view(), huge, huge, ROWS), "larger than an address space");
    message(Matrix::with_ld(buffer.view(), 2, 2, ROWS, usize::MAX), "larger than an address space");
    message(Vector::with_inc(buffer.view(), 3, isize::MIN), "larger than an address space");
    message(
        MatrixBatch::strided(buffer.view(), (2, 2), ROWS, None, (huge, huge)),
        "larger than an address space",
    );
    message(
        BandMatrix::new(buffer.view(), (2, 2), (usize::MAX, 1), COLS, None),
        "larger than an address space",
    );
}

#[test]
fn strides_that_need_a_copy() {
    let stream = under_test::stream();
    let buffer = stream.alloc_zeros::<f32>(24).unwrap();
    for (row_stride, col_stride) in [(2, 6), (0, 1), (1, 0), (1, 1), (6, 2)] {
        message(
            Matrix::from_strides(buffer.view(), 2, 3, row_stride, col_stride),
            "Copy it to a matrix of its own",
        );
    }
}

#[test]
fn outputs_that_overlap() {
    let stream = under_test::stream();
    let mut buffer = stream.alloc_zeros::<f32>(24).unwrap();
    message(
        MatrixBatchMut::strided(buffer.view_mut(), (2, 3), ROWS, None, (2, 0)),
        "2 outputs with a stride of 0 overlap",
    );
    message(MatrixBatchMut::strided(buffer.view_mut(), (2, 3), ROWS, None, (2, 5)), "overlap");
    message(MatrixBatchMut::strided(buffer.view_mut(), (2, 3), ROWS, Some(6), (2, 2)), "overlap");
    // Side by side they do not.
    assert!(MatrixBatchMut::strided(buffer.view_mut(), (2, 3), ROWS, Some(6), (2, 3)).is_ok());
    message(VectorBatchMut::strided(buffer.view_mut(), 4, 1, (3, 3)), "overlap");
    message(VectorBatchMut::strided(buffer.view_mut(), 4, 2, (2, 2)), "overlap");
    assert!(VectorBatchMut::strided(buffer.view_mut(), 4, 2, (2, 1)).is_ok());
}

#[test]
fn members_that_differ() {
    let stream = under_test::stream();
    let buffer = stream.alloc_zeros::<f32>(24).unwrap();
    let matrix = |rows, cols, layout, ld| Matrix::with_ld(buffer.view(), rows, cols, layout, ld).unwrap();
    let first = matrix(2, 2, ROWS, 2);
    message(
        MatrixBatch::from_matrices([first, matrix(2, 3, ROWS, 3)]),
        "member 1 of a batch differs from the first in its size",
    );
    message(MatrixBatch::from_matrices([first, first, matrix(2, 2, ROWS, 3)]), "member 2");
    message(MatrixBatch::from_matrices([first, first.t()]), "layout or leading dimension");
    let vector = |len, inc| Vector::with_inc(buffer.view(), len, inc).unwrap();
    message(VectorBatch::from_vectors([vector(3, 1), vector(3, 2)]), "increment");
    message(VectorBatch::from_vectors([vector(3, 1), vector(4, 1)]), "length");
    let band = |ku| BandMatrix::new(buffer.view(), (2, 2), (0, ku), COLS, None).unwrap();
    message(BandMatrix::from_matrices([band(0), band(1)]), "diagonals");
    message(BandMatrix::<f32>::from_matrices([]), "there is none");
}

/// A handle, and an output that no call may have written.
struct Bench {
    stream: hip_safe::Stream,
    handle: Handle,
    a: DeviceBuffer<f32>,
    c: DeviceBuffer<f32>,
}

impl Bench {
    fn new() -> Self {
        let (stream, handle) = under_test::handle();
        let a = stream.upload(&[1.0_f32; 36]).unwrap();
        let c = stream.upload(&[7.0_f32; 36]).unwrap();
        Self { stream, handle, a, c }
    }

    fn matrix(&self, rows: usize, cols: usize) -> Matrix<'_, f32> {
        Matrix::new(self.a.view(), rows, cols, ROWS).unwrap()
    }

    fn vector(&self, len: usize) -> Vector<'_, f32> {
        Vector::with_inc(self.a.view(), len, 1).unwrap()
    }

    /// Calls with an output of that size, and wants an error and nothing written.
    #[track_caller]
    fn refused(
        &mut self,
        (rows, cols): (usize, usize),
        part: &str,
        call: impl for<'b> FnOnce(
            &Handle,
            &dyn Fn(usize, usize) -> Matrix<'b, f32>,
            MatrixMut<'b, f32>,
        ) -> Result<()>,
    ) {
        let Self { stream, handle, a, c } = self;
        let matrix = |rows, cols| Matrix::new(a.view(), rows, cols, ROWS).unwrap();
        let result = MatrixMut::new(c.view_mut(), rows, cols, ROWS).unwrap();
        message(call(handle, &matrix, result), part);
        assert_eq!(stream.download(c).unwrap(), [7.0; 36]);
    }
}

#[test]
fn matrices_that_do_not_fit() {
    let mut bench = Bench::new();
    let (left, upper, stored) = (Side::Left, Triangle::Upper, Diagonal::Stored);
    bench.refused((2, 3), "gemm: b is 5 x 3, and 4 x 3 is needed", |h, m, c| {
        h.gemm(1.0, m(2, 4), m(5, 3), 0.0, c)
    });
    bench.refused((2, 3), "gemm: c is 2 x 3, and 5 x 3 is needed", |h, m, c| {
        h.gemm(1.0, m(5, 4), m(4, 3), 0.0, c)
    });
    bench.refused((2, 3), "gemm: b is 4 x 2, and 4 x 3 is needed", |h, m, c| {
        h.gemm(1.0, m(2, 4), m(4, 2), 0.0, c)
    });
    bench.refused((2, 3), "symm: a is 3 x 3, and 2 x 2 is needed", |h, m, c| {
        h.symm(left, upper, 1.0, m(3, 3), m(2, 3), 0.0, c)
    });
    bench.refused((2, 3), "symm: b is 3 x 2", |h, m, c| h.symm(left, upper, 1.0, m(2, 2), m(3, 2), 0.0, c));
    bench.refused((2, 3), "syrk: c is 2 x 3, and 2 x 2 is needed", |h, m, c| {
        h.syrk(upper, 1.0, m(2, 4), 0.0, c)
    });
    bench
        .refused((2, 3), "trmm: a is 2 x 3", |h, m, c| h.trmm(left, upper, stored, 1.0, m(2, 3), m(2, 3), c));
    bench.refused((2, 3), "trsm: a is 3 x 3", |h, m, c| h.trsm(left, upper, stored, 1.0, m(3, 3), c));
    bench.refused((2, 3), "trsm: a is 2 x 2", |h, m, c| h.trsm(Side::Right, upper, stored, 1.0, m(2, 2), c));
    bench.refused((2, 3), "geam: b is 3 x 2", |h, m, c| h.geam(1.0, m(2, 3), 1.0, m(3, 2), c));
    bench.refused((2, 3), "gemm_ex: c is 3 x 3", |h, m, c| {
        h.gemm_ex(1.0_f32, m(2, 4), m(4, 3), 0.0_f32, m(3, 3), c)
    });
    bench.refused((2, 3), "in another layout than the result", |h, m, c| {
        h.trmm(left, upper, stored, 1.0, m(2, 2), m(3, 2).t(), c)
    });
}

#[test]
fn vectors_that_do_not_fit() {
    let bench = Bench::new();
    let mut y = bench.stream.upload(&[7.0_f32; 3]).unwrap();
    let (h, two) = (&bench.handle, bench.vector(2));
    message(h.axpy(1.0, two, &mut y), "axpy: the length of x is 2, and 3 is needed");
    message(h.copy(two, &mut y), "copy: the length of x is 2");
    message(h.dot(two, &y), "the length of x is 2");
    message(h.gemv(1.0, bench.matrix(3, 4), two, 0.0, &mut y), "gemv: the length of x is 2, and 4 is needed");
    message(h.gemv(1.0, bench.matrix(4, 2), two, 0.0, &mut y), "gemv: the length of y is 3, and 4 is needed");
    message(h.trmv(Triangle::Upper, Diagonal::Unit, bench.matrix(2, 2), &mut y), "trmv: a is 2 x 2");
    message(h.trsv(Triangle::Upper, Diagonal::Unit, bench.matrix(2, 3), &mut y), "trsv: a is 2 x 3");
    message(h.symv(Triangle::Upper, 1.0, bench.matrix(3, 3), two, 0.0, &mut y), "symv: the length of x is 2");
    let band = BandMatrix::new(bench.a.view(), (4, 4), (1, 1), COLS, None).unwrap();
    message(h.gbmv(1.0, band, bench.vector(4), 0.0, &mut y), "gbmv: the length of y is 3, and 4 is needed");
    message(h.iamax(Vector::with_inc(bench.a.view(), 3, -1).unwrap()), "a negative increment is not in BLAS");
    assert_eq!(bench.stream.download(&y).unwrap(), [7.0; 3]);
}

#[test]
fn batches_that_do_not_fit() {
    let bench = Bench::new();
    let mut c = bench.stream.upload(&[7.0_f32; 12]).unwrap();
    let (h, square) = (&bench.handle, bench.matrix(2, 2));
    let batch = MatrixBatchMut::strided(c.view_mut(), (2, 2), ROWS, None, (3, 4)).unwrap();
    message(h.gemm(1.0, square.repeat(2), square, 0.0, batch), "operands of 2 and of 3 members");
    let single = MatrixMut::new(c.slice_mut(..4).unwrap(), 2, 2, ROWS).unwrap();
    message(h.gemm(1.0, square.repeat(2), square, 0.0, single), "operands of 2 and of 1 members");
    message(h.dot(bench.vector(3).repeat(2), bench.vector(3)), "operands of 1 and of 2 members");
    let many = VectorBatchMut::strided(c.view_mut(), 3, 1, (3, 4)).unwrap();
    message(h.axpy(1.0, bench.vector(3).repeat(4), many), "operands of 4 and of 3 members");
    assert_eq!(bench.stream.download(&c).unwrap(), [7.0; 12]);
}

#[test]
fn conjugation_that_blas_lacks() {
    let (stream, handle) = under_test::handle();
    let a = stream.upload(&[Complex32::new(1.0, 2.0); 6]).unwrap();
    let mut y = stream.upload(&[Complex32::new(7.0, 7.0); 2]).unwrap();
    let x = Vector::with_inc(a.view(), 3, 1).unwrap();
    let (one, zero) = (Complex32::new(1.0, 0.0), Complex32::new(0.0, 0.0));
    let by_rows = Matrix::new(a.view(), 3, 2, ROWS).unwrap();
    message(
        handle.gemv(one, by_rows.h(), x, zero, &mut y),
        "conjugated and, as it is stored, not transposed",
    );
    assert_eq!(stream.download(&y).unwrap(), [Complex32::new(7.0, 7.0); 2]);
    let by_columns = Matrix::new(a.view(), 3, 2, COLS).unwrap();
    handle.gemv(one, by_columns.h(), x, zero, &mut y).unwrap();
    // (1 - 2i)(1 + 2i), three times.
    assert_eq!(stream.download(&y).unwrap(), [Complex32::new(15.0, 0.0); 2]);
}

#[test]
fn memory_and_streams_of_another_device() {
    let Some((first, second)) = under_test::two_devices() else { return };
    let stream = first.new_stream().unwrap();
    let handle = Handle::with_workspace(&stream, 1 << 16).unwrap();
    let elsewhere = second.new_stream().unwrap();
    message(handle.set_stream(&elsewhere), "cannot be used on");
    assert_eq!(handle.stream(), stream);
    let far = elsewhere.upload(&[1.0_f32; 4]).unwrap();
    let mut near = stream.upload(&[7.0_f32; 4]).unwrap();
    message(handle.axpy(1.0, &far, &mut near), "the buffer belongs to");
    let factor = elsewhere.upload(&[1.0_f32]).unwrap();
    message(handle.scal(factor.view(), &mut near), "the buffer belongs to");
    message(handle.nrm2(&far), "the buffer belongs to");
    assert_eq!(stream.download(&near).unwrap(), [7.0; 4]);
    let members = [Vector::new(far.view()), Vector::new(far.view())];
    message(handle.dot_batch(VectorBatch::from_vectors(members).unwrap(), &near), "the buffer belongs to");
}
