//! Cholesky factors, and what is computed with them.

use crate::info::Meaning;
use crate::work::Work;
use crate::{Info, Lapack, Result, Solver, convert};
use rocblas_safe::{MatrixBatch, MatrixBatchMut, Triangle};

impl Solver<'_> {
    /// The factor of a positive definite Hermitian matrix, A = Uᴴ U or A = L Lᴴ, in place of its upper or lower triangle. The other triangle
    /// is neither read nor written.
    ///
    /// # Errors
    /// [`Error::Blas`](crate::Error::Blas) for operands that do not fit, and the errors of a call; by [`Info::check`],
    /// [`Error::NotPositiveDefinite`](crate::Error::NotPositiveDefinite): the factor is not complete.
    #[doc(alias = "rocsolver_spotrf")]
    #[doc(alias = "rocsolver_dpotrf")]
    #[doc(alias = "rocsolver_cpotrf")]
    #[doc(alias = "rocsolver_zpotrf")]
    pub fn potrf<'a, T: Lapack>(
        &self,
        triangle: Triangle,
        a: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<Info> {
        let (work, a) = Work::new("potrf", a.into())?;
        work.check("a", &a, a.rows, a.rows)?;
        let n = a.m;
        if n == 0 || work.members() == 0 {
            return Ok(work.nothing(self, Meaning::Minor));
        }
        let uplo = convert::fill(triangle);
        // SAFETY: S2: the matrices have this order.
        unsafe {
            work.submit_with_info(self, Meaning::Minor, |call, info| T::potrf(call, uplo, n, a.operand, info))
        }
    }

    /// `b = A⁻¹ b` by the factor that [`potrf`](Self::potrf) left in the triangle of `a`. A single factor serves all members of a batch of `b`.
    ///
    /// # Errors
    /// [`Error::Blas`](crate::Error::Blas) for operands that do not fit, and the errors of a call.
    #[doc(alias = "rocsolver_spotrs")]
    #[doc(alias = "rocsolver_dpotrs")]
    #[doc(alias = "rocsolver_cpotrs")]
    #[doc(alias = "rocsolver_zpotrs")]
    pub fn potrs<'a, T: Lapack>(
        &self,
        triangle: Triangle,
        a: impl Into<MatrixBatch<'a, T>>,
        b: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        let (mut work, b) = Work::new("potrs", b.into())?;
        let a = work.read("a", a.into())?;
        work.check("a", &a, b.rows, b.rows)?;
        let (n, nrhs) = (b.m, b.n);
        if n == 0 || nrhs == 0 || work.members() == 0 {
            return Ok(());
        }
        let uplo = convert::fill(triangle);
        // SAFETY: S2: the operands have these sizes.
        unsafe { work.submit(self, |call| T::potrs(call, uplo, n, nrhs, a.operand, b.operand)) }
    }

    /// `b = A⁻¹ b` for a positive definite A, whose triangle is overwritten by its factor: [`potrf`](Self::potrf) and [`potrs`](Self::potrs) in one
    /// call. Without right sides it is potrf alone.
    ///
    /// # Errors
    /// As [`potrf`](Self::potrf); where it fails, `b` has no meaning.
    #[doc(alias = "rocsolver_sposv")]
    #[doc(alias = "rocsolver_dposv")]
    #[doc(alias = "rocsolver_cposv")]
    #[doc(alias = "rocsolver_zposv")]
    pub fn posv<'a, T: Lapack>(
        &self,
        triangle: Triangle,
        a: impl Into<MatrixBatchMut<'a, T>>,
        b: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<Info> {
        let (mut work, a) = Work::new("posv", a.into())?;
        let b = work.write("b", b.into())?;
        work.check("a", &a, b.rows, b.rows)?;
        let (n, nrhs) = (b.m, b.n);
        if n == 0 || work.members() == 0 {
            return Ok(work.nothing(self, Meaning::Minor));
        }
        let uplo = convert::fill(triangle);
        // SAFETY: S2: the operands have these sizes.
        unsafe {
            work.submit_with_info(self, Meaning::Minor, |call, info| {
                // Without right sides rocSOLVER's posv returns before it has factors.
                if nrhs == 0 {
                    return T::potrf(call, uplo, n, a.operand, info);
                }
                T::posv(call, uplo, n, nrhs, a.operand, b.operand, info)
            })
        }
    }
}
