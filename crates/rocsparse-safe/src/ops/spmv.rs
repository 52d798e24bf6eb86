//! A sparse matrix times a vector.

use super::{Op, factor};
use crate::matrix::Operand;
use crate::parts::Format;
use crate::prepared::{Prepared, check_length, nowhere};
use crate::{Error, Handle, Index, Order, Result, Scalar, SparseMatrix, convert, raw};
use hip_safe::{DeviceSlice, DeviceSliceMut};

/// A product y = α·op(A)·x + β·y, prepared for a matrix A: CSR, CSC, COO, ELL, or BSR without an operation on it.
///
/// Dropping it waits for the device.
pub struct Spmv<A, V> {
    prepared: Prepared,
    matrix: SparseMatrix<A, V>,
    op: Op,
}

const WHAT: &str = "a product with a vector";

impl<I: Index, T: Scalar, A: DeviceSlice<Item = I>, V: DeviceSlice<Item = T>> Spmv<A, V> {
    /// Asks for the work memory, takes it from the stream's pool, and looks at the matrix, which is owned or borrowed
    /// ([`SparseMatrix::view`]).
    ///
    /// # Errors
    /// [`Error::Order`] for a COO matrix whose rows do not ascend; [`Error::Format`] for the transpose of a BSR matrix; [`Error::Status`] if the
    /// library has no such product; [`Error::Hip`], with [`Capturing`](hip_safe::Error::Capturing) while the stream captures.
    #[doc(alias = "rocsparse_spmv")]
    #[doc(alias = "rocsparse_create_csr_descr")]
    #[doc(alias = "rocsparse_create_csc_descr")]
    #[doc(alias = "rocsparse_create_coo_descr")]
    #[doc(alias = "rocsparse_create_bsr_descr")]
    #[doc(alias = "rocsparse_create_ell_descr")]
    pub fn prepare(handle: &Handle, op: Op, matrix: SparseMatrix<A, V>) -> Result<Self> {
        matrix.ordered().require(WHAT, Order::Grouped)?;
        if let (Format::Bsr { .. }, true) = (matrix.format(), op != Op::None) {
            let (operation, format) = ("a product of a transpose with a vector", matrix.format());
            return Err(Error::Format { operation, format, takes: "CSR, CSC, COO, ELL" });
        }
        let [rows, cols] = op.of(matrix.shape());
        let (number, c_op) = (T::ZERO, convert::operation(op));
        // SAFETY: S1, S2: descriptors of vectors live during the call, which does not use their elements before it computes.
        let prepared = unsafe {
            Prepared::new(handle, WHAT, &[&matrix as &dyn Operand], |api, descriptors, stage| {
                let x = raw::create_dnvec(api, cols, nowhere(), T::TYPE)?;
                let y = raw::create_dnvec(api, rows, nowhere(), T::TYPE)?;
                let factors = [factor(&number); 2];
                raw::spmv(api, c_op, factors, descriptors[0], (x.raw, y.raw), T::TYPE, stage)
            })
        }?;
        Ok(Self { prepared, matrix, op })
    }

    /// Computes y = α·op(A)·x + β·y. With β = 0 what y was does not matter.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::Status`]; [`Error::Hip`].
    #[doc(alias = "rocsparse_spmv")]
    #[doc(alias = "rocsparse_create_dnvec_descr")]
    pub fn compute(
        &self,
        alpha: T,
        x: &(impl DeviceSlice<Item = T> + ?Sized),
        beta: T,
        y: &mut (impl DeviceSliceMut<Item = T> + ?Sized),
    ) -> Result<()> {
        let [rows, cols] = self.op.of(self.matrix.shape());
        let (x, mut y) = (x.as_view(), y.as_view_mut());
        check_length("x", cols, x.len())?;
        check_length("y", rows, y.len())?;
        if rows == 0 {
            return Ok(());
        }
        let (from, to) = (x.device_ptr().cast_mut().cast(), y.device_ptr_mut().cast());
        let mut submission = self.prepared.stream().submission();
        self.matrix.read(&mut submission);
        submission.read(&x).write(&mut y);
        let op = convert::operation(self.op);
        // SAFETY: S1, S2: the vectors have these lengths, and the descriptors and the factors live during the call.
        unsafe {
            self.prepared.compute(submission, WHAT, |api, descriptors, stage| {
                let x = raw::create_dnvec(api, cols, from, T::TYPE)?;
                let y = raw::create_dnvec(api, rows, to, T::TYPE)?;
                let factors = [factor(&alpha), factor(&beta)];
                raw::spmv(api, op, factors, descriptors[0], (x.raw, y.raw), T::TYPE, stage)
            })
        }
    }

    /// The matrix.
    pub fn matrix(&self) -> &SparseMatrix<A, V> {
        &self.matrix
    }

    /// Gives the matrix back.
    pub fn into_matrix(self) -> SparseMatrix<A, V> {
        self.matrix
    }
}
