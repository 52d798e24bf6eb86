//! Products of a matrix with its own transpose.

use super::{check_matrix, operation};
use crate::plan::Plan;
use crate::stored::Stored;
use crate::{Blas, Complex, Error, Handle, MatrixBatch, MatrixBatchMut, Result, Scalar, Triangle, convert};

impl Handle {
    /// `c = alpha a aᵀ + beta c`, for a symmetric `c` (also where numbers are complex) of which one triangle is read and written, and `a` of n x k
    /// in any layout. For `aᵀ a`, give `a.t()`.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::BatchCount`], and the errors of a call; [`Error::NotSupported`] if `a` is conjugated.
    #[doc(alias = "rocblas_ssyrk")]
    #[doc(alias = "rocblas_dsyrk")]
    #[doc(alias = "rocblas_csyrk")]
    #[doc(alias = "rocblas_zsyrk")]
    pub fn syrk<'a, T: Blas>(
        &self,
        triangle: Triangle,
        alpha: impl Into<Scalar<'a, T>>,
        a: impl Into<MatrixBatch<'a, T>>,
        beta: impl Into<Scalar<'a, T>>,
        c: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "syrk";
        let (alpha, a, beta, c) = (alpha.into(), a.into(), beta.into(), c.into());
        check_matrix(OP, "c", c.stored, a.rows(), a.rows())?;
        if a.stored.flag.conjugated {
            let remedy = "conjugate a copy, or take herk";
            return Err(Error::NotSupported { op: OP, what: "a conjugated factor", remedy });
        }
        let uplo = convert::fill(triangle.flip_if(c.stored.flag.transposed));
        let how = (uplo, operation(OP, a.stored.flag)?);
        let (n, k) = (a.rows(), a.cols());
        let mut plan = Plan::new(OP);
        let (alpha, beta) = (plan.scalar(&alpha)?, plan.scalar(&beta)?);
        plan.read_matrix(a)?;
        plan.write_matrix(c)?;
        let size = (convert::size(n), convert::size(k));
        // SAFETY: S2: the operands have these sizes.
        unsafe { plan.submit(self, |call, o| T::syrk(call, how, size, alpha, o[0], beta, o[1])) }
    }

    /// `c = alpha a aᴴ + beta c`, for a Hermitian `c` of which one triangle is read and written and whose diagonal becomes real, and `a` of n x k. For
    /// `aᴴ a`, give `a.h()`.
    ///
    /// # Errors
    /// As [`Handle::syrk`]; [`Error::NotSupported`] if `a` and `c` are stored in different layouts, or in the same and `a` is transposed without
    /// being conjugated: `aᴴ` would then need conjugation alone.
    #[doc(alias = "rocblas_cherk")]
    #[doc(alias = "rocblas_zherk")]
    pub fn herk<'a, T: Complex>(
        &self,
        triangle: Triangle,
        alpha: impl Into<Scalar<'a, T::Real>>,
        a: impl Into<MatrixBatch<'a, T>>,
        beta: impl Into<Scalar<'a, T::Real>>,
        c: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "herk";
        let (alpha, mut a, beta, mut c) = (alpha.into(), a.into(), beta.into(), c.into());
        check_matrix(OP, "c", c.stored, a.rows(), a.rows())?;
        // A row-major c is stored conjugated, and so are both factors. C supports a factor that is unchanged, and one that is transposed and
        // conjugated.
        let ways = c.stored.ways().flat_map(|c| a.stored.ways().map(move |a| (a, c)));
        let usable = |(a, c): (Stored, Stored)| {
            let flag = a.flag.conj(c.flag.transposed);
            (flag.transposed == flag.conjugated).then_some((a, c, flag))
        };
        let Some((stored, result, flag)) = ways.filter_map(usable).next() else {
            let what = "a factor that would have to be conjugated or transposed alone";
            let remedy = "store it in the layout of the result, and take h() of it or not";
            return Err(Error::NotSupported { op: OP, what, remedy });
        };
        (a.stored, c.stored) = (stored, result);
        let transposed = result.flag.transposed;
        let how = (convert::fill(triangle.flip_if(transposed)), operation(OP, flag)?);
        let (n, k) = (a.rows(), a.cols());
        let mut plan = Plan::new(OP);
        let (alpha, beta) = (plan.scalar(&alpha)?, plan.scalar(&beta)?);
        plan.read_matrix(a)?;
        plan.write_matrix(c)?;
        let size = (convert::size(n), convert::size(k));
        // SAFETY: S2: the operands have these sizes.
        unsafe { plan.submit(self, |call, o| T::herk(call, how, size, alpha, o[0], beta, o[1])) }
    }
}
