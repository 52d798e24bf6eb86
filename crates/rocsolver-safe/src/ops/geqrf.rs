//! QR factors, and their orthogonal part.

use crate::work::Work;
use crate::{Error, Lapack, Result, Solver, Transpose, convert};
use hip_safe::{DeviceSlice, DeviceSliceMut};
use rocblas_safe::{MatrixBatchMut, Side};

impl Solver<'_> {
    /// The factors of a matrix of m x n, A = Q R, which overwrite it: R on and above the diagonal, and below it the vectors of the min(m, n) reflectors
    /// `I - tau v vᴴ` whose product is Q. `tau` gets min(m, n) elements for each member of a batch.
    ///
    /// # Errors
    /// [`Error::Blas`] for operands that do not fit, and the errors of a call.
    #[doc(alias = "rocsolver_sgeqrf")]
    #[doc(alias = "rocsolver_dgeqrf")]
    #[doc(alias = "rocsolver_cgeqrf")]
    #[doc(alias = "rocsolver_zgeqrf")]
    pub fn geqrf<'a, T: Lapack>(
        &self,
        a: impl Into<MatrixBatchMut<'a, T>>,
        tau: &mut (impl DeviceSliceMut<Item = T> + ?Sized),
    ) -> Result<()> {
        let (mut work, a) = Work::new("geqrf", a.into())?;
        let (m, n) = (a.m, a.n);
        let tau = work.write_vector("tau", tau, a.rows.min(a.cols))?;
        if m == 0 || n == 0 || work.members() == 0 {
            return Ok(());
        }
        // SAFETY: S2: the operands have these sizes.
        unsafe { work.submit(self, |call| T::geqrf(call, m, n, a.operand, tau)) }
    }

    /// The first columns of Q in place of the reflectors that [`geqrf`](Self::geqrf) left in `a`: as many as `a` has, and no more than it has rows. Q is
    /// the product of the first `reflectors` of them. The members of a batch are called one after the other.
    ///
    /// # Errors
    /// [`Error::Blas`] for operands that do not fit, and the errors of a call.
    #[doc(alias = "rocsolver_sorgqr")]
    #[doc(alias = "rocsolver_dorgqr")]
    #[doc(alias = "rocsolver_cungqr")]
    #[doc(alias = "rocsolver_zungqr")]
    pub fn orgqr<'a, T: Lapack>(
        &self,
        reflectors: usize,
        a: impl Into<MatrixBatchMut<'a, T>>,
        tau: &(impl DeviceSlice<Item = T> + ?Sized),
    ) -> Result<()> {
        let (mut work, a) = Work::new("orgqr", a.into())?;
        if a.cols > a.rows || reflectors > a.cols {
            let got = format!("{} x {} with {reflectors} reflectors", a.rows, a.cols);
            let wanted = "no fewer rows than columns, and no fewer columns than reflectors,";
            return Err(Error::shape("orgqr", "a", got, wanted.into()));
        }
        let (m, n) = (a.m, a.n);
        let k = work.size("the number of reflectors", reflectors)?;
        let tau = work.read_vector("tau", tau, reflectors)?;
        if n == 0 || work.members() == 0 {
            return Ok(());
        }
        // SAFETY: S2: the operands have these sizes.
        unsafe { work.one_by_one().submit(self, |call| T::orgqr(call, m, n, k, a.operand, tau)) }
    }

    /// `c = op(Q) c` ([`Side::Left`]) or `c = c op(Q)` ([`Side::Right`]), for the Q of the reflectors that [`geqrf`](Self::geqrf) left in `a`, all of
    /// its columns. `a` has to be exclusive: the library may write it on the way. The members of a batch are called one
    /// after the other.
    ///
    /// # Errors
    /// [`Error::Blas`] for operands that do not fit, and for a complex Q that would be transposed and not conjugated; the errors of a call.
    #[doc(alias = "rocsolver_sormqr")]
    #[doc(alias = "rocsolver_dormqr")]
    #[doc(alias = "rocsolver_cunmqr")]
    #[doc(alias = "rocsolver_zunmqr")]
    pub fn ormqr<'a, T: Lapack>(
        &self,
        side: Side,
        transpose: Transpose,
        a: impl Into<MatrixBatchMut<'a, T>>,
        tau: &(impl DeviceSlice<Item = T> + ?Sized),
        c: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "ormqr";
        let (mut work, a) = Work::new(OP, a.into())?;
        let c = work.write("c", c.into())?;
        let order = if side == Side::Left { c.rows } else { c.cols };
        if a.rows != order || a.cols > order {
            let got = format!("{} x {}", a.rows, a.cols);
            return Err(Error::shape(OP, "a", got, format!("{order} x {order} or fewer columns")));
        }
        let (m, n) = (c.m, c.n);
        let k = a.n;
        let tau = work.read_vector("tau", tau, a.cols)?;
        let (side, trans) = (convert::side(side), convert::adjoint::<T>(OP, transpose)?);
        if m == 0 || n == 0 || k == 0 || work.members() == 0 {
            return Ok(());
        }
        // SAFETY: S2: the operands have these sizes.
        unsafe {
            work.one_by_one()
                .submit(self, |call| T::ormqr(call, side, trans, m, n, k, a.operand, tau, c.operand))
        }
    }
}
