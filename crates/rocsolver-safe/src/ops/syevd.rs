//! Eigenvalues of Hermitian matrices.

use crate::info::Meaning;
use crate::work::Work;
use crate::{Info, Lapack, Problem, Result, Solver, Vectors, convert};
use hip_safe::DeviceSliceMut;
use rocblas_safe::{MatrixBatchMut, Triangle};

impl Solver<'_> {
    /// The eigenvalues of a Hermitian matrix, of which one triangle is read, the least first, for each member of a batch after the others; with
    /// [`Vectors::InPlace`] its orthonormal eigenvectors too.
    ///
    /// # Errors
    /// [`Error::Blas`](crate::Error::Blas) for operands that do not fit, and the errors of a call; by [`Info::check`],
    /// [`Error::NotConverged`](crate::Error::NotConverged).
    #[doc(alias = "rocsolver_ssyevd")]
    #[doc(alias = "rocsolver_dsyevd")]
    #[doc(alias = "rocsolver_cheevd")]
    #[doc(alias = "rocsolver_zheevd")]
    pub fn syevd<'a, T: Lapack>(
        &self,
        vectors: Vectors,
        triangle: Triangle,
        a: impl Into<MatrixBatchMut<'a, T>>,
        values: &mut (impl DeviceSliceMut<Item = T::Real> + ?Sized),
    ) -> Result<Info> {
        let (mut work, a) = Work::new("syevd", a.into())?;
        work.check("a", &a, a.rows, a.rows)?;
        let n = a.m;
        let d = work.write_vector("eigenvalues", values, a.rows)?;
        if n == 0 || work.members() == 0 {
            return Ok(work.nothing(self, Meaning::Convergence));
        }
        let mut scratch = work.scratch::<T::Real>(self, a.rows)?;
        let e = work.write_vector("memory", &mut scratch, a.rows)?;
        let (evect, uplo) = (convert::vectors(vectors), convert::fill(triangle));
        // SAFETY: S2: the operands have these sizes.
        unsafe {
            work.submit_with_info(self, Meaning::Convergence, |call, info| {
                T::syevd(call, evect, uplo, n, a.operand, d, e, info)
            })
        }
    }

    /// The eigenvalues of a problem of two Hermitian matrices, the second one positive definite, as [`syevd`](Self::syevd). The eigenvectors have
    /// xᴴ B x = 1, in [`Problem::Bax`] xᴴ B⁻¹ x = 1. B is overwritten by its factor.
    ///
    /// # Errors
    /// As there, and by [`Info::check`] [`Error::NotPositiveDefinite`](crate::Error::NotPositiveDefinite) for the second matrix.
    #[doc(alias = "rocsolver_ssygvd")]
    #[doc(alias = "rocsolver_dsygvd")]
    #[doc(alias = "rocsolver_chegvd")]
    #[doc(alias = "rocsolver_zhegvd")]
    pub fn sygvd<'a, T: Lapack>(
        &self,
        problem: Problem,
        vectors: Vectors,
        triangle: Triangle,
        a: impl Into<MatrixBatchMut<'a, T>>,
        b: impl Into<MatrixBatchMut<'a, T>>,
        values: &mut (impl DeviceSliceMut<Item = T::Real> + ?Sized),
    ) -> Result<Info> {
        let (mut work, a) = Work::new("sygvd", a.into())?;
        work.check("a", &a, a.rows, a.rows)?;
        let b = work.write("b", b.into())?;
        work.check("b", &b, a.rows, a.rows)?;
        let n = a.m;
        let d = work.write_vector("eigenvalues", values, a.rows)?;
        let meaning = Meaning::ConvergenceOrMinor(a.rows);
        if n == 0 || work.members() == 0 {
            return Ok(work.nothing(self, meaning));
        }
        let mut scratch = work.scratch::<T::Real>(self, a.rows)?;
        let e = work.write_vector("memory", &mut scratch, a.rows)?;
        let (itype, evect, uplo) =
            (convert::problem(problem), convert::vectors(vectors), convert::fill(triangle));
        // SAFETY: S2: the operands have these sizes.
        unsafe {
            work.submit_with_info(self, meaning, |call, info| {
                T::sygvd(call, itype, evect, uplo, n, a.operand, b.operand, d, e, info)
            })
        }
    }
}
