//! Products with a diagonal matrix, given as a vector.

use super::{align, check, check_matrix};
use crate::plan::Plan;
use crate::{Blas, Handle, MatrixBatch, MatrixBatchMut, Result, Side, VectorBatch, convert};

impl Handle {
    /// `c = diag(x) a` ([`Side::Left`]: rows are scaled) or `c = a diag(x)` ([`Side::Right`]: columns are), for `a` and `c` of m x n. The side is that of
    /// the diagonal matrix.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::BatchCount`](crate::Error::BatchCount), and the errors of a call;
    /// [`Error::NotSupported`](crate::Error::NotSupported) if `a` is conjugated, or not stored in the layout of `c`.
    #[doc(alias = "rocblas_sdgmm")]
    #[doc(alias = "rocblas_ddgmm")]
    #[doc(alias = "rocblas_cdgmm")]
    #[doc(alias = "rocblas_zdgmm")]
    pub fn dgmm<'a, T: Blas>(
        &self,
        side: Side,
        a: impl Into<MatrixBatch<'a, T>>,
        x: impl Into<VectorBatch<'a, T>>,
        c: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "dgmm";
        let (mut a, x, mut c) = (a.into(), x.into(), c.into());
        let order = if side == Side::Left { c.rows() } else { c.cols() };
        check(OP, "the length of x", x.len(), order)?;
        check_matrix(OP, "a", a.stored, c.rows(), c.cols())?;
        (a.stored, c.stored) = align(OP, a.stored, c.stored)?;
        let side = convert::side(side.flip_if(c.stored.flag.transposed));
        let (m, n) = (c.stored.rows, c.stored.cols);
        let mut plan = Plan::new(OP);
        plan.read_matrix(a)?;
        plan.read_vector(x)?;
        plan.write_matrix(c)?;
        plan.batch_count()?;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let size = (convert::size(m), convert::size(n));
        // SAFETY: S2: the operands have these sizes.
        unsafe { plan.submit(self, |call, o| T::dgmm(call, side, size, o[0], o[1], o[2])) }
    }
}
