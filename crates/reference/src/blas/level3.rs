//! Level 3: matrices.

use super::{Matrix, Number, Sum, Sums};

/// `alpha a b + beta c`. If beta is 0, c is not read.
pub fn gemm(alpha: Number, a: &Matrix, b: &Matrix, beta: Number, c: &Matrix) -> Sums {
    assert_eq!((a.cols(), a.rows(), b.cols()), (b.rows(), c.rows(), c.cols()), "sizes of factors");
    Sums::from_fn(c.rows(), c.cols(), |i, j| {
        let mut sum = Sum::default();
        if alpha != Number::ZERO {
            sum = (0..a.cols()).fold(sum, |sum, p| sum.plus(&[alpha, a[(i, p)], b[(p, j)]]));
        }
        if beta == Number::ZERO { sum } else { sum.plus(&[beta, c[(i, j)]]) }
    })
}

/// `alpha a aᵀ + beta c`; `conjugate`: `alpha a aᴴ + beta c`. Computes the full matrix, although a call writes one
/// triangle.
pub fn rank_k(alpha: Number, a: &Matrix, conjugate: bool, beta: Number, c: &Matrix) -> Sums {
    let other = if conjugate { a.t().conj() } else { a.t() };
    gemm(alpha, a, &other, beta, c)
}

/// `alpha a + beta b`. A matrix whose factor is 0 is not read.
pub fn geam(alpha: Number, a: &Matrix, beta: Number, b: &Matrix) -> Sums {
    Sums::from_fn(a.rows(), a.cols(), |i, j| {
        let mut sum = Sum::default();
        for (factor, matrix) in [(alpha, a), (beta, b)] {
            if factor != Number::ZERO {
                sum = sum.plus(&[factor, matrix[(i, j)]]);
            }
        }
        sum
    })
}

/// `diag(x) a`.
pub fn diagonal_left(x: &[Number], a: &Matrix) -> Sums {
    Sums::from_fn(a.rows(), a.cols(), |i, j| Sum::default().plus(&[x[i], a[(i, j)]]))
}

/// `a diag(x)`.
pub fn diagonal_right(a: &Matrix, x: &[Number]) -> Sums {
    Sums::from_fn(a.rows(), a.cols(), |i, j| Sum::default().plus(&[a[(i, j)], x[j]]))
}

/// The residual `a x - alpha b`, which is 0 for the solution of `a x = alpha b`. The computed solution of a triangular
/// system has a residual that is small relative to its terms, whatever the condition of `a`.
pub fn solve_residual(a: &Matrix, x: &Matrix, alpha: Number, b: &Matrix) -> Sums {
    gemm(Number::ONE, a, x, -alpha, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: [[f64; 2]; 2]) -> Matrix {
        Matrix::from_fn(2, 2, |i, j| rows[i][j].into())
    }

    fn values(sums: &Sums) -> [[f64; 2]; 2] {
        [0, 1].map(|i| [0, 1].map(|j| sums[(i, j)].value.re.hi))
    }

    #[test]
    fn products() {
        let (a, b) = (matrix([[1.0, 2.0], [3.0, 4.0]]), matrix([[5.0, 6.0], [7.0, 8.0]]));
        let nan = Matrix::from_fn(2, 2, |_, _| f64::NAN.into());
        assert_eq!(values(&gemm(1.0.into(), &a, &b, 0.0.into(), &nan)), [[19.0, 22.0], [43.0, 50.0]]);
        assert_eq!(values(&gemm(0.0.into(), &nan, &nan, 2.0.into(), &a)), [[2.0, 4.0], [6.0, 8.0]]);
        assert_eq!(values(&gemm(2.0.into(), &a, &b, (-1.0).into(), &a)), [[37.0, 42.0], [83.0, 96.0]]);
        assert_eq!(values(&rank_k(1.0.into(), &a, false, 0.0.into(), &nan)), [[5.0, 11.0], [11.0, 25.0]]);
        let i = Matrix::from_fn(1, 1, |_, _| Number::new(0.0, 1.0));
        let zero = Matrix::zeros(1, 1);
        assert_eq!(rank_k(1.0.into(), &i, true, 0.0.into(), &zero)[(0, 0)].value, 1.0.into());
        assert_eq!(rank_k(1.0.into(), &i, false, 0.0.into(), &zero)[(0, 0)].value, (-1.0).into());
    }

    #[test]
    fn sums_and_diagonals() {
        let (a, b) = (matrix([[1.0, 2.0], [3.0, 4.0]]), matrix([[5.0, 6.0], [7.0, 8.0]]));
        assert_eq!(values(&geam(2.0.into(), &a, 10.0.into(), &b)), [[52.0, 64.0], [76.0, 88.0]]);
        let x = [Number::from(1.0), Number::from(10.0)];
        assert_eq!(values(&diagonal_left(&x, &a)), [[1.0, 2.0], [30.0, 40.0]]);
        assert_eq!(values(&diagonal_right(&a, &x)), [[1.0, 20.0], [3.0, 40.0]]);
    }

    #[test]
    fn residuals() {
        let a = matrix([[2.0, 0.0], [1.0, 4.0]]);
        // a [1 2; 3 4] = [2 4; 13 18], which is 2 b.
        let (x, b) = (matrix([[1.0, 2.0], [3.0, 4.0]]), matrix([[1.0, 2.0], [6.5, 9.0]]));
        let sums = solve_residual(&a, &x, 2.0.into(), &b);
        assert_eq!(values(&sums), [[0.0; 2]; 2]);
        assert_eq!(sums[(1, 0)].scale, 26.0);
    }
}
