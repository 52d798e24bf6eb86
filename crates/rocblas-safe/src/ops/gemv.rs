//! Products of a matrix and a vector.

use super::{check, operation};
use crate::flag::Flag;
use crate::plan::Plan;
use crate::raw::{GemmCalls, Operand};
use crate::{
    Blas, Element, Handle, MatrixBatch, Result, Scalar, VectorBatch, VectorBatchMut, VectorProduct, convert,
};
use hip_safe::AnyBits;
use hip_sys::rocblas::rocblas_operation;
use std::ffi::c_void;

impl Handle {
    /// `y = alpha a x + beta y`, for `a` of m x n in any layout, transposed (`t()`) or conjugate transposed (`h()`).
    ///
    /// If beta is 0, `y` is not read. If `a` has no columns, `y` is scaled by beta.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::BatchCount`](crate::Error::BatchCount), and the errors of a call.
    /// [`Error::NotSupported`](crate::Error::NotSupported) for `h()` of a row-major matrix, which would have to be conjugated and not transposed.
    #[doc(alias = "rocblas_sgemv")]
    #[doc(alias = "rocblas_dgemv")]
    #[doc(alias = "rocblas_cgemv")]
    #[doc(alias = "rocblas_zgemv")]
    #[doc(alias = "rocblas_sgemv_batched")]
    #[doc(alias = "rocblas_sgemv_strided_batched")]
    pub fn gemv<'a, T: Blas>(
        &self,
        alpha: impl Into<Scalar<'a, T>>,
        a: impl Into<MatrixBatch<'a, T>>,
        x: impl Into<VectorBatch<'a, T>>,
        beta: impl Into<Scalar<'a, T>>,
        y: impl Into<VectorBatchMut<'a, T>>,
    ) -> Result<()> {
        let (alpha, beta) = (alpha.into(), beta.into());
        let product = Product::new("gemv", (&alpha, &beta), a.into(), x.into(), y.into())?;
        if product.no_columns {
            // SAFETY: S2: y has that many elements.
            return unsafe { scale_only::<T>(self, product.plan, product.scalars, product.len) };
        }
        let Product { plan, trans, size: (m, n), scalars: (alpha, beta), .. } = product;
        // SAFETY: S2: the operands have these sizes.
        unsafe { plan.submit(self, |call, o| T::gemv(call, trans, m, n, alpha, o[0], o[1], beta, o[2])) }
    }

    /// As [`Handle::gemv`] for `a` and `x` of `f16` or `bf16`, computed in `f32` and rounded once, into a `y` of the same type or of `f32`.
    ///
    /// ROCm has functions for it since 6.0. If the library has none, it is computed as a matrix product, which does not support negative increments
    /// of a vector of 16-bit elements or of the result.
    ///
    /// # Errors
    /// As there; [`Error::Unsupported`](crate::Error::Unsupported) for a negative increment if the library has no such function.
    #[doc(alias = "rocblas_hshgemv_batched")]
    #[doc(alias = "rocblas_hssgemv_batched")]
    #[doc(alias = "rocblas_tstgemv_batched")]
    #[doc(alias = "rocblas_tssgemv_batched")]
    pub fn gemv_ex<'a, In: VectorProduct<Out>, Out: Element<Scale = f32>>(
        &self,
        alpha: impl Into<Scalar<'a, f32>>,
        a: impl Into<MatrixBatch<'a, In>>,
        x: impl Into<VectorBatch<'a, In>>,
        beta: impl Into<Scalar<'a, f32>>,
        y: impl Into<VectorBatchMut<'a, Out>>,
    ) -> Result<()> {
        let (alpha, beta) = (alpha.into(), beta.into());
        let product = Product::new("gemv_ex", (&alpha, &beta), a.into(), x.into(), y.into())?;
        if product.no_columns {
            // SAFETY: S2: y has that many elements.
            return unsafe { scale_only::<Out>(self, product.plan, product.scalars, product.len) };
        }
        let Product { plan, trans, size, scalars, .. } = product;
        // SAFETY: S2: the operands have these sizes and types.
        unsafe { plan.submit(self, |call, o| In::gemv(call, trans, size, scalars, o[0], o[1], o[2])) }
    }
}

/// A matrix-vector product with checked sizes: the operands in C's order, and the other arguments of C's function.
struct Product<'a> {
    plan: Plan<'a>,
    trans: rocblas_operation,
    /// The stored rows and columns.
    size: (i64, i64),
    scalars: (*const c_void, *const c_void),
    /// The length of the result.
    len: i64,
    no_columns: bool,
}

impl<'a> Product<'a> {
    fn new<S: AnyBits, In: Element, Out: Element>(
        op: &'static str,
        (alpha, beta): (&Scalar<'a, S>, &Scalar<'a, S>),
        mut a: MatrixBatch<'a, In>,
        x: VectorBatch<'a, In>,
        y: VectorBatchMut<'a, Out>,
    ) -> Result<Self> {
        check(op, "the length of x", x.len(), a.cols())?;
        check(op, "the length of y", y.len(), a.rows())?;
        a.stored = a.stored.expressible(false).unwrap_or(a.stored);
        let trans = operation(op, a.stored.flag)?;
        let size = (convert::size(a.stored.rows), convert::size(a.stored.cols));
        let (len, no_columns) = (convert::size(y.len()), x.is_empty());
        let mut plan = Plan::new(op);
        let scalars = (plan.scalar(alpha)?, plan.scalar(beta)?);
        plan.read_matrix(a)?;
        plan.read_vector(x)?;
        plan.write_vector(y)?;
        Ok(Self { plan, trans, size, scalars, len, no_columns })
    }
}

/// `y = beta y`, for a matrix without columns. C's functions leave y alone then; as a row that is the product of factors of no size it
/// is scaled, and not read if beta is 0.
///
/// # Safety
/// As for [`Plan::submit`]; the third operand is a vector of so many elements.
pub(super) unsafe fn scale_only<T: GemmCalls>(
    handle: &Handle,
    plan: Plan<'_>,
    (alpha, beta): (*const c_void, *const c_void),
    len: i64,
) -> Result<()> {
    plan.batch_count()?;
    if len == 0 {
        return Ok(());
    }
    let none = operation("gemv", Flag::NONE)?;
    let thin = |operand: Operand| Operand { ld: 1, ..operand };
    // SAFETY: S2: the caller vouches for y; nothing else is used.
    unsafe {
        plan.submit(handle, |call, o| {
            let y = Operand { ld: o[2].ld.abs(), ..o[2] };
            T::gemm(call, (none, none), (1, len, 0), alpha, thin(o[0]), thin(o[1]), beta, y)
        })
    }
}
