//! The error bounds of all operations, in one table with reasons.
//!
//! A library's documented error of n ulp is relative to the correctly rounded result, so it is n + ½ ulp from the exact
//! result. In formulas of several steps relative errors add up, in units u of half an ulp of 1 (2^-24 for f32, 2^-53
//! for f64). An error of n ulp is at most 2n u, a rounding is 1 u, and a result with an error of n u is off by less
//! than n ulp.
//!
//! Sources: CUDA = "Mathematical Functions" appendix of the CUDA C++ programming guide (full range); ROCm =
//! "HIP math API" of the ROCm documentation; glibc = "Known Maximum Errors in Math Functions" of its manual,
//! x86_64.

use crate::{DType, Judge, round};

/// The error bound of one operation, in ulp.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Name of the operation.
    pub op: &'static str,
    /// For `f32`.
    pub f32: f64,
    /// For `f64`.
    pub f64: f64,
    /// The source of the numbers.
    pub reason: &'static str,
}

/// The bounds of all operations that are neither exact nor sums. `f16`, `bf16` and `f8e4m3` always have
/// [`SMALL_FLOAT_ULPS`].
#[rustfmt::skip]
pub const BOUNDS: &[Bound] = &[
    row("rsqrt", 2.5, 2.0, "CUDA rsqrtf 2, rsqrt 1; 1/sqrt(x) in two roundings 2 u"),
    row("exp", 2.5, 1.5, "CUDA expf 2, exp 1; ROCm and glibc 1"),
    row("log", 2.5, 1.5, "ROCm logf 2, log 1; CUDA and glibc 1"),
    row("sin", 2.5, 2.5, "CUDA sinf 2, sin 2; ROCm and glibc 1"),
    row("cos", 2.5, 2.5, "CUDA cosf 2, cos 2; ROCm and glibc 1"),
    row("tan", 4.5, 2.5, "CUDA tanf 4, tan 2; ROCm and glibc 1"),
    row("tanh", 2.5, 2.5, "CUDA tanhf 2, ROCm tanhf 2, glibc tanhf 2 and tanh 2"),
    row("erf", 4.5, 4.5, "ROCm erff 4, erf 4; CUDA 2, glibc 1"),
    row("pow", 4.5, 2.5, "CUDA powf 4, pow 2; ROCm and glibc 1"),
    row("powf", 4.5, 2.5, "as pow"),
    row("sigmoid", 7.0, 5.0, "e/(1 + e): exp 5 u or 3 u, sum 1 u, quotient 1 u"),
    row("silu", 14.0, 10.0, "x·r·(r/(1 + r²)), r = exp(-|x|/2): twice exp 10 u or 6 u, and four roundings"),
    row("gelu", 16.0, 12.0, "as silu; putting back the argument's rounding error rounds each r once more"),
    row("gelu_erf", 11.0, 13.0, "x/2·(erfc(z) - c): CUDA erfcf 4, 9 u; CUDA, glibc erfc 5, 11 u; 2 roundings"),
    row("softplus", 9.0, 7.0, "log1p(exp(-|x|)) + max(x, 0): exp 5 u or 3 u, log1p 3 u (1 ulp), sum 1 u"),
    row("silu_mul", 15.0, 11.0, "as silu, and the rounding of the product"),
    row("gelu_mul", 17.0, 13.0, "as gelu, and the rounding of the product"),
    row("elu", 4.0, 4.0, "a·expm1(x): expm1 3 u (CUDA, ROCm, glibc 1), product 1 u"),
];

/// The bound of `f16`, `bf16`, `f8e4m3`. Half an ulp is for the single rounding from `f32`. The error of the `f32`
/// result can only move it across a tie to the next neighbour, which the whole ulp covers.
pub const SMALL_FLOAT_ULPS: f64 = 1.0;

const fn row(op: &'static str, f32: f64, f64: f64, reason: &'static str) -> Bound {
    Bound { op, f32, f64, reason }
}

/// The judge of a transcendental operation's results.
pub(crate) fn transcendental(op: &str, dtype: DType) -> Judge {
    let bound =
        BOUNDS.iter().find(|bound| bound.op == op).expect("every transcendental operation has a bound");
    let (ulps, computed) = match dtype {
        DType::F64 => (bound.f64, bound.f64),
        DType::F32 => (bound.f32, bound.f32),
        _ => (SMALL_FLOAT_ULPS, bound.f32),
    };
    // Others have no scale, see `subnormal_tail` and `subnormal_gate`.
    let has_scale = ["gelu_erf", "silu_mul", "gelu_mul"].contains(&op);
    let t = if has_scale { computed * roundoff(dtype) } else { 0.0 };
    Judge::Within { ulps, t }
}

/// The scale of gelu_erf. If erfc(z) is subnormal in the compute type, its ulp no longer shrinks: its bound of n u is
/// then n u of the smallest normal number, magnified by x/2.
pub(crate) fn subnormal_tail(dtype: DType, x: f64, value: f64) -> f64 {
    let factor = x.abs() / 2.0;
    let erfc = value.abs() / factor;
    let normal = round::min_normal(compute(dtype));
    if erfc < normal && !is_zero_everywhere(dtype, erfc) { factor * normal } else { 0.0 }
}

/// The scale of gate · b, where the gate is an activation of a. If it is subnormal in the compute type, its ulp no longer
/// shrinks: its bound of n u is then n u of the smallest normal number, magnified by b. Types of 16 and 8 bits may have a
/// sigmoid that is subnormal, which a magnifies too.
pub(crate) fn subnormal_gate(dtype: DType, gate: f64, a: f64, b: f64) -> f64 {
    let factor = if dtype.size() < 4 { a.abs().max(1.0) } else { 1.0 };
    let normal = factor * round::min_normal(compute(dtype));
    if gate.abs() < normal { normal * b.abs() } else { 0.0 }
}

/// Whether a number is so far below the smallest subnormal of the compute type that it is 0 on all devices.
pub(crate) fn is_zero_everywhere(dtype: DType, x: f64) -> bool {
    x == 0.0 || x.abs() < round::min_normal(compute(dtype)) * roundoff(dtype) / 2.0
}

/// The compute type of a float dtype.
pub(crate) fn compute(dtype: DType) -> DType {
    if dtype == DType::F64 { DType::F64 } else { DType::F32 }
}

/// u of the compute type.
fn roundoff(dtype: DType) -> f64 {
    if dtype == DType::F64 { f64::EPSILON / 2.0 } else { f64::from(f32::EPSILON) / 2.0 }
}

/// t of a sum or dot product of k terms: 4e-16·√k for `f64`, 2e-7·√k for the others, which accumulate in `f32`. The
/// rounding errors of k additions grow like a random walk, with √k steps of at most half an ulp (6e-8, 1.1e-16). The
/// factor 3.4 leaves a margin for unlucky walks.
pub fn sum_tolerance(dtype: DType, k: usize) -> f64 {
    let step = if dtype == DType::F64 { 4e-16 } else { 2e-7 };
    step * (k as f64).sqrt()
}

/// t of a product of k factors: one unit roundoff (2^-24, 2^-53) per factor, in any order. This is a strict bound,
/// because each multiplication rounds once.
pub fn product_tolerance(dtype: DType, k: usize) -> f64 {
    roundoff(dtype) * k as f64
}
