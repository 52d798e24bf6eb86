//! Matrices on the device, with gaps that have to stay as they are.

use crate::dense::{C, Dense, Judged};
use hip_safe::{DeviceBuffer, Stream};
use rocblas_safe::{Layout::ColMajor, Matrix, MatrixBatch, MatrixBatchMut, MatrixMut};

/// In the gaps. No computed element is that large.
const GAP: C = C::new(1e30, 0.0);

/// One matrix, or a batch.
pub(crate) struct Operand<T: Judged> {
    pub(crate) buffer: DeviceBuffer<T>,
    rows: usize,
    cols: usize,
    ld: usize,
    stride: usize,
    members: usize,
    kind: Kind,
}

/// How a test gives its matrices.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    One,
    Strided,
    /// As matrices that lie anywhere.
    Anywhere,
}

impl<T: Judged> Operand<T> {
    pub(crate) fn one(stream: &Stream, matrix: &Dense) -> Self {
        Self { kind: Kind::One, ..Self::batch(stream, std::slice::from_ref(matrix)) }
    }

    pub(crate) fn batch(stream: &Stream, matrices: &[Dense]) -> Self {
        let (rows, cols) = (matrices[0].rows, matrices[0].cols);
        let (ld, members) = (rows.max(1) + 3, matrices.len());
        let stride = ld * cols.max(1) + 5;
        let mut all = vec![T::of(GAP); stride * members];
        for (member, matrix) in matrices.iter().enumerate() {
            for j in 0..cols {
                for i in 0..rows {
                    all[member * stride + j * ld + i] = T::of(matrix[(i, j)]);
                }
            }
        }
        let buffer = stream.upload(&all).unwrap();
        Self { buffer, rows, cols, ld, stride, members, kind: Kind::Strided }
    }

    /// A batch of matrices that lie anywhere.
    pub(crate) fn anywhere(stream: &Stream, matrices: &[Dense]) -> Self {
        Self { kind: Kind::Anywhere, ..Self::batch(stream, matrices) }
    }

    pub(crate) fn read(&self) -> MatrixBatch<'_, T> {
        let (count, size) = ((self.members, self.stride), (self.rows, self.cols));
        let one = |view| Matrix::with_ld(view, self.rows, self.cols, ColMajor, self.ld).unwrap();
        let view = self.buffer.view();
        match self.kind {
            Kind::One => one(view).into(),
            Kind::Strided => MatrixBatch::strided(view, size, ColMajor, Some(self.ld), count).unwrap(),
            Kind::Anywhere => {
                let part = |member: usize| view.slice(member * self.stride..).unwrap();
                MatrixBatch::from_matrices((0..self.members).map(|member| one(part(member)))).unwrap()
            }
        }
    }

    pub(crate) fn write(&mut self) -> MatrixBatchMut<'_, T> {
        let (count, size) = ((self.members, self.stride), (self.rows, self.cols));
        let (rows, cols, ld, stride) = (self.rows, self.cols, self.ld, self.stride);
        let one = |view| MatrixMut::with_ld(view, rows, cols, ColMajor, ld).unwrap();
        let view = self.buffer.view_mut();
        match self.kind {
            Kind::One => one(view).into(),
            Kind::Strided => MatrixBatchMut::strided(view, size, ColMajor, Some(ld), count).unwrap(),
            Kind::Anywhere => {
                let mut rest = Some(view);
                let mut parts = Vec::new();
                for _ in 0..self.members {
                    let (part, others) = rest.take().unwrap().into_split_at(stride).unwrap();
                    parts.push(one(part));
                    rest = Some(others);
                }
                MatrixBatchMut::from_matrices(parts).unwrap()
            }
        }
    }

    /// All members. Fails if something wrote between their columns.
    #[track_caller]
    pub(crate) fn download(&self, stream: &Stream) -> Vec<Dense> {
        let all = stream.download(&self.buffer).unwrap();
        for (index, element) in all.iter().enumerate() {
            let (column, row) = (index % self.stride / self.ld, index % self.stride % self.ld);
            if column >= self.cols || row >= self.rows {
                assert_eq!(*element, T::of(GAP), "a gap was written, at index {index}");
            }
        }
        let at = |member: usize| {
            Dense::from_fn(self.rows, self.cols, |i, j| all[member * self.stride + j * self.ld + i].wide())
        };
        (0..self.members).map(at).collect()
    }
}
