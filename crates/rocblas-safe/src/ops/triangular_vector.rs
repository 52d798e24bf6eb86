//! Level 2 with triangular matrices.

use super::{check_matrix, operation};
use crate::plan::Plan;
use crate::raw::{Call, Failure, Operand};
use crate::{Blas, Diagonal, Handle, MatrixBatch, Result, Triangle, VectorBatchMut, convert};
use hip_sys::rocblas::{rocblas_diagonal, rocblas_fill, rocblas_operation};

type Raw = unsafe fn(
    &Call<'_>,
    rocblas_fill,
    rocblas_operation,
    rocblas_diagonal,
    i64,
    Operand,
    Operand,
) -> Result<(), Failure>;

impl Handle {
    /// `x = a x`, for a triangular `a` in any layout, transposed (`t()`) or conjugate transposed (`h()`). The triangle is that of `a` as it is given:
    /// what is the lower one of a matrix is the upper one of `t()` of it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::BatchCount`](crate::Error::BatchCount), and the errors of a call;
    /// [`Error::NotSupported`](crate::Error::NotSupported) for `h()` of a row-major matrix.
    #[doc(alias = "rocblas_strmv")]
    #[doc(alias = "rocblas_dtrmv")]
    #[doc(alias = "rocblas_ctrmv")]
    #[doc(alias = "rocblas_ztrmv")]
    pub fn trmv<'a, T: Blas>(
        &self,
        triangle: Triangle,
        diagonal: Diagonal,
        a: impl Into<MatrixBatch<'a, T>>,
        x: impl Into<VectorBatchMut<'a, T>>,
    ) -> Result<()> {
        triangular(self, "trmv", (triangle, diagonal), a.into(), x.into(), T::trmv)
    }

    /// `x = a⁻¹ x`: the solution of `a ? = x`, for a triangular `a` as in [`Handle::trmv`]. A zero on the diagonal gives infinities or NaNs.
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "rocblas_strsv")]
    #[doc(alias = "rocblas_dtrsv")]
    #[doc(alias = "rocblas_ctrsv")]
    #[doc(alias = "rocblas_ztrsv")]
    pub fn trsv<'a, T: Blas>(
        &self,
        triangle: Triangle,
        diagonal: Diagonal,
        a: impl Into<MatrixBatch<'a, T>>,
        x: impl Into<VectorBatchMut<'a, T>>,
    ) -> Result<()> {
        triangular(self, "trsv", (triangle, diagonal), a.into(), x.into(), T::trsv)
    }
}

fn triangular<'a, T: Blas>(
    handle: &Handle,
    op: &'static str,
    (triangle, diagonal): (Triangle, Diagonal),
    a: MatrixBatch<'a, T>,
    x: VectorBatchMut<'a, T>,
    raw: Raw,
) -> Result<()> {
    check_matrix(op, "a", a.stored, x.len(), x.len())?;
    let trans = operation(op, a.stored.flag)?;
    let uplo = convert::fill(triangle.flip_if(a.stored.flag.transposed));
    let (diag, n) = (convert::diagonal(diagonal), convert::size(x.len()));
    let mut plan = Plan::new(op);
    plan.read_matrix(a)?;
    plan.write_vector(x)?;
    // SAFETY: S2: the operands have these sizes.
    unsafe { plan.submit(handle, |call, o| raw(call, uplo, trans, diag, n, o[0], o[1])) }
}
