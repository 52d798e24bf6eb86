//! Norms of vectors.

use super::reduce::{self, reduction};
use crate::plan::Plan;
use crate::raw::{Call, Operand};
use crate::{Blas, Element, Handle, Result, VectorBatch, convert};
use hip_safe::DeviceViewMut;

reduction! {
    /// The Euclidean norm: the root of the sum of squares. hip-host and cuBLAS do not overflow on the way to it. rocBLAS 5.2
    /// returns infinity where the sum of squares overflows, as seen on an emulated card. The norm of 16-bit numbers is
    /// computed in `f32` and rounded once.
    #[doc(alias = "rocblas_snrm2")]
    #[doc(alias = "rocblas_dnrm2")]
    #[doc(alias = "rocblas_scnrm2")]
    #[doc(alias = "rocblas_dznrm2")]
    #[doc(alias = "rocblas_nrm2_ex")]
    nrm2 nrm2_batch nrm2_into<T: Element>(x) -> T::Real, "nrm2", |x| plan("nrm2", x),
    |call: &Call<'_>, n, o: &[Operand]| T::nrm2(call, n, o[0], call.result)
}

reduction! {
    /// The sum of absolute values; of complex numbers, of |real part| + |imaginary part|.
    #[doc(alias = "rocblas_sasum")]
    #[doc(alias = "rocblas_dasum")]
    #[doc(alias = "rocblas_scasum")]
    #[doc(alias = "rocblas_dzasum")]
    asum asum_batch asum_into<T: Blas>(x) -> T::Real, "asum", |x| plan("asum", x),
    |call: &Call<'_>, n, o: &[Operand]| T::asum(call, n, o[0], call.result)
}

fn plan<'a, T: Element>(op: &'static str, x: VectorBatch<'a, T>) -> Result<(Plan<'a>, i64)> {
    let x = x.forward();
    let n = convert::size(x.len());
    let mut plan = Plan::new(op);
    plan.read_vector(x)?;
    Ok((plan, n))
}
