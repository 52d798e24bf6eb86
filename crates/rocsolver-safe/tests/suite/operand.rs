//! Matrices on the device, with gaps that have to stay as they are.

use crate::dense::{C, Dense, Judged};
use hip_safe::{DeviceBuffer, Stream};
use rocblas_safe::{Layout::ColMajor, MatrixBatch, MatrixBatchMut, MatrixMut};

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
    batched: bool,
}

impl<T: Judged> Operand<T> {
    pub(crate) fn one(stream: &Stream, matrix: &Dense) -> Self {
        Self { batched: false, ..Self::batch(stream, std::slice::from_ref(matrix)) }
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
        Self { buffer, rows, cols, ld, stride, members, batched: true }
    }

    pub(crate) fn read(&self) -> MatrixBatch<'_, T> {
        let (count, size) = ((self.members, self.stride), (self.rows, self.cols));
        if self.batched {
            return MatrixBatch::strided(self.buffer.view(), size, ColMajor, Some(self.ld), count).unwrap();
        }
        rocblas_safe::Matrix::with_ld(self.buffer.view(), self.rows, self.cols, ColMajor, self.ld)
            .unwrap()
            .into()
    }

    pub(crate) fn write(&mut self) -> MatrixBatchMut<'_, T> {
        let (count, size) = ((self.members, self.stride), (self.rows, self.cols));
        let view = self.buffer.view_mut();
        if self.batched {
            return MatrixBatchMut::strided(view, size, ColMajor, Some(self.ld), count).unwrap();
        }
        MatrixMut::with_ld(view, self.rows, self.cols, ColMajor, self.ld).unwrap().into()
    }

    /// All members. Fails if something wrote between their columns.
    #[track_caller]
    pub(crate) fn download(&self, stream: &Stream) -> Vec<Dense> {
        let all = stream.download(&self.buffer).unwrap();
        for (place, element) in all.iter().enumerate() {
            let (column, row) = (place % self.stride / self.ld, place % self.stride % self.ld);
            if column >= self.cols || row >= self.rows {
                assert_eq!(*element, T::of(GAP), "a gap was written, at {place}");
            }
        }
        let at = |member: usize| {
            Dense::from_fn(self.rows, self.cols, |i, j| all[member * self.stride + j * self.ld + i].wide())
        };
        (0..self.members).map(at).collect()
    }
}
