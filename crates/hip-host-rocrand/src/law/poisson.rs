//! Poisson's distribution.

use super::formulas::{self, Word};

/// Poisson's distribution with a given mean.
pub(crate) enum Poisson {
    /// For a mean of at most [`LARGEST_TABLE`]: A. Walker's table of aliases, and the sums of the probabilities up to each value.
    Table { first: u32, cells: Vec<Cell>, sums: Vec<f64> },
    /// The normal distribution with this mean and variance.
    Normal(f64),
}

/// A value with the share that it keeps; the rest belongs to another value.
#[derive(Clone, Copy)]
pub(crate) struct Cell {
    share: f64,
    other: u32,
}

const LARGEST_TABLE: f64 = 4000.0;
/// Values that are less probable are left out.
const LEAST: f64 = 1e-12;

impl Poisson {
    /// `mean` is positive.
    pub(crate) fn new(mean: f64) -> Self {
        if mean > LARGEST_TABLE {
            return Self::Normal(mean);
        }
        let (first, probabilities) = probabilities(mean);
        let sums = probabilities.iter().scan(0.0, |sum, probability| {
            *sum += probability;
            Some(*sum)
        });
        Self::Table { first, sums: sums.collect(), cells: cells(probabilities) }
    }

    /// The number that a point's coordinate gives. It grows with the coordinate, so that numbers are as evenly spread as points.
    pub(crate) fn of_point(&self, coordinate: impl Word) -> u32 {
        match self {
            Self::Table { first, sums, .. } => {
                let point = coordinate.unit();
                let below = sums.partition_point(|&sum| sum < point);
                first + below.min(sums.len() - 1) as u32
            }
            Self::Normal(_) => self.of(coordinate),
        }
    }

    /// The number that a word gives.
    pub(crate) fn of(&self, word: impl Word) -> u32 {
        match self {
            Self::Table { first, cells, .. } => {
                let point = word.unit() * cells.len() as f64;
                let index = (point as usize).min(cells.len() - 1);
                let Cell { share, other } = cells[index];
                let value = if point - point.floor() < share { index as u32 } else { other };
                first + value
            }
            Self::Normal(mean) => (mean.sqrt() * formulas::inverse64(word) + mean).round() as u32,
        }
    }
}

/// The first value that is not left out, and the probabilities from there on, which sum to 1.
fn probabilities(mean: f64) -> (u32, Vec<f64>) {
    // The mean of rocRAND's table is in the middle.
    let half = (16.0 * (2.0 + mean.sqrt())) as i64;
    let middle = mean.floor() as i64;
    let log_mean = mean.ln();
    let probability = |value: i64| {
        let value = value as f64;
        (value * log_mean - libm::lgamma(value + 1.0) - mean).exp()
    };
    let above = (middle + 1..middle + half).take_while(|&value| probability(value) >= LEAST).count() as i64;
    let below =
        (middle - half..=middle).rev().take_while(|&value| probability(value) >= LEAST).count() as i64;
    let first = middle + 1 - below;
    let mut all: Vec<f64> = (first..=middle + above).map(probability).collect();
    let sum: f64 = all.iter().sum();
    all.iter_mut().for_each(|probability| *probability /= sum);
    // Values below 0 have no probability, so the first is not negative.
    (first.max(0) as u32, all)
}

fn cells(mut probabilities: Vec<f64>) -> Vec<Cell> {
    let count = probabilities.len();
    let average = 1.0 / count as f64;
    let mut cells = vec![Cell { share: 1.0, other: 0 }; count];
    let (mut large, mut small): (Vec<_>, Vec<_>) =
        (0..count).partition(|&value| probabilities[value] >= average);
    while let (Some(&less), Some(&more)) = (small.last(), large.last()) {
        small.pop();
        large.pop();
        cells[less] = Cell { share: probabilities[less] * count as f64, other: more as u32 };
        probabilities[more] = probabilities[more] + probabilities[less] - average;
        if probabilities[more] >= average { large.push(more) } else { small.push(more) }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table gives each value its probability, which has a recurrence: p(k + 1) = p(k) mean / (k + 1).
    #[test]
    fn the_table_has_the_probabilities() {
        for mean in [0.05, 1.0, 7.5, 300.0, 4000.0] {
            let Poisson::Table { first, cells, .. } = Poisson::new(mean) else {
                panic!("{mean} has a table")
            };
            let mut shares = vec![0.0; cells.len()];
            for (value, cell) in cells.iter().enumerate() {
                shares[value] += cell.share / cells.len() as f64;
                shares[cell.other as usize] += (1.0 - cell.share) / cells.len() as f64;
            }
            for (value, pair) in shares.windows(2).enumerate() {
                let ratio = mean / f64::from(first + value as u32 + 1);
                // The shares are sums of numbers near 1 / n, so their errors are a few of its rounding errors.
                let error = (pair[1] - ratio * pair[0]).abs();
                assert!(error < 1e-11, "{mean}: {value}: {error}");
            }
            let total: f64 = shares.iter().sum();
            assert!((total - 1.0).abs() < 1e-12, "{mean}: {total}");
        }
    }
}
