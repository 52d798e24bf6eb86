//! Eigenvalues and singular values, by faer.

use crate::cholesky;
use crate::matrix::{Matrix, Op, Triangle};
use crate::scalar::{Real, Scalar};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::{Mat, MatRef, Par};

/// This thread alone, whatever the program has set for faer's own threads.
const PAR: Par = Par::Seq;

/// Which generalised problem is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// A x = λ B x
    Ax,
    /// A B x = λ x
    Abx,
    /// B A x = λ x
    Bax,
}

/// U Σ Vᴴ, the values falling. The matrices are whole, or have as many columns and rows as there are values.
pub(crate) struct Singular<T: Scalar> {
    pub(crate) values: Vec<T::Part>,
    pub(crate) left: Matrix<T>,
    pub(crate) right: Matrix<T>,
}

/// Rising eigenvalues of a Hermitian matrix, and a column of eigenvectors for each; `None` if they are not found.
pub(crate) fn eigen<T: Scalar>(a: &Matrix<T>, triangle: Triangle) -> Option<(Vec<T::Part>, Matrix<T>)> {
    let whole = a.hermitian(triangle);
    check_finite(&whole)?;
    let n = whole.rows();
    let (mut u, mut s) = (Mat::<T>::zeros(n, n), Diag::<T>::zeros(n));
    let scratch = self_adjoint_evd_scratch::<T>(n, ComputeEigenvectors::Yes, PAR, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    self_adjoint_evd(view(&whole), s.as_mut(), Some(u.as_mut()), PAR, stack, Default::default()).ok()?;
    let values = s.column_vector().iter().map(|value| value.real_part()).collect();
    Some((values, Matrix::from_fn(n, n, |i, j| u[(i, j)])))
}

/// Eigenvalues and eigenvectors of a problem of two Hermitian matrices, the second one positive definite and replaced by its factor. The
/// error is LAPACK's `info`.
pub(crate) fn generalised<T: Scalar>(
    problem: Problem,
    a: &Matrix<T>,
    b: &mut Matrix<T>,
    triangle: Triangle,
) -> Result<(Vec<T::Part>, Matrix<T>), i32> {
    let n = a.rows();
    let minor = cholesky::factor(b, triangle);
    if minor > 0 {
        return Err(n as i32 + minor);
    }
    // B = L Lᴴ, whichever triangle has it.
    let factor = if triangle == Triangle::Upper { b.adjoint() } else { b.clone() };
    let lower = Matrix::from_fn(n, n, |i, j| if i >= j { factor[(i, j)] } else { T::ZERO });
    let mut reduced = a.hermitian(triangle);
    if problem == Problem::Ax {
        lower.solve(Triangle::Lower, Op::Plain, &mut reduced);
        let mut other = reduced.adjoint();
        lower.solve(Triangle::Lower, Op::Plain, &mut other);
        reduced = other;
    } else {
        reduced = lower.adjoint().product(&reduced).product(&lower);
    }
    let (values, mut vectors) = eigen(&reduced, Triangle::Lower).ok_or(n.max(1) as i32)?;
    match problem {
        Problem::Bax => vectors = lower.product(&vectors),
        Problem::Ax | Problem::Abx => lower.solve(Triangle::Lower, Op::Adjoint, &mut vectors),
    }
    Ok((values, vectors))
}

/// The singular values, with full matrices of vectors, or only with the vectors of a value; `None` if they are not found.
pub(crate) fn singular<T: Scalar>(a: &Matrix<T>, whole: bool) -> Option<Singular<T>> {
    check_finite(a)?;
    let (m, n) = (a.rows(), a.cols());
    let least = m.min(n);
    let (rows, cols, compute) =
        if whole { (m, n, ComputeSvdVectors::Full) } else { (least, least, ComputeSvdVectors::Thin) };
    let (mut u, mut v, mut s) = (Mat::<T>::zeros(m, rows), Mat::<T>::zeros(n, cols), Diag::<T>::zeros(least));
    let mut memory = MemBuffer::new(svd_scratch::<T>(m, n, compute, compute, PAR, Default::default()));
    let stack = MemStack::new(&mut memory);
    let (left, right) = (Some(u.as_mut()), Some(v.as_mut()));
    svd(view(a), s.as_mut(), left, right, PAR, stack, Default::default()).ok()?;
    let values = s.column_vector().iter().map(|value| value.real_part()).collect();
    let left = Matrix::from_fn(m, rows, |i, j| u[(i, j)]);
    let right = Matrix::from_fn(cols, n, |i, j| v[(j, i)].conjugate());
    Some(Singular { values, left, right })
}

fn view<T: Scalar>(a: &Matrix<T>) -> MatRef<'_, T> {
    MatRef::from_column_major_slice(a.elements(), a.rows(), a.cols())
}

/// Iterations need not end on infinities and NaN.
fn check_finite<T: Scalar>(a: &Matrix<T>) -> Option<()> {
    a.elements().iter().all(|element| element.parts().into_iter().all(Real::is_number)).then_some(())
}
