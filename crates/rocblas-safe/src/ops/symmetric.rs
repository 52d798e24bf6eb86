//! Level 2 with symmetric matrices.

use super::{check, check_matrix};
use crate::plan::Plan;
use crate::stored::Stored;
use crate::{
    Blas, Error, Handle, MatrixBatch, MatrixBatchMut, Result, Scalar, Triangle, VectorBatch, VectorBatchMut,
    convert,
};
use hip_sys::rocblas::rocblas_fill;

impl Handle {
    /// `y = alpha a x + beta y`, for a symmetric `a` (also where numbers are complex) of which one triangle is read.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::BatchCount`], and the errors of a call; [`Error::NotSupported`] for a conjugated `a`.
    #[doc(alias = "rocblas_ssymv")]
    #[doc(alias = "rocblas_dsymv")]
    #[doc(alias = "rocblas_csymv")]
    #[doc(alias = "rocblas_zsymv")]
    pub fn symv<'a, T: Blas>(
        &self,
        triangle: Triangle,
        alpha: impl Into<Scalar<'a, T>>,
        a: impl Into<MatrixBatch<'a, T>>,
        x: impl Into<VectorBatch<'a, T>>,
        beta: impl Into<Scalar<'a, T>>,
        y: impl Into<VectorBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "symv";
        let (alpha, a, x, beta, y) = (alpha.into(), a.into(), x.into(), beta.into(), y.into());
        let len = y.len();
        check_matrix(OP, "a", a.stored, len, len)?;
        check(OP, "the length of x", x.len(), len)?;
        let (uplo, n) = (symmetric(OP, a.stored, triangle)?, convert::size(len));
        let mut plan = Plan::new(OP);
        let (alpha, beta) = (plan.scalar(&alpha)?, plan.scalar(&beta)?);
        plan.read_matrix(a)?;
        plan.read_vector(x)?;
        plan.write_vector(y)?;
        // SAFETY: S2: the operands have these sizes.
        unsafe { plan.submit(self, |call, o| T::symv(call, uplo, n, alpha, o[0], o[1], beta, o[2])) }
    }

    /// `a = alpha x xᵀ + a`, for a symmetric `a` (also where numbers are complex) of which one triangle is read and written.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::BatchCount`], and the errors of a call.
    #[doc(alias = "rocblas_ssyr")]
    #[doc(alias = "rocblas_dsyr")]
    #[doc(alias = "rocblas_csyr")]
    #[doc(alias = "rocblas_zsyr")]
    pub fn syr<'a, T: Blas>(
        &self,
        triangle: Triangle,
        alpha: impl Into<Scalar<'a, T>>,
        x: impl Into<VectorBatch<'a, T>>,
        a: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "syr";
        let (alpha, x, a) = (alpha.into(), x.into(), a.into());
        check_matrix(OP, "a", a.stored, x.len(), x.len())?;
        let (uplo, n) = (symmetric(OP, a.stored, triangle)?, convert::size(x.len()));
        let mut plan = Plan::new(OP);
        let alpha = plan.scalar(&alpha)?;
        plan.read_vector(x)?;
        plan.write_matrix(a)?;
        // SAFETY: S2: the operands have these sizes.
        unsafe { plan.submit(self, |call, o| T::syr(call, uplo, n, alpha, o[0], o[1])) }
    }
}

/// The stored triangle of a symmetric matrix. Transposing the matrix changes only which triangle that is.
pub(super) fn symmetric(op: &'static str, a: Stored, triangle: Triangle) -> Result<rocblas_fill> {
    if a.flag.conjugated {
        let what = "a symmetric matrix that is conjugated";
        return Err(Error::NotSupported { op, what, remedy: "conjugate a copy" });
    }
    Ok(convert::fill(triangle.flip_if(a.flag.transposed)))
}
