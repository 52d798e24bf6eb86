//! Singular values.

use crate::info::Meaning;
use crate::raw::Operand;
use crate::work::{Matrix, Work};
use crate::{Error, Info, Lapack, Result, Solver};
use hip_safe::DeviceSliceMut;
use hip_sys::rocsolver::rocblas_svect;
use rocblas_safe::MatrixBatchMut;

impl Solver<'_> {
    /// A = U Σ Vᴴ of a matrix of m x n: the min(m, n) singular values, the largest first, for each member of a batch after the others; and, where they
    /// are given, U of m x m or m x min(m, n), and Vᴴ, not V, of n x n or min(m, n) x n. What `a` has afterwards has no meaning.
    ///
    /// # Errors
    /// [`Error::Blas`] for operands that do not fit, and the errors of a call; by [`Info::check`], [`Error::NotConverged`].
    #[doc(alias = "rocsolver_sgesvd")]
    #[doc(alias = "rocsolver_dgesvd")]
    #[doc(alias = "rocsolver_cgesvd")]
    #[doc(alias = "rocsolver_zgesvd")]
    pub fn gesvd<'a, T: Lapack>(
        &self,
        a: impl Into<MatrixBatchMut<'a, T>>,
        values: &mut (impl DeviceSliceMut<Item = T::Real> + ?Sized),
        u: Option<MatrixBatchMut<'a, T>>,
        vh: Option<MatrixBatchMut<'a, T>>,
    ) -> Result<Info> {
        const OP: &str = "gesvd";
        let (mut work, a) = Work::new(OP, a.into())?;
        let (rows, cols, least) = (a.rows, a.cols, a.rows.min(a.cols));
        let (m, n) = (a.m, a.n);
        let u = u.map(|u| work.write("u", u)).transpose()?;
        let vh = vh.map(|vh| work.write("vh", vh)).transpose()?;
        let (left, u) = vectors("u", u, [rows, least], [rows, rows])?;
        let (right, vh) = vectors("vh", vh, [least, cols], [cols, cols])?;
        let s = work.write_vector("singular values", values, least)?;
        if m == 0 || n == 0 || work.members() == 0 {
            return Ok(work.nothing(self, Meaning::Convergence));
        }
        let mut scratch = work.scratch::<T::Real>(self, least)?;
        let e = work.write_vector("memory", &mut scratch, least)?;
        // SAFETY: S2: the operands have these sizes.
        unsafe {
            work.submit_with_info(self, Meaning::Convergence, |call, info| {
                T::gesvd(call, left, right, m, n, a.operand, s, u, vh, e, info)
            })
        }
    }
}

/// Which vectors are stored where, by the size of the matrix for them.
fn vectors(
    what: &'static str,
    matrix: Option<Matrix>,
    thin: [usize; 2],
    all: [usize; 2],
) -> Result<(rocblas_svect, Operand)> {
    let Some(Matrix { rows, cols, operand, .. }) = matrix else {
        return Ok((rocblas_svect::rocblas_svect_none, Operand::NONE));
    };
    if [rows, cols] == thin {
        Ok((rocblas_svect::rocblas_svect_singular, operand))
    } else if [rows, cols] == all {
        Ok((rocblas_svect::rocblas_svect_all, operand))
    } else {
        let wanted = format!("{} x {} or {} x {}", thin[0], thin[1], all[0], all[1]);
        Err(Error::shape("gesvd", what, format!("{rows} x {cols}"), wanted))
    }
}
