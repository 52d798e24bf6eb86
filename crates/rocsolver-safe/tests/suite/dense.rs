//! Matrices that the results are judged with: complex numbers of f64, and loops.

use rocsolver_safe::{Complex32, Complex64, Lapack};
use std::ops::{Index, IndexMut, Sub};

pub(crate) type C = Complex64;

/// The types under test.
pub(crate) trait Judged: Lapack + std::fmt::Debug + PartialEq {
    /// Two roundings of one operation. LAPACK's bounds count roundings, and 2 u is eps.
    const EPS: f64;

    fn of(value: C) -> Self;
    fn wide(self) -> C;
    fn real(real: Self::Real) -> f64;

    /// The relative error of a sum of so many products, each factor rounded once: n u / (1 - n u), with room for twice as much. A product of
    /// complex numbers has an error of 2√2 u and a quotient of 4√2 u (Higham, lemma 3.5), where real ones have u.
    fn gamma(n: usize) -> f64 {
        let factor = if Self::COMPLEX { 3.0 } else { 1.0 };
        factor * n as f64 * Self::EPS
    }

    /// The relative error of so many reflectors of m elements: each has a sum for the norm of its vector, a sum for its product with a column,
    /// and five roundings beside each of them (Higham, lemmas 19.1 to 19.3).
    fn reflections(m: usize, count: usize) -> f64 {
        Self::gamma(count * (2 * m + 10))
    }
}

macro_rules! judged {
    ($($T:ty, $part:ident, $of:expr, $wide:expr;)*) => {$(
        impl Judged for $T {
            const EPS: f64 = $part::EPSILON as f64;

            fn of(value: C) -> Self {
                $of(value)
            }

            fn wide(self) -> C {
                $wide(self)
            }

            fn real(real: $part) -> f64 {
                real.into()
            }
        }
    )*};
}

judged! {
    f32, f32, |z: C| z.re as f32, |x: f32| C::new(x.into(), 0.0);
    f64, f64, |z: C| z.re, |x: f64| C::new(x, 0.0);
    Complex32, f32, |z: C| Complex32::new(z.re as f32, z.im as f32), |z: Complex32| C::new(z.re.into(), z.im.into());
    Complex64, f64, |z: C| z, |z: C| z;
}

/// A column-major matrix.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dense {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) elements: Vec<C>,
}

impl Dense {
    pub(crate) fn from_fn(rows: usize, cols: usize, element: impl Fn(usize, usize) -> C) -> Self {
        let element = &element;
        let elements = (0..cols).flat_map(|j| (0..rows).map(move |i| element(i, j))).collect();
        Self { rows, cols, elements }
    }

    pub(crate) fn identity(rows: usize, cols: usize) -> Self {
        Self::from_fn(rows, cols, |i, j| C::new(f64::from(u8::from(i == j)), 0.0))
    }

    /// Numbers between -1 and 1 that a seed stands for, as `T` has them.
    pub(crate) fn random<T: Judged>(rows: usize, cols: usize, seed: u64) -> Self {
        let mut state =
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(rows as u64 * 1000 + cols as u64);
        let mut next = || {
            // Steele, Lea and Flood: SplitMix64.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z ^ (z >> 31)) as f64 / u64::MAX as f64 * 2.0 - 1.0
        };
        let elements = (0..rows * cols).map(|_| T::of(C::new(next(), next())).wide()).collect();
        Self { rows, cols, elements }
    }

    /// A Hermitian matrix, made positive definite by a shift of its diagonal.
    pub(crate) fn hermitian<T: Judged>(n: usize, shift: f64, seed: u64) -> Self {
        let a = Self::random::<T>(n, n, seed);
        Self::from_fn(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Equal => T::of(C::new(a[(i, i)].re + shift, 0.0)).wide(),
            std::cmp::Ordering::Less => a[(i, j)],
            std::cmp::Ordering::Greater => a[(j, i)].conj(),
        })
    }

    pub(crate) fn adjoint(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self[(j, i)].conj())
    }

    pub(crate) fn transposed(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        assert_eq!(self.cols, other.rows);
        Self::from_fn(self.rows, other.cols, |i, j| {
            (0..self.cols).map(|k| self[(i, k)] * other[(k, j)]).sum()
        })
    }

    /// Each column times a number.
    pub(crate) fn scaled(&self, factors: &[f64]) -> Self {
        Self::from_fn(self.rows, self.cols, |i, j| self[(i, j)] * factors[j])
    }

    /// The first rows and columns.
    pub(crate) fn part(&self, rows: usize, cols: usize) -> Self {
        Self::from_fn(rows, cols, |i, j| self[(i, j)])
    }

    /// The elements for which the test holds; the others are zero.
    pub(crate) fn only(&self, keeps: impl Fn(usize, usize) -> bool) -> Self {
        Self::from_fn(self.rows, self.cols, |i, j| if keeps(i, j) { self[(i, j)] } else { C::ZERO })
    }

    /// The Frobenius norm.
    pub(crate) fn norm(&self) -> f64 {
        self.elements.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt()
    }

    pub(crate) fn swap_rows(&mut self, i: usize, k: usize) {
        for j in 0..self.cols {
            self.elements.swap(j * self.rows + i, j * self.rows + k);
        }
    }

    /// The inverse by elimination with the largest pivot, for well-conditioned matrices.
    pub(crate) fn inverse(&self) -> Self {
        let n = self.rows;
        let mut both = Self::from_fn(n, 2 * n, |i, j| {
            if j < n { self[(i, j)] } else { C::new(f64::from(u8::from(i + n == j)), 0.0) }
        });
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &l| both[(i, k)].norm().total_cmp(&both[(l, k)].norm())).unwrap();
            both.swap_rows(k, pivot);
            let diagonal = both[(k, k)];
            for j in 0..2 * n {
                both[(k, j)] /= diagonal;
            }
            for i in (0..n).filter(|&i| i != k) {
                let factor = both[(i, k)];
                for j in 0..2 * n {
                    let other = both[(k, j)];
                    both[(i, j)] -= factor * other;
                }
            }
        }
        Self::from_fn(n, n, |i, j| both[(i, n + j)])
    }
}

impl Sub for &Dense {
    type Output = Dense;

    fn sub(self, other: Self) -> Dense {
        assert_eq!((self.rows, self.cols), (other.rows, other.cols));
        Dense::from_fn(self.rows, self.cols, |i, j| self[(i, j)] - other[(i, j)])
    }
}

impl Index<(usize, usize)> for Dense {
    type Output = C;

    fn index(&self, (i, j): (usize, usize)) -> &C {
        &self.elements[j * self.rows + i]
    }
}

impl IndexMut<(usize, usize)> for Dense {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut C {
        &mut self.elements[j * self.rows + i]
    }
}

/// Fails if the matrix is larger than the bound, or NaN.
#[track_caller]
pub(crate) fn small(what: &str, error: &Dense, bound: f64) {
    let norm = error.norm();
    assert!(norm <= bound, "{what}: {norm:e} is above {bound:e}");
}
