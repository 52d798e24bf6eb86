//! Products of matrices.

use super::{check_matrix, expressible, operation};
use crate::plan::Plan;
use crate::{Element, Handle, MatrixBatch, MatrixBatchMut, Result, Scalar, convert};

impl Handle {
    /// `c = alpha a b + beta c`, for `a` of m x k, `b` of k x n and `c` of m x n, each in any layout, transposed (`t()`) or conjugate
    /// transposed (`h()`).
    ///
    /// If alpha or k is 0, neither `a` nor `b` is read; if beta is 0, `c` is not read, so NaNs there have no effect. Products of 16-bit
    /// numbers are summed in `f32`, and alpha and beta are then `f32`. With batches there is one product for each member of `c`; a single `a` or
    /// `b` is used for all of them.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let platform = hip_host::platform();
    /// # let stream = hip_safe::Device::new(&platform, 0)?.new_stream()?;
    /// use rocblas_safe::{Handle, Layout::RowMajor, Matrix, MatrixMut};
    /// let handle = Handle::new(&stream)?;
    /// let a = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0])?; // [1 2] over [3 4]
    /// let b = stream.upload(&[5.0_f32, 6.0])?; // a column
    /// let mut c = stream.alloc_zeros::<f32>(2)?;
    /// handle.gemm(
    ///     1.0,
    ///     Matrix::new(a.view(), 2, 2, RowMajor)?,
    ///     Matrix::new(b.view(), 2, 1, RowMajor)?,
    ///     0.0,
    ///     MatrixMut::new(c.view_mut(), 2, 1, RowMajor)?,
    /// )?;
    /// assert_eq!(stream.download(&c)?, [17.0, 39.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::BatchCount`](crate::Error::BatchCount), and the errors of a call.
    /// [`Error::NotSupported`](crate::Error::NotSupported) for an operand that would have to be conjugated and not transposed: `a.h()` stored in the other
    /// layout than `c`.
    #[doc(alias = "rocblas_sgemm")]
    #[doc(alias = "rocblas_dgemm")]
    #[doc(alias = "rocblas_cgemm")]
    #[doc(alias = "rocblas_zgemm")]
    #[doc(alias = "rocblas_sgemm_batched")]
    #[doc(alias = "rocblas_sgemm_strided_batched")]
    #[doc(alias = "rocblas_gemm_ex")]
    pub fn gemm<'a, T: Element>(
        &self,
        alpha: impl Into<Scalar<'a, T::Scale>>,
        a: impl Into<MatrixBatch<'a, T>>,
        b: impl Into<MatrixBatch<'a, T>>,
        beta: impl Into<Scalar<'a, T::Scale>>,
        c: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "gemm";
        let (mut a, mut b, mut c) = (a.into(), b.into(), c.into());
        let (alpha, beta) = (alpha.into(), beta.into());
        check_matrix(OP, "b", b.stored, a.cols(), c.cols())?;
        check_matrix(OP, "c", c.stored, a.rows(), b.cols())?;
        (c.stored, [a.stored, b.stored]) = expressible(c.stored, [a.stored, b.stored]);
        if c.stored.flag.transposed {
            // The stored columns are then the transposed result, which is the product of the transposed b and a.
            (a, b, c) = (b.t(), a.t(), c.t());
        }
        let (m, n, k) = (c.rows(), c.cols(), a.cols());
        let trans = (operation(OP, a.stored.flag)?, operation(OP, b.stored.flag)?);
        let mut plan = Plan::new(OP);
        let (alpha, beta) = (plan.scalar(&alpha)?, plan.scalar(&beta)?);
        plan.read_matrix(a)?;
        plan.read_matrix(b)?;
        plan.write_matrix(c)?;
        plan.batch_count()?;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let size = (convert::size(m), convert::size(n), convert::size(k));
        // SAFETY: S2: the operands have these sizes.
        unsafe { plan.submit(self, |call, o| T::gemm(call, trans, size, alpha, o[0], o[1], beta, o[2])) }
    }
}
