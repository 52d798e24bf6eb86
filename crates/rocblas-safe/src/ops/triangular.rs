//! Level 3 with triangular matrices.

use super::{align, check_matrix, operation};
use crate::plan::Plan;
use crate::raw::{Call, Failure, Operand, Triangular};
use crate::stored::Stored;
use crate::{Blas, Diagonal, Handle, MatrixBatch, MatrixBatchMut, Result, Scalar, Side, Triangle, convert};
use std::ffi::c_void;

impl Handle {
    /// `c = alpha a b` ([`Side::Left`]) or `c = alpha b a` ([`Side::Right`]), for a triangular `a` in any layout, transposed (`t()`) or conjugate transposed
    /// (`h()`), and `b` and `c` of m x n. The triangle is that of `a` as it is given.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::BatchCount`](crate::Error::BatchCount), and the errors of a call;
    /// [`Error::NotSupported`](crate::Error::NotSupported) if `b` is not stored in the layout of `c`, or `a` would have to be conjugated and not transposed.
    #[doc(alias = "rocblas_strmm")]
    #[doc(alias = "rocblas_dtrmm")]
    #[doc(alias = "rocblas_ctrmm")]
    #[doc(alias = "rocblas_ztrmm")]
    #[allow(clippy::too_many_arguments)]
    pub fn trmm<'a, T: Blas>(
        &self,
        side: Side,
        triangle: Triangle,
        diagonal: Diagonal,
        alpha: impl Into<Scalar<'a, T>>,
        a: impl Into<MatrixBatch<'a, T>>,
        b: impl Into<MatrixBatch<'a, T>>,
        c: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        const OP: &str = "trmm";
        let (alpha, a, mut b, mut c) = (alpha.into(), a.into(), b.into(), c.into());
        check_matrix(OP, "b", b.stored, c.rows(), c.cols())?;
        (b.stored, c.stored) = align(OP, b.stored, c.stored)?;
        let how = how(OP, side, triangle, diagonal, a.stored, c.stored)?;
        let (m, n) = (c.stored.rows, c.stored.cols);
        let mut plan = Plan::new(OP);
        let alpha = plan.scalar(&alpha)?;
        plan.read_matrix(a)?;
        plan.read_matrix(b)?;
        plan.write_matrix(c)?;
        plan.batch_count()?;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let size = (convert::size(m), convert::size(n));
        // SAFETY: S2: the operands have these sizes.
        unsafe { plan.submit(self, |call, o| T::trmm(call, how, size, alpha, o[0], o[1], o[2])) }
    }

    /// `b = alpha a b` ([`Side::Left`]) or `b = alpha b a` ([`Side::Right`]), as [`Handle::trmm`] in place.
    ///
    /// # Errors
    /// As there.
    pub fn trmm_in_place<'a, T: Blas>(
        &self,
        side: Side,
        triangle: Triangle,
        diagonal: Diagonal,
        alpha: impl Into<Scalar<'a, T>>,
        a: impl Into<MatrixBatch<'a, T>>,
        b: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        let (factor, alpha, a, b) = ((side, triangle, diagonal), alpha.into(), a.into(), b.into());
        // SAFETY: S2: the operands have these sizes; the function works in place if source and result are the same.
        unsafe {
            self.in_place("trmm", factor, alpha, a, b, |call, how, size, alpha, a, b| {
                T::trmm(call, how, size, alpha, a, b, b)
            })
        }
    }

    /// `b = alpha a⁻¹ b` ([`Side::Left`]) or `b = alpha b a⁻¹` ([`Side::Right`]), for a triangular `a` as in [`Handle::trmm`]. A zero on the diagonal gives
    /// infinities or NaNs.
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "rocblas_strsm")]
    #[doc(alias = "rocblas_dtrsm")]
    #[doc(alias = "rocblas_ctrsm")]
    #[doc(alias = "rocblas_ztrsm")]
    pub fn trsm<'a, T: Blas>(
        &self,
        side: Side,
        triangle: Triangle,
        diagonal: Diagonal,
        alpha: impl Into<Scalar<'a, T>>,
        a: impl Into<MatrixBatch<'a, T>>,
        b: impl Into<MatrixBatchMut<'a, T>>,
    ) -> Result<()> {
        let (factor, alpha, a, b) = ((side, triangle, diagonal), alpha.into(), a.into(), b.into());
        // SAFETY: S2: the operands have these sizes.
        unsafe {
            self.in_place("trsm", factor, alpha, a, b, |call, how, size, alpha, a, b| {
                T::trsm(call, how, size, alpha, a, b)
            })
        }
    }

    /// Overwrites b by a call of C with the triangular a.
    ///
    /// # Safety
    /// The call uses alpha, a and b, of the size that it gets, and nothing else.
    unsafe fn in_place<'a, T: Blas>(
        &self,
        op: &'static str,
        (side, triangle, diagonal): (Side, Triangle, Diagonal),
        alpha: Scalar<'a, T>,
        a: MatrixBatch<'a, T>,
        b: MatrixBatchMut<'a, T>,
        act: impl Fn(
            &Call<'_>,
            Triangular,
            (i64, i64),
            *const c_void,
            Operand,
            Operand,
        ) -> std::result::Result<(), Failure>,
    ) -> Result<()> {
        let how = how(op, side, triangle, diagonal, a.stored, b.stored)?;
        let (m, n) = (b.stored.rows, b.stored.cols);
        let mut plan = Plan::new(op);
        let alpha = plan.scalar(&alpha)?;
        plan.read_matrix(a)?;
        plan.write_matrix(b)?;
        plan.batch_count()?;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let size = (convert::size(m), convert::size(n));
        // SAFETY: S2: as the caller vouches.
        unsafe { plan.submit(self, |call, o| act(call, how, size, alpha, o[0], o[1])) }
    }
}

/// The triangular factor as stored, for a result as stored.
fn how(
    op: &'static str,
    side: Side,
    triangle: Triangle,
    diagonal: Diagonal,
    a: Stored,
    result: Stored,
) -> Result<Triangular> {
    let order = if side == Side::Left { result.seen_rows() } else { result.seen_cols() };
    check_matrix(op, "a", a, order, order)?;
    // A transposed result is the product of the transposed factors in reverse order.
    let transposed = result.flag.transposed;
    // A 1 x 1 matrix is stored in any layout.
    let a = a.expressible(transposed).unwrap_or(a);
    Ok(Triangular {
        side: convert::side(side.flip_if(transposed)),
        uplo: convert::fill(triangle.flip_if(a.flag.transposed)),
        trans: operation(op, a.flag.t_if(transposed))?,
        diag: convert::diagonal(diagonal),
    })
}
