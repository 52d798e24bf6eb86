//! Network layers in f64, directly from their definitions, with the scale of each sum's error.
//!
//! Arrays are dense and row-major. Results that are sums are [`Sum`]s: a device that adds in another order or precision
//! may be off by a fraction of Σ|terms|.

pub mod attention;
pub mod convolution;
pub mod norm;
pub mod pooling;
pub mod recurrent;
pub mod reduction;

/// A sum of terms.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sum {
    /// The sum.
    pub value: f64,
    /// The sum of the absolute values.
    pub scale: f64,
    /// The number of terms.
    pub count: usize,
}

impl Sum {
    /// One term.
    pub fn one(value: f64) -> Sum {
        Sum { value, scale: value.abs(), count: 1 }
    }

    /// Adds a term.
    pub fn add(&mut self, term: f64) {
        self.value += term;
        self.scale += term.abs();
        self.count += 1;
    }

    /// Multiplies the sum by a factor.
    pub fn times(self, factor: f64) -> Sum {
        Sum { value: self.value * factor, scale: self.scale * factor.abs(), ..self }
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Sum {
        let mut sum = Sum::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum
    }
}

/// Calls `visit` with every index of an array of these lengths, in order.
pub fn each(dims: &[usize], mut visit: impl FnMut(&[usize])) {
    let mut index = vec![0; dims.len()];
    if dims.contains(&0) {
        return;
    }
    loop {
        visit(&index);
        let Some(axis) = (0..dims.len()).rev().find(|&axis| index[axis] + 1 < dims[axis]) else { return };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}

/// The row-major position of an index in an array of these lengths.
pub fn flat_index(dims: &[usize], index: &[usize]) -> usize {
    dims.iter().zip(index).fold(0, |flat_index, (dim, i)| flat_index * dim + i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_and_flat_indices() {
        let mut seen = Vec::new();
        each(&[2, 3], |index| seen.push((index.to_vec(), flat_index(&[2, 3], index))));
        assert_eq!(seen.len(), 6);
        assert_eq!(seen[4], (vec![1, 1], 4));
        let sum: Sum = [1.0, -2.0].into_iter().collect();
        assert_eq!(sum, Sum { value: -1.0, scale: 3.0, count: 2 });
        assert_eq!(sum.times(-2.0), Sum { value: 2.0, scale: 6.0, count: 2 });
    }
}
