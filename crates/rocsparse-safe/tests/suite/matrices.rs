//! Random sparse matrices, and their encoding in each format, entry by entry.

use crate::judge::Dense;
use crate::numbers::{Number, Random};
use rocsparse_safe::{BlockLayout, Format, Index, Parts};

/// Entries by row and column, none twice.
#[derive(Clone, Debug)]
pub(crate) struct Matrix<T> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) entries: Vec<(usize, usize, T)>,
}

pub(crate) const BLOCKS: Format = Format::Bsr { block: 2, layout: BlockLayout::RowMajor };
pub(crate) const BLOCKS_BY_COLUMN: Format = Format::Bsr { block: 3, layout: BlockLayout::ColumnMajor };
/// The width is that of the longest row.
pub(crate) const ELL: Format = Format::Ell { width: 0 };

impl<T: Number> Matrix<T> {
    /// About so many entries of a hundred. Every fourth row is empty.
    pub(crate) fn random(seed: u64, rows: usize, cols: usize, percent: usize) -> Self {
        let mut random = Random(seed);
        let mut entries = Vec::new();
        for row in (0..rows).filter(|row| row % 4 != 1) {
            for col in 0..cols {
                if random.below(100) < percent {
                    entries.push((row, col, T::of(random.number())));
                }
            }
        }
        Self { rows, cols, entries }
    }

    /// Matrices of many shapes: wide, high, square, one element, no entries, no rows, no columns.
    pub(crate) fn some() -> Vec<Self> {
        let mut all: Vec<Self> = [(24, 18, 30), (6, 60, 15), (66, 12, 20), (30, 30, 100), (12, 12, 0)]
            .into_iter()
            .zip(1..)
            .map(|((rows, cols, percent), seed)| Self::random(seed, rows, cols, percent))
            .collect();
        all.push(Self { rows: 0, cols: 6, entries: Vec::new() });
        all.push(Self { rows: 6, cols: 0, entries: Vec::new() });
        all
    }

    pub(crate) fn dense(&self) -> Dense {
        Dense::of(self.rows, self.cols, &self.entries)
    }

    pub(crate) fn parts<I: Index>(&self, format: Format) -> Parts<Vec<I>, Vec<T>> {
        let &Self { rows, cols, ref entries } = self;
        let index = |size: usize| I::of_size(size).expect("it is small");
        let values = |entries: &[(usize, usize, T)]| entries.iter().map(|entry| entry.2).collect();
        let offsets = |lists: usize, list: &dyn Fn(&(usize, usize, T)) -> usize| {
            (0..=lists).map(|end| index(entries.iter().filter(|entry| list(entry) < end).count())).collect()
        };
        match format {
            Format::Csr => {
                let indices = entries.iter().map(|entry| index(entry.1)).collect();
                Parts::csr(rows, cols, offsets(rows, &|entry| entry.0), indices, values(entries))
            }
            Format::Csc => {
                let mut turned = entries.clone();
                turned.sort_by_key(|entry| (entry.1, entry.0));
                let indices = turned.iter().map(|entry| index(entry.0)).collect();
                Parts::csc(rows, cols, offsets(cols, &|entry| entry.1), indices, values(&turned))
            }
            Format::Coo => {
                let of = |which: fn(&(usize, usize, T)) -> usize| {
                    entries.iter().map(|e| index(which(e))).collect()
                };
                Parts::coo(rows, cols, of(|entry| entry.0), of(|entry| entry.1), values(entries))
            }
            Format::Bsr { block, layout } => {
                let mut blocks: Vec<_> = entries.iter().map(|e| (e.0 / block, e.1 / block)).collect();
                blocks.sort_unstable();
                blocks.dedup();
                let mut numbers = vec![T::ZERO; blocks.len() * block * block];
                for &(row, col, value) in entries {
                    let which = blocks.binary_search(&(row / block, col / block)).expect("it is one of them");
                    let (row, col) = (row % block, col % block);
                    let inside =
                        if layout == BlockLayout::RowMajor { row * block + col } else { col * block + row };
                    numbers[which * block * block + inside] = value;
                }
                let ends = (0..=rows / block)
                    .map(|end| index(blocks.iter().filter(|at| at.0 < end).count()))
                    .collect();
                let indices = blocks.iter().map(|at| index(at.1)).collect();
                Parts::bsr([rows, cols], (block, layout), ends, indices, numbers)
            }
            Format::Ell { .. } => {
                let in_row = |row: usize| entries.iter().filter(move |entry| entry.0 == row);
                let width = (0..rows).map(|row| in_row(row).count()).max().unwrap_or_default();
                let mut indices = vec![I::PADDING; rows * width];
                let mut numbers = vec![T::ZERO; rows * width];
                for row in 0..rows {
                    for (column, entry) in in_row(row).enumerate() {
                        indices[column * rows + row] = index(entry.1);
                        numbers[column * rows + row] = entry.2;
                    }
                }
                Parts::ell(rows, cols, width, indices, numbers)
            }
        }
    }
}
