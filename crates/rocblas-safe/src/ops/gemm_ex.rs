//! Matrix products with a choice of types, also of the type for sums.

use super::{align, check_matrix, operation};
use crate::plan::Plan;
use crate::raw::ex;
use crate::types::{Operable, Product};
use crate::{Handle, MatrixBatch, MatrixBatchMut, Result, Scalar, convert};

impl Handle {
    /// `d = alpha a b + beta c`, computed in `S`: [`Product`] lists the combinations. Sums of `f16` in `f16` must be requested, by
    /// `f16` as the type of alpha and beta.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let platform = hip_host::platform();
    /// # let stream = hip_safe::Device::new(&platform, 0)?.new_stream()?;
    /// # let handle = rocblas_safe::Handle::new(&stream)?;
    /// use rocblas_safe::{Layout::RowMajor, Matrix, MatrixMut};
    /// let a = stream.upload(&[100_i8, -100, 100, 100])?;
    /// let c = stream.upload(&[0_i32; 4])?;
    /// let mut d = stream.alloc_zeros::<i32>(4)?;
    /// let a = Matrix::new(a.view(), 2, 2, RowMajor)?;
    /// handle.gemm_ex(
    ///     1_i32,
    ///     a,
    ///     a.t(),
    ///     0_i32,
    ///     Matrix::new(c.view(), 2, 2, RowMajor)?,
    ///     MatrixMut::new(d.view_mut(), 2, 2, RowMajor)?,
    /// )?;
    /// assert_eq!(stream.download(&d)?, [20_000, 0, 0, 20_000]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Handle::gemm`]; [`Error::NotSupported`](crate::Error::NotSupported) too if `c` is not stored in the layout of `d`.
    #[doc(alias = "rocblas_gemm_ex")]
    #[doc(alias = "rocblas_gemm_batched_ex")]
    #[doc(alias = "rocblas_gemm_strided_batched_ex")]
    pub fn gemm_ex<'a, S: Product<In, Out>, In: Operable, Out: Operable>(
        &self,
        alpha: impl Into<Scalar<'a, S>>,
        a: impl Into<MatrixBatch<'a, In>>,
        b: impl Into<MatrixBatch<'a, In>>,
        beta: impl Into<Scalar<'a, S>>,
        c: impl Into<MatrixBatch<'a, Out>>,
        d: impl Into<MatrixBatchMut<'a, Out>>,
    ) -> Result<()> {
        const OP: &str = "gemm_ex";
        let (mut a, mut b, mut c, mut d) = (a.into(), b.into(), c.into(), d.into());
        let (alpha, beta) = (alpha.into(), beta.into());
        check_matrix(OP, "b", b.stored, a.cols(), d.cols())?;
        check_matrix(OP, "d", d.stored, a.rows(), b.cols())?;
        check_matrix(OP, "c", c.stored, d.rows(), d.cols())?;
        (c.stored, d.stored) = align(OP, c.stored, d.stored)?;
        if d.stored.flag.transposed {
            (a, b, d) = (b.t(), a.t(), d.t());
        }
        let (m, n, k) = (d.rows(), d.cols(), a.cols());
        let trans = (operation(OP, a.stored.flag)?, operation(OP, b.stored.flag)?);
        let mut plan = Plan::new(OP);
        let scalars = (plan.scalar(&alpha)?, plan.scalar(&beta)?);
        plan.read_matrix(a)?;
        plan.read_matrix(b)?;
        plan.read_matrix(c)?;
        plan.write_matrix(d)?;
        plan.batch_count()?;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let size = (convert::size(m), convert::size(n), convert::size(k));
        // SAFETY: S2: the operands have these sizes and types.
        unsafe {
            plan.submit(self, |call, o| {
                ex::gemm(call, S::TYPES, trans, size, scalars, (o[0], o[1]), o[2], o[3])
            })
        }
    }
}
