//! LU factors, and what is computed with them.

use crate::info::Meaning;
use crate::work::Work;
use crate::{Info, Lapack, Pivots, Result, Solver, Transpose, convert};
use rocblas_safe::{MatrixBatch, MatrixBatchMut};

impl Solver<'_> {
    /// The factors of a matrix of m x n with partial pivoting, P A = L U, which overwrite it: L, whose diagonal is 1, below the diagonal, and U on and
    /// above it. The [`Pivots`] are the rows that its min(m, n) steps exchanged, for each member of a batch.
    ///
    /// # Errors
    /// [`Error::Blas`](crate::Error::Blas) for operands that do not fit, and the errors of a call; by [`Info::check`],
    /// [`Error::Singular`](crate::Error::Singular): the factors are complete, but U has a zero on its diagonal.
    #[doc(alias = "rocsolver_sgetrf")]
    #[doc(alias = "rocsolver_dgetrf")]
    #[doc(alias = "rocsolver_cgetrf")]
    #[doc(alias = "rocsolver_zgetrf")]
    pub fn getrf<'a, T: Lapack>(&self, a: impl Into<MatrixBatchMut<'a, T>>) -> Result<(Pivots, Info)> {
        let (mut work, a) = Work::new("getrf", a.into())?;
        let (m, n) = (a.m, a.n);
        let mut pivots = work.new_pivots(self, a.rows, a.rows.min(a.cols))?;
        let ipiv = work.write_vector("pivots", &mut pivots.buffer, pivots.len)?;
        if m == 0 || n == 0 || work.members() == 0 {
            let info = work.nothing(self, Meaning::Pivot);
            return Ok((pivots, info));
        }
        // SAFETY: S2: the operands have these sizes.
        let info = unsafe {
            work.submit_with_info(self, Meaning::Pivot, |call, info| {
                T::getrf(call, m, n, a.operand, ipiv, info)
            })
        }?;
        Ok((pivots, info))
    }

    /// `b = op(A)⁻¹ b` by the factors of a square A that [`getrf`](Self::getrf) left in `a`, and its pivots. Single factors and pivots serve all
    /// members of a batch of `b`. Factors of a singular matrix give infinities or NaN.
    ///
    /// # Errors
    /// [`Error::Blas`](crate::Error::Blas) for operands that do not fit, and the errors of a call.
    #[doc(alias = "rocsolver_sgetrs")]
    #[doc(alias = "rocsolver_dgetrs")]
    #[doc(alias = "rocsolver_cgetrs")]
    #[doc(alias = "rocsolver_zgetrs")]
    pub fn getrs<'a, T: Lapack>(
        &self,
        transpose: Transpose,
        a: impl Into<MatrixBatch<'a, T>>,
        pivots: &Pivots,
        b: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        let (mut work, b) = Work::new("getrs", b.into())?;
        let a = work.read("a", a.into())?;
        work.check("a", &a, b.rows, b.rows)?;
        let (n, nrhs) = (b.m, b.n);
        let ipiv = work.read_pivots(pivots, b.rows)?;
        if n == 0 || nrhs == 0 || work.members() == 0 {
            return Ok(());
        }
        let trans = convert::operation::<T>(transpose);
        // SAFETY: S2: the operands have these sizes, and no pivot leads out of them.
        unsafe { work.submit(self, |call| T::getrs(call, trans, n, nrhs, a.operand, ipiv, b.operand)) }
    }

    /// The inverse of a square matrix in place of the factors that [`getrf`](Self::getrf) left in `a`, by its pivots. Single pivots serve all members
    /// of a batch.
    ///
    /// # Errors
    /// As [`getrf`](Self::getrf); where [`Info::check`] gives [`Error::Singular`](crate::Error::Singular), there is no inverse.
    #[doc(alias = "rocsolver_sgetri")]
    #[doc(alias = "rocsolver_dgetri")]
    #[doc(alias = "rocsolver_cgetri")]
    #[doc(alias = "rocsolver_zgetri")]
    pub fn getri<'a, T: Lapack>(&self, a: impl Into<MatrixBatchMut<'a, T>>, pivots: &Pivots) -> Result<Info> {
        let (mut work, a) = Work::new("getri", a.into())?;
        work.check("a", &a, a.rows, a.rows)?;
        let n = a.m;
        let ipiv = work.read_pivots(pivots, a.rows)?;
        if n == 0 || work.members() == 0 {
            return Ok(work.nothing(self, Meaning::Pivot));
        }
        // SAFETY: S2: the operands have these sizes, and no pivot leads out of them.
        unsafe {
            work.submit_with_info(self, Meaning::Pivot, |call, info| T::getri(call, n, a.operand, ipiv, info))
        }
    }
}
