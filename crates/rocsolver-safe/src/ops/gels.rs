//! Least squares.

use crate::info::Meaning;
use crate::work::Work;
use crate::{Info, Lapack, Result, Solver, Transpose, convert};
use rocblas_safe::MatrixBatchMut;

impl Solver<'_> {
    /// The X with the least ‖b - op(A) X‖, or, of all X with op(A) X = b, the smallest one, for a matrix A of m x n with full rank. `b` has
    /// max(m, n) rows: b, and afterwards X, are its first rows. A is overwritten by its factors.
    ///
    /// # Errors
    /// [`Error::Blas`](crate::Error::Blas) for operands that do not fit, and for a complex A that would be transposed and not conjugated; the errors
    /// of a call; by [`Info::check`], [`Error::RankDeficient`](crate::Error::RankDeficient).
    #[doc(alias = "rocsolver_sgels")]
    #[doc(alias = "rocsolver_dgels")]
    #[doc(alias = "rocsolver_cgels")]
    #[doc(alias = "rocsolver_zgels")]
    pub fn gels<'a, T: Lapack>(
        &self,
        transpose: Transpose,
        a: impl Into<MatrixBatchMut<'a, T>>,
        b: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<Info> {
        const OP: &str = "gels";
        let (mut work, a) = Work::new(OP, a.into())?;
        let b = work.write("b", b.into())?;
        work.check("b", &b, a.rows.max(a.cols), b.cols)?;
        let (m, n) = (a.m, a.n);
        let nrhs = b.n;
        let trans = convert::adjoint::<T>(OP, transpose)?;
        if b.rows == 0 || nrhs == 0 || work.members() == 0 {
            return Ok(work.nothing(self, Meaning::Rank));
        }
        // SAFETY: S2: the operands have these sizes.
        unsafe {
            work.submit_with_info(self, Meaning::Rank, |call, info| {
                T::gels(call, trans, m, n, nrhs, a.operand, b.operand, info)
            })
        }
    }
}
