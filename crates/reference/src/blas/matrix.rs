//! Matrices without a memory layout.

use super::Number;
use std::ops::{Index, IndexMut};

/// A matrix of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    elements: Vec<Number>,
}

impl Matrix {
    /// A matrix with elements computed from row and column.
    pub fn from_fn(rows: usize, cols: usize, element: impl Fn(usize, usize) -> Number) -> Self {
        let indices = (0..cols).flat_map(|j| (0..rows).map(move |i| (i, j)));
        Self { rows, cols, elements: indices.map(|(i, j)| element(i, j)).collect() }
    }

    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self::from_fn(rows, cols, |_, _| Number::ZERO)
    }

    /// A matrix of the elements of `data` from `first` on, with these row and column strides. Panics if it goes past
    /// the end.
    pub fn gather(
        data: &[Number],
        first: usize,
        (rows, cols): (usize, usize),
        (row_stride, col_stride): (usize, usize),
    ) -> Self {
        Self::from_fn(rows, cols, |i, j| data[first + i * row_stride + j * col_stride])
    }

    /// A vector as a one-column matrix.
    pub fn column(vector: &[Number]) -> Self {
        Self::from_fn(vector.len(), 1, |i, _| vector[i])
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The transposed matrix.
    #[must_use]
    pub fn t(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }

    /// The conjugated matrix.
    #[must_use]
    pub fn conj(&self) -> Self {
        Self::from_fn(self.rows, self.cols, |i, j| self[(i, j)].conj())
    }

    /// The symmetric matrix with this one's upper or lower half.
    #[must_use]
    pub fn symmetric(&self, upper: bool) -> Self {
        Self::from_fn(self.rows, self.cols, |i, j| {
            if (i <= j) == upper || i == j { self[(i, j)] } else { self[(j, i)] }
        })
    }

    /// The triangular matrix with this one's upper or lower half. `unit` sets the diagonal to ones.
    #[must_use]
    pub fn triangular(&self, upper: bool, unit: bool) -> Self {
        Self::from_fn(self.rows, self.cols, |i, j| match (i == j, (i < j) == upper) {
            (true, _) if unit => Number::ONE,
            (true, _) | (false, true) => self[(i, j)],
            (false, false) => Number::ZERO,
        })
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = Number;

    fn index(&self, (row, col): (usize, usize)) -> &Number {
        assert!(row < self.rows);
        &self.elements[row + col * self.rows]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (row, col): (usize, usize)) -> &mut Number {
        assert!(row < self.rows);
        &mut self.elements[row + col * self.rows]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(matrix: &Matrix) -> Vec<Vec<f64>> {
        (0..matrix.rows()).map(|i| (0..matrix.cols()).map(|j| matrix[(i, j)].re.hi).collect()).collect()
    }

    #[test]
    fn parts_of_a_matrix() {
        let data: Vec<Number> = (0..12).map(|x| Number::from(f64::from(x))).collect();
        let a = Matrix::gather(&data, 1, (3, 3), (1, 4));
        assert_eq!(rows(&a), [[1.0, 5.0, 9.0], [2.0, 6.0, 10.0], [3.0, 7.0, 11.0]]);
        assert_eq!(rows(&a.t())[0], [1.0, 2.0, 3.0]);
        assert_eq!(rows(&a.symmetric(true)), [[1.0, 5.0, 9.0], [5.0, 6.0, 10.0], [9.0, 10.0, 11.0]]);
        assert_eq!(rows(&a.symmetric(false)), [[1.0, 2.0, 3.0], [2.0, 6.0, 7.0], [3.0, 7.0, 11.0]]);
        assert_eq!(rows(&a.triangular(true, false)), [[1.0, 5.0, 9.0], [0.0, 6.0, 10.0], [0.0, 0.0, 11.0]]);
        assert_eq!(rows(&a.triangular(false, true)), [[1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [3.0, 7.0, 1.0]]);
    }
}
