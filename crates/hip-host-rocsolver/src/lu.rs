//! Factors of general matrices: LAPACK's getf2, and solutions and inverses by them.

use crate::matrix::{Matrix, Op, Triangle};
use crate::scalar::Scalar;

/// P A = L U in place, and the rows that each step exchanged, from 1 on. Returns the first pivot that is zero, from 1 on, else 0.
pub(crate) fn factor<T: Scalar>(a: &mut Matrix<T>, pivots: &mut [i32]) -> i32 {
    let (m, n) = (a.rows(), a.cols());
    let mut info = 0;
    for k in 0..m.min(n) {
        let mut pivot = k;
        for i in k + 1..m {
            if a[(i, k)].taxicab() > a[(pivot, k)].taxicab() {
                pivot = i;
            }
        }
        pivots[k] = pivot as i32 + 1;
        if a[(pivot, k)] == T::ZERO {
            if info == 0 {
                info = k as i32 + 1;
            }
            continue;
        }
        a.swap_rows(k, pivot);
        let diagonal = a[(k, k)];
        for element in &mut a.column_mut(k)[k + 1..] {
            *element /= diagonal;
        }
        for j in k + 1..n {
            let factor = -a[(k, j)];
            a.add_column(k, j, k + 1..m, factor);
        }
    }
    info
}

/// b = op(A)⁻¹ b, by the factors of A.
pub(crate) fn solve<T: Scalar>(a: &Matrix<T>, pivots: &[i32], op: Op, b: &mut Matrix<T>) {
    let rows = pivots.iter().map(|&row| row.max(1) as usize - 1).enumerate();
    if op == Op::Plain {
        rows.for_each(|(i, row)| b.swap_rows(i, row));
        a.solve(Triangle::UnitLower, op, b);
        a.solve(Triangle::Upper, op, b);
    } else {
        a.solve(Triangle::Upper, op, b);
        a.solve(Triangle::UnitLower, op, b);
        rows.rev().for_each(|(i, row)| b.swap_rows(i, row));
    }
}

/// A⁻¹ in place of the factors of A. Returns the first zero on the diagonal, from 1 on, else 0; then the factors stay.
pub(crate) fn invert<T: Scalar>(a: &mut Matrix<T>, pivots: &[i32]) -> i32 {
    let n = a.rows();
    if let Some(zero) = (0..n).find(|&i| a[(i, i)] == T::ZERO) {
        return zero as i32 + 1;
    }
    let mut inverse = Matrix::identity(n, n);
    solve(a, pivots, Op::Plain, &mut inverse);
    *a = inverse;
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out by hand: the second row has the largest first element.
    #[test]
    fn factors_of_two_by_two() {
        let mut a = Matrix::of_columns(2, 2, vec![1.0, 4.0, 2.0, 4.0]);
        let mut pivots = [0; 2];
        assert_eq!(factor(&mut a, &mut pivots), 0);
        assert_eq!((pivots, a.column(0), a.column(1)), ([2, 2], &[4.0, 0.25][..], &[4.0, 1.0][..]));
        let mut b = Matrix::of_columns(2, 1, vec![5.0, 12.0]);
        solve(&a, &pivots, Op::Plain, &mut b);
        assert_eq!(b.column(0), [1.0, 2.0]);
    }
}
