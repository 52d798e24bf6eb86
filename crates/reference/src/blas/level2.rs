//! Level 2: matrices and vectors. Band, symmetric and triangular matrices are plain matrices here.

use super::level3::{gemm, solve_residual};
use super::{Matrix, Number, Sum, Sums};

/// `alpha a x + beta y`.
pub fn gemv(alpha: Number, a: &Matrix, x: &[Number], beta: Number, y: &[Number]) -> Vec<Sum> {
    let sums = gemm(alpha, a, &Matrix::column(x), beta, &Matrix::column(y));
    (0..a.rows()).map(|i| sums[(i, 0)]).collect()
}

/// `alpha x yᵀ + a`.
pub fn ger(alpha: Number, x: &[Number], y: &[Number], a: &Matrix) -> Sums {
    gemm(alpha, &Matrix::column(x), &Matrix::column(y).t(), Number::ONE, a)
}

/// `alpha x yᴴ + a`.
pub fn gerc(alpha: Number, x: &[Number], y: &[Number], a: &Matrix) -> Sums {
    gemm(alpha, &Matrix::column(x), &Matrix::column(y).t().conj(), Number::ONE, a)
}

/// The residual `a x - b`, which is 0 for the solution of `a x = b`.
pub fn solve_residual_vector(a: &Matrix, x: &[Number], b: &[Number]) -> Vec<Sum> {
    let sums = solve_residual(a, &Matrix::column(x), Number::ONE, &Matrix::column(b));
    (0..a.rows()).map(|i| sums[(i, 0)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: [[f64; 2]; 2]) -> Matrix {
        Matrix::from_fn(2, 2, |i, j| rows[i][j].into())
    }

    #[test]
    fn products_with_vectors() {
        let a = matrix([[1.0, 2.0], [3.0, 4.0]]);
        let x = [Number::from(1.0), Number::from(10.0)];
        let y = gemv(2.0.into(), &a, &x, 3.0.into(), &[Number::from(1.0), Number::from(2.0)]);
        assert_eq!((y[0].value, y[1].value), (45.0.into(), 92.0.into()));
        assert_eq!((y[0].scale, y[0].terms), (45.0, 3));
        let residual = solve_residual_vector(&a, &x, &[Number::from(21.0), Number::from(44.0)]);
        assert_eq!((residual[0].value, residual[1].value), (0.0.into(), (-1.0).into()));
    }

    #[test]
    fn updates() {
        let i = Number::new(0.0, 1.0);
        let a = Matrix::zeros(1, 2);
        let (x, y) = ([i], [Number::ONE, i]);
        let (plain, conjugate) = (ger(2.0.into(), &x, &y, &a), gerc(2.0.into(), &x, &y, &a));
        assert_eq!((plain[(0, 0)].value, plain[(0, 1)].value), (Number::new(0.0, 2.0), (-2.0).into()));
        assert_eq!(conjugate[(0, 1)].value, 2.0.into());
    }
}
