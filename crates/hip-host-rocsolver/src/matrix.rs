//! Column-major matrices of the host's own memory: the algorithms work on copies.

use crate::scalar::Scalar;
use std::ops::{Index, IndexMut};

/// A matrix without gaps.
#[derive(Clone, Debug)]
pub(crate) struct Matrix<T> {
    rows: usize,
    cols: usize,
    elements: Vec<T>,
}

/// How a matrix is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Plain,
    Transposed,
    /// Of real numbers, as `Transposed`.
    Adjoint,
}

/// A triangle of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Triangle {
    Upper,
    Lower,
    /// The lower one, with ones on the diagonal.
    UnitLower,
}

impl<T: Scalar> Matrix<T> {
    pub(crate) fn from_fn(rows: usize, cols: usize, element: impl Fn(usize, usize) -> T) -> Self {
        let element = &element;
        let elements = (0..cols).flat_map(|j| (0..rows).map(move |i| element(i, j))).collect();
        Self { rows, cols, elements }
    }

    pub(crate) fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, elements: vec![T::ZERO; rows * cols] }
    }

    pub(crate) fn identity(rows: usize, cols: usize) -> Self {
        Self::from_fn(rows, cols, |i, j| if i == j { T::ONE } else { T::ZERO })
    }

    /// The matrix of columns one after the other.
    pub(crate) fn of_columns(rows: usize, cols: usize, elements: Vec<T>) -> Self {
        debug_assert_eq!(elements.len(), rows * cols);
        Self { rows, cols, elements }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    pub(crate) fn elements(&self) -> &[T] {
        &self.elements
    }

    pub(crate) fn column(&self, j: usize) -> &[T] {
        &self.elements[j * self.rows..(j + 1) * self.rows]
    }

    pub(crate) fn column_mut(&mut self, j: usize) -> &mut [T] {
        &mut self.elements[j * self.rows..(j + 1) * self.rows]
    }

    /// Adds `factor` times a part of a column to the same part of a later one.
    pub(crate) fn add_column(&mut self, from: usize, to: usize, rows: std::ops::Range<usize>, factor: T) {
        let (before, after) = self.elements.split_at_mut(to * self.rows);
        let source = &before[from * self.rows..][rows.clone()];
        for (target, source) in after[rows].iter_mut().zip(source) {
            *target += *source * factor;
        }
    }

    pub(crate) fn swap_rows(&mut self, i: usize, k: usize) {
        if i != k {
            for j in 0..self.cols {
                self.column_mut(j).swap(i, k);
            }
        }
    }

    pub(crate) fn adjoint(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self[(j, i)].conjugate())
    }

    pub(crate) fn product(&self, other: &Self) -> Self {
        let mut product = Self::zeros(self.rows, other.cols);
        for j in 0..other.cols {
            for k in 0..self.cols {
                let factor = other[(k, j)];
                for (sum, element) in product.column_mut(j).iter_mut().zip(self.column(k)) {
                    *sum += *element * factor;
                }
            }
        }
        product
    }

    /// The Hermitian matrix that a triangle stands for; imaginary parts on the diagonal count as zero.
    pub(crate) fn hermitian(&self, triangle: Triangle) -> Self {
        Self::from_fn(self.rows, self.cols, |i, j| match (i == j, (i < j) == (triangle == Triangle::Upper)) {
            (true, _) => T::of_real(self[(i, i)].real_part()),
            (false, true) => self[(i, j)],
            (false, false) => self[(j, i)].conjugate(),
        })
    }

    /// b = op(a)⁻¹ b, of a triangle of the first `b.rows()` rows and columns of this matrix.
    pub(crate) fn solve(&self, triangle: Triangle, op: Op, b: &mut Self) {
        let n = b.rows;
        let upper = triangle == Triangle::Upper;
        let element = |i, j| match op {
            Op::Plain => self[(i, j)],
            Op::Transposed => self[(j, i)],
            Op::Adjoint => self[(j, i)].conjugate(),
        };
        let backward = upper == (op == Op::Plain);
        for j in 0..b.cols {
            let x = b.column_mut(j);
            for step in 0..n {
                let k = if backward { n - 1 - step } else { step };
                if triangle != Triangle::UnitLower {
                    x[k] /= element(k, k);
                }
                let known = x[k];
                let rest = if backward { 0..k } else { k + 1..n };
                for i in rest {
                    x[i] -= element(i, k) * known;
                }
            }
        }
    }
}

impl<T> Index<(usize, usize)> for Matrix<T> {
    type Output = T;

    fn index(&self, (i, j): (usize, usize)) -> &T {
        debug_assert!(i < self.rows);
        &self.elements[j * self.rows + i]
    }
}

impl<T> IndexMut<(usize, usize)> for Matrix<T> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        debug_assert!(i < self.rows);
        &mut self.elements[j * self.rows + i]
    }
}
