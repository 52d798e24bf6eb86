//! c = alpha a b + beta c, for the types of the `gemm` crate.

use super::super::parallel;
use super::super::scalar::Field;
use super::matrix::Matrix;
use gemm::Parallelism;

/// The number of multiplications of a product.
pub(super) fn steps((m, n, k): (usize, usize, usize)) -> f64 {
    2.0 * m as f64 * n as f64 * k as f64
}

/// The product, on several threads if it is large. If `beta` is zero c is not read; if `k` or `alpha` is zero a and b are not read.
///
/// # Safety
/// a is m × k, b is k × n, c is m × n; nobody else uses c.
pub(super) unsafe fn product<T: Field>(
    size: (usize, usize, usize),
    alpha: T,
    a: Matrix<T>,
    b: Matrix<T>,
    beta: T,
    c: Matrix<T>,
) {
    let (m, n, k) = size;
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 || alpha == T::ZERO {
        // SAFETY: S2: the caller vouches for c.
        return unsafe { scale(m, n, beta, c) };
    }
    parallel::spread(steps(size), |threads| {
        // SAFETY: S2, S12: the caller vouches for the matrices. The crate has code for each `Field`.
        unsafe { run(size, alpha, a, b, beta, c, threads) }
    });
}

/// # Safety
/// As [`product`]; `T` is a type of the `gemm` crate.
unsafe fn run<T: Field>(
    (m, n, k): (usize, usize, usize),
    alpha: T,
    a: Matrix<T>,
    b: Matrix<T>,
    beta: T,
    c: Matrix<T>,
    threads: Parallelism,
) {
    // SAFETY: S2: the caller vouches for it. Its alpha is our beta.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.start(),
            c.steps.1,
            c.steps.0,
            beta != T::ZERO,
            a.start(),
            a.steps.1,
            a.steps.0,
            b.start(),
            b.steps.1,
            b.steps.0,
            beta,
            alpha,
            false,
            a.conjugated,
            b.conjugated,
            threads,
        );
    }
}

/// c = beta c; if `beta` is zero c is not read.
///
/// # Safety
/// c is m × n; nobody else uses it.
pub(super) unsafe fn scale<T: Field>(m: usize, n: usize, beta: T, c: Matrix<T>) {
    if beta == T::ONE {
        return;
    }
    parallel::ranges(n, 1 + (1 << 15) / (m + 1), m as f64, &|columns| {
        for column in columns {
            for row in 0..m {
                // SAFETY: S2, S12: the caller vouches for c; the columns are disjoint.
                unsafe {
                    let value = if beta == T::ZERO { T::ZERO } else { beta * c.get(row, column) };
                    c.set(row, column, value);
                }
            }
        }
    });
}
