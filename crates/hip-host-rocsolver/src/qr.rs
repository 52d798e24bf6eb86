//! Householder reflectors: LAPACK's geqr2, org2r, orm2r and gels.

use crate::matrix::{Matrix, Op, Triangle};
use crate::scalar::{Real, Scalar};

/// A = Q R in place: R on and above the diagonal, the reflectors below it, and their factors in `tau`.
pub(crate) fn factor<T: Scalar>(a: &mut Matrix<T>, tau: &mut [T]) {
    debug_assert_eq!(tau.len(), a.rows().min(a.cols()));
    for (k, tau) in tau.iter_mut().enumerate() {
        *tau = reflector(&mut a.column_mut(k)[k..]);
        let vector = reflection(a, k);
        for j in k + 1..a.cols() {
            reflect(&vector, tau.conjugate(), &mut a.column_mut(j)[k..]);
        }
    }
}

/// Makes the reflector H = I - tau v vᴴ with Hᴴ x = beta e₁, v₁ = 1 and a real beta: beta and the rest of v replace x. Returns tau.
fn reflector<T: Scalar>(x: &mut [T]) -> T {
    let Some((first, rest)) = x.split_first_mut() else { return T::ZERO };
    // Scaled, so that no square overflows or vanishes.
    let mut scale = first.taxicab();
    for element in rest.iter() {
        let size = element.taxicab();
        // NaN has to stay.
        if size > scale || size.partial_cmp(&scale).is_none() {
            scale = size;
        }
    }
    let zero = T::Part::ZERO;
    let imaginary = first.parts()[1];
    if imaginary == zero && rest.iter().all(|element| *element == T::ZERO) {
        return T::ZERO;
    }
    let scaled = |element: T| T::of_parts(element.parts().map(|part| part / scale));
    let square = |element: T| {
        let [re, im] = scaled(element).parts();
        re * re + im * im
    };
    let sum = rest.iter().fold(square(*first), |sum, element| sum + square(*element));
    let alpha = scaled(*first);
    let beta = -sum.root().with_sign_of(alpha.real_part());
    let [re, im] = alpha.parts();
    let tau = T::of_parts([(beta - re) / beta, -im / beta]);
    let divisor = alpha - T::of_real(beta);
    for element in rest {
        *element = scaled(*element) / divisor;
    }
    *first = T::of_real(beta * scale);
    tau
}

/// The vector v of a reflector, from its 1 on.
fn reflection<T: Scalar>(a: &Matrix<T>, k: usize) -> Vec<T> {
    let mut vector = a.column(k)[k..].to_vec();
    vector[0] = T::ONE;
    vector
}

/// x = (I - tau v vᴴ) x.
fn reflect<T: Scalar>(v: &[T], tau: T, x: &mut [T]) {
    let sum = v.iter().zip(&*x).fold(T::ZERO, |sum, (v, x)| sum + v.conjugate() * *x);
    let factor = tau * sum;
    for (x, v) in x.iter_mut().zip(v) {
        *x -= *v * factor;
    }
}

/// c = op(Q) c, for the Q of the first `tau.len()` reflectors in `a`.
pub(crate) fn apply<T: Scalar>(a: &Matrix<T>, tau: &[T], adjoint: bool, c: &mut Matrix<T>) {
    for step in 0..tau.len() {
        let k = if adjoint { step } else { tau.len() - 1 - step };
        let vector = reflection(a, k);
        for j in 0..c.cols() {
            reflect(&vector, tau[k].conjugate_if(adjoint), &mut c.column_mut(j)[k..]);
        }
    }
}

/// The first `cols` columns of Q.
pub(crate) fn generate<T: Scalar>(a: &Matrix<T>, tau: &[T], cols: usize) -> Matrix<T> {
    let mut q = Matrix::identity(a.rows(), cols);
    apply(a, tau, false, &mut q);
    q
}

/// The solution of op(A) X = B with the least residual, or the smallest of all solutions, in the first rows of `b`, which has as many rows as
/// the longer side of `a`. `a` gets its factors. Returns the first zero on the diagonal of the triangular one, from 1 on, else 0; then `b` stays.
pub(crate) fn least_squares<T: Scalar>(a: &mut Matrix<T>, adjoint: bool, b: &mut Matrix<T>) -> i32 {
    // A wide matrix is factored as A = L Q, which is the adjoint of the factors of Aᴴ.
    let wide = a.rows() < a.cols();
    let mut tall = if wide { a.adjoint() } else { a.clone() };
    let (rows, cols) = (tall.rows(), tall.cols());
    let mut tau = vec![T::ZERO; cols];
    factor(&mut tall, &mut tau);
    let zero = (0..cols).find(|&k| tall[(k, k)] == T::ZERO);
    if cols == 0 {
        *b = Matrix::zeros(rows, b.cols());
    } else if zero.is_none() {
        let part = |b: &Matrix<T>| Matrix::from_fn(cols, b.cols(), |i, j| b[(i, j)]);
        if wide == adjoint {
            apply(&tall, &tau, true, b);
            let mut x = part(b);
            tall.solve(Triangle::Upper, Op::Plain, &mut x);
            for j in 0..b.cols() {
                b.column_mut(j)[..cols].copy_from_slice(x.column(j));
            }
        } else {
            let mut y = part(b);
            tall.solve(Triangle::Upper, Op::Adjoint, &mut y);
            *b = Matrix::from_fn(rows, b.cols(), |i, j| if i < cols { y[(i, j)] } else { T::ZERO });
            apply(&tall, &tau, false, b);
        }
    }
    *a = if wide { tall.adjoint() } else { tall };
    zero.map_or(0, |k| k as i32 + 1)
}
