//! Factors of positive definite matrices: LAPACK's potf2, and solutions by them.

use crate::matrix::{Matrix, Op, Triangle};
use crate::scalar::{Real, Scalar};

/// A = Uᴴ U or A = L Lᴴ in place of that triangle; the other one is not touched. Returns the order of the first minor that is not positive,
/// else 0.
pub(crate) fn factor<T: Scalar>(a: &mut Matrix<T>, triangle: Triangle) -> i32 {
    for k in 0..a.rows() {
        // The element of L below the diagonal, or that of U to the right of it, conjugated.
        let at = |a: &Matrix<T>, i: usize, j: usize| match triangle {
            Triangle::Upper => a[(j, i)].conjugate(),
            _ => a[(i, j)],
        };
        let mut rest = a[(k, k)].real_part();
        for j in 0..k {
            let [re, im] = at(a, k, j).parts();
            rest -= re * re + im * im;
        }
        // NaN is not positive either.
        if rest.partial_cmp(&T::Part::ZERO) != Some(std::cmp::Ordering::Greater) {
            a[(k, k)] = T::of_real(rest);
            return k as i32 + 1;
        }
        let diagonal = rest.root();
        a[(k, k)] = T::of_real(diagonal);
        for i in k + 1..a.rows() {
            let mut sum = at(a, i, k);
            for j in 0..k {
                sum -= at(a, i, j) * at(a, k, j).conjugate();
            }
            let value = sum / T::of_real(diagonal);
            match triangle {
                Triangle::Upper => a[(k, i)] = value.conjugate(),
                _ => a[(i, k)] = value,
            }
        }
    }
    0
}

/// b = A⁻¹ b, by the factor of A.
pub(crate) fn solve<T: Scalar>(a: &Matrix<T>, triangle: Triangle, b: &mut Matrix<T>) {
    let (first, second) = match triangle {
        Triangle::Upper => (Op::Adjoint, Op::Plain),
        _ => (Op::Plain, Op::Adjoint),
    };
    a.solve(triangle, first, b);
    a.solve(triangle, second, b);
}
