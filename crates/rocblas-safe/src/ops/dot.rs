//! Scalar products.

use super::check;
use super::reduce::{self, reduction};
use crate::plan::Plan;
use crate::raw::{Call, Operand};
use crate::{Element, Handle, Result, VectorBatch, convert};
use hip_safe::DeviceViewMut;

reduction! {
    /// The sum of `x[i] y[i]`, without conjugation. Of 16-bit numbers it is computed in `f32` and rounded once.
    #[doc(alias = "rocblas_sdot")]
    #[doc(alias = "rocblas_ddot")]
    #[doc(alias = "rocblas_cdotu")]
    #[doc(alias = "rocblas_zdotu")]
    #[doc(alias = "rocblas_dot_ex")]
    dot dot_batch dot_into<T: Element>(x, y) -> T, "dot", plan,
    |call: &Call<'_>, n, o: &[Operand]| T::dot(call, n, o[0], o[1], call.result)
}

reduction! {
    /// The sum of `conj(x[i]) y[i]`. Of real numbers it is [`Handle::dot`].
    #[doc(alias = "rocblas_cdotc")]
    #[doc(alias = "rocblas_zdotc")]
    #[doc(alias = "rocblas_dotc_ex")]
    dotc dotc_batch dotc_into<T: Element>(x, y) -> T, "dotc", plan,
    |call: &Call<'_>, n, o: &[Operand]| T::dotc(call, n, o[0], o[1], call.result)
}

fn plan<'a, T: Element>(x: VectorBatch<'a, T>, y: VectorBatch<'a, T>) -> Result<(Plan<'a>, i64)> {
    check("dot", "the length of x", x.len(), y.len())?;
    let n = convert::size(x.len());
    let mut plan = Plan::new("dot");
    plan.read_vector(x)?;
    plan.read_vector(y)?;
    Ok((plan, n))
}
