//! Products of matrices with a bias and an activation, by hipBLASLt.

use super::numbers::{Levelled, levels};
use super::{Call, Outcome, Step, Suite, text};
use half::{bf16, f16};
use rocblas_safe::Layout::ColMajor;
use rocblas_safe::lt::{BiasFor, F8E4M3, LtElement, LtHandle, MatmulTypes};
use rocblas_safe::{Matrix, MatrixMut};

pub(super) fn run(suite: &mut Suite<'_>) {
    suite.group(&["lt_f16"], |suite| product::<f16, f16>(suite, "lt_f16"));
    suite.group(&["lt_bf16"], |suite| product::<bf16, bf16>(suite, "lt_bf16"));
    suite.group(&["lt_f8"], |suite| product::<F8E4M3, bf16>(suite, "lt_f8"));
}

/// d = gelu(aᵀ b + bias), all by columns: the way of which cuBLASLt has products of 8 bits.
fn product<A, D>(suite: &mut Suite<'_>, name: &'static str) -> Outcome
where
    A: LtElement + Levelled + Send,
    D: LtElement + Levelled + Send + BiasFor<D>,
    (A, A, D): MatmulTypes<Scale = f32>,
{
    let (stream, n) = (suite.stream, suite.size(4096, 16));
    let lt = LtHandle::new(stream.device()).map_err(text)?;
    let a = stream.upload(&levels::<A>(16, n * n)).map_err(text)?;
    let b = stream.upload(&levels::<A>(17, n * n)).map_err(text)?;
    let bias = stream.upload(&levels::<D>(18, n)).map_err(text)?;
    let mut d = stream.alloc_zeros::<D>(n * n).map_err(text)?;
    let (sizes, work) = (format!("{n} x {n} x {n}"), 2.0 * (n as f64).powi(3));
    suite.measure(Call { name, sizes, work, unit: "GFLOP/s", slots: 0 }, |step| {
        if let Step::Restore = step {
            return Ok(());
        }
        let left = Matrix::new(a.view(), n, n, ColMajor).map_err(text)?.t();
        let right = Matrix::new(b.view(), n, n, ColMajor).map_err(text)?;
        let result = MatrixMut::new(d.view_mut(), n, n, ColMajor).map_err(text)?;
        lt.matmul(left, right, result).bias_per_row(bias.view()).gelu().run(stream).map_err(text)
    })?;
    // By columns: the transposed matrices, in files.
    let square: &[usize] = &[n, n];
    suite.save(name, &[("a", &a, square), ("b", &b, square), ("bias", &bias, &[n]), ("d", &d, square)])
}
