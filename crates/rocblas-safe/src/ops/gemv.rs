//! Products of a matrix and a vector.

use super::{check, operation};
use crate::flag::Flag;
use crate::plan::Plan;
use crate::raw::Operand;
use crate::{Blas, Handle, MatrixBatch, Result, Scalar, VectorBatch, VectorBatchMut, convert};

impl Handle {
    /// `y = alpha a x + beta y`, for `a` of m x n in any layout, transposed (`t()`) or conjugate transposed (`h()`).
    ///
    /// If beta is 0, `y` is not read. If `a` has no columns, `y` is scaled by beta.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::BatchCount`](crate::Error::BatchCount), and what a call can answer.
    /// [`Error::NotSupported`](crate::Error::NotSupported) for `h()` of a row-major matrix, which would have to be conjugated and not transposed.
    #[doc(alias = "rocblas_sgemv")]
    #[doc(alias = "rocblas_dgemv")]
    #[doc(alias = "rocblas_cgemv")]
    #[doc(alias = "rocblas_zgemv")]
    #[doc(alias = "rocblas_sgemv_batched")]
    #[doc(alias = "rocblas_sgemv_strided_batched")]
    pub fn gemv<'a, T: Blas>(
        &self,
        alpha: impl Into<Scalar<'a, T>>,
        a: impl Into<MatrixBatch<'a, T>>,
        x: impl Into<VectorBatch<'a, T>>,
        beta: impl Into<Scalar<'a, T>>,
        y: impl Into<VectorBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "gemv";
        let (alpha, a, x, beta, y) = (alpha.into(), a.into(), x.into(), beta.into(), y.into());
        check(OP, "the length of x", x.len(), a.cols())?;
        check(OP, "the length of y", y.len(), a.rows())?;
        let trans = operation(OP, a.stored.flag)?;
        let (m, n) = (convert::size(a.stored.rows), convert::size(a.stored.cols));
        let rows = convert::size(y.len());
        let no_columns = x.is_empty() && !y.is_empty();
        let mut plan = Plan::new(OP);
        let (alpha, beta) = (plan.scalar(&alpha)?, plan.scalar(&beta)?);
        plan.read_matrix(a)?;
        plan.read_vector(x)?;
        plan.write_vector(y)?;
        if no_columns {
            // C leaves y alone then. As a row of the result of a product of nothing it is scaled.
            let none = operation(OP, Flag::NONE)?;
            // SAFETY: S2: the row has that many elements; the factors have none.
            return unsafe {
                plan.submit(self, |call, o| {
                    let (a, x) = (Operand { ld: 1, ..o[0] }, Operand { ld: 1, ..o[1] });
                    let y = Operand { ld: o[2].ld.abs(), ..o[2] };
                    T::gemm(call, (none, none), (1, rows, 0), alpha, a, x, beta, y)
                })
            };
        }
        // SAFETY: S2: the operands have these sizes.
        unsafe { plan.submit(self, |call, o| T::gemv(call, trans, m, n, alpha, o[0], o[1], beta, o[2])) }
    }
}
