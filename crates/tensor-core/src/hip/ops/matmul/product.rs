//! A product of tensors in BLAS terms: strided matrices and a strided batch.

use smallvec::SmallVec;

use crate::layout::{Collapsed, Layout, collapse};

/// With more calls our kernels are faster, which need one launch.
const MOST_CALLS: usize = 64;

/// Products `[rows, inner] · [inner, columns]`: `calls` calls with `count` products each. Strides and positions are in
/// elements.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::hip::ops) struct Product {
    pub rows: usize,
    pub columns: usize,
    pub inner: usize,
    /// Products per call.
    pub count: usize,
    pub left: Operand,
    pub right: Operand,
    /// Distance between the results of a call.
    pub step: usize,
    /// Start positions of each call: left, right, result.
    pub calls: SmallVec<[[usize; 3]; 1]>,
}

/// The strides of a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::hip::ops) struct Operand {
    pub row: usize,
    pub column: usize,
    /// Distance between the matrices of a call.
    pub step: usize,
    /// Whether a BLAS supports these strides of rows and columns.
    pub fits: bool,
}

impl Product {
    /// The products of two layouts with equal batch dimensions and a contiguous result. `None` if the inner dimension
    /// is 0 or too many calls would be needed.
    pub(super) fn new(lhs: &Layout, rhs: &Layout, result: &Layout) -> Option<Self> {
        let rank = lhs.rank();
        let (rows, inner, columns) = (lhs.dims()[rank - 2], lhs.dims()[rank - 1], rhs.dims()[rank - 1]);
        if inner == 0 {
            return None;
        }
        let start = [lhs.offset(), rhs.offset(), 0];
        let left = Operand::of(lhs);
        let right = Operand::of(rhs);
        if rank == 2 {
            let calls = SmallVec::from_buf([start]);
            return Some(Self { rows, columns, inner, count: 1, left, right, step: 0, calls });
        }
        let batch = [lhs, rhs, result].map(|layout| layout.split(&[rank - 2, rank - 1]).0);
        let same_right = batch[1]
            .dims()
            .iter()
            .zip(batch[1].strides())
            .all(|(&length, &stride)| length == 1 || stride == 0);
        if same_right {
            // If all of the batch uses the same right matrix, all rows form one product, provided their distance is
            // constant and not 0.
            let Collapsed { dims, strides } = collapse(&[&lhs.split(&[rank - 1]).0]);
            let rows = dims.first().copied().unwrap_or(1);
            let row = strides[0].first().copied().unwrap_or(0);
            if dims.len() <= 1 && (rows == 1 || row != 0) {
                let left = Operand::new(rows, inner, row, left.column, 0);
                let right = Operand { step: 0, ..right };
                let calls = SmallVec::from_buf([start]);
                return Some(Self { rows, columns, inner, count: 1, left, right, step: 0, calls });
            }
        }
        let Collapsed { dims, strides } = collapse(&[&batch[0], &batch[1], &batch[2]]);
        let (outer, count) = match dims.split_last() {
            Some((&last, outer)) => (outer, last),
            None => (&[][..], 1),
        };
        let last = |layout: usize| strides[layout].last().copied().unwrap_or(0);
        let (left, right) = (Operand { step: last(0), ..left }, Operand { step: last(1), ..right });
        let turns = outer.iter().try_fold(1_usize, |turns, &length| turns.checked_mul(length))?;
        if turns > MOST_CALLS {
            return None;
        }
        let call = |turn: usize| {
            let (mut rest, mut offsets) = (turn, start);
            for (axis, &length) in outer.iter().enumerate().rev() {
                let index = rest % length;
                rest /= length;
                for (offset, strides) in offsets.iter_mut().zip(&strides) {
                    *offset += index * strides[axis];
                }
            }
            offsets
        };
        let calls = (0..turns).map(call).collect();
        Some(Self { rows, columns, inner, count, left, right, step: last(2), calls })
    }
}

impl Operand {
    fn of(layout: &Layout) -> Self {
        let rank = layout.rank();
        let [rows, columns] = [layout.dims()[rank - 2], layout.dims()[rank - 1]];
        Self::new(rows, columns, layout.strides()[rank - 2], layout.strides()[rank - 1], 0)
    }

    fn new(rows: usize, columns: usize, row: usize, column: usize, step: usize) -> Self {
        let by_rows = (columns == 1 || column == 1) && (rows == 1 || row >= columns);
        let by_columns = (rows == 1 || row == 1) && (columns == 1 || column >= rows);
        Self { row, column, step, fits: by_rows || by_columns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;

    fn product(lhs: &Layout, rhs: &Layout) -> Option<Product> {
        let rank = lhs.rank();
        let shape: Vec<usize> =
            lhs.dims()[..rank - 1].iter().chain(&rhs.dims()[rank - 1..]).copied().collect();
        Product::new(lhs, rhs, &Layout::contiguous(shape, "test").unwrap())
    }

    fn tight(shape: &[usize]) -> Layout {
        Layout::contiguous(shape.to_vec(), "test").unwrap()
    }

    #[test]
    fn one_matrix_for_the_whole_batch_is_one_product() {
        let rhs = tight(&[1, 1, 8, 5]).expand(&Shape::from(&[2, 3, 8, 5][..]), "test").unwrap();
        let found = product(&tight(&[2, 3, 4, 8]), &rhs).unwrap();
        assert_eq!((found.rows, found.columns, found.inner, found.count), (24, 5, 8, 1));
        assert_eq!((found.left.row, found.left.column, found.left.fits), (8, 1, true));
        assert_eq!(found.calls[..], [[0, 0, 0]]);
        // One repeated row is one product per batch entry.
        let row = tight(&[1, 1, 8]).expand(&Shape::from(&[6, 1, 8][..]), "test").unwrap();
        let rhs = tight(&[1, 8, 5]).expand(&Shape::from(&[6, 8, 5][..]), "test").unwrap();
        let found = product(&row, &rhs).unwrap();
        assert_eq!((found.rows, found.count, found.left.step, found.left.fits), (1, 6, 0, true));
        // Unevenly spaced rows are not one product.
        let narrowed = tight(&[6, 5, 8]).narrow(1, 1, 4, "test").unwrap();
        let rhs = tight(&[1, 8, 5]).expand(&Shape::from(&[6, 8, 5][..]), "test").unwrap();
        let found = product(&narrowed, &rhs).unwrap();
        assert_eq!((found.rows, found.count, found.left.step, found.right.step), (4, 6, 40, 0));
        assert_eq!((found.step, found.calls[0]), (20, [8, 0, 0]));
    }

    #[test]
    fn a_matrix_without_a_batch_is_one_product() {
        let narrowed = tight(&[8, 5]).narrow(1, 2, 3, "test").unwrap();
        let found = product(&tight(&[8, 4]).transpose(0, 1), &narrowed).unwrap();
        assert_eq!((found.rows, found.columns, found.inner, found.count), (4, 3, 8, 1));
        assert_eq!((found.left.row, found.left.column, found.right.row, found.right.column), (1, 4, 5, 1));
        assert_eq!(found.calls[..], [[0, 2, 0]]);
        // As with a batch of one.
        let batch = product(&tight(&[1, 4, 8]), &tight(&[1, 8, 5]));
        assert_eq!(product(&tight(&[4, 8]), &tight(&[8, 5])), batch);
    }

    #[test]
    fn transposed_and_narrowed_operands_fit_and_others_do_not() {
        let fits = |layout: &Layout| Operand::of(layout).fits;
        assert!(fits(&tight(&[4, 8])) && fits(&tight(&[8, 4]).transpose(0, 1)));
        assert!(fits(&tight(&[4, 9]).narrow(1, 2, 5, "test").unwrap()));
        assert!(fits(&tight(&[9, 4]).transpose(0, 1).narrow(1, 2, 5, "test").unwrap()));
        let spread = Layout::strided([3, 4], &[8, 2], 0, "test").unwrap();
        let repeated = tight(&[1, 4]).expand(&Shape::from(&[3, 4][..]), "test").unwrap();
        assert!(!fits(&spread) && !fits(&repeated));
        // A single row or column may have any stride.
        assert!(fits(&Layout::strided([1, 4], &[0, 1], 0, "test").unwrap()));
        assert!(fits(&Layout::strided([4, 1], &[7, 0], 0, "test").unwrap()));
        assert!(fits(&Layout::strided([1, 4], &[0, 7], 0, "test").unwrap()));
    }

    #[test]
    fn batches_that_do_not_merge_take_a_call_each() {
        let lhs = tight(&[2, 1, 4, 8]).expand(&Shape::from(&[2, 3, 4, 8][..]), "test").unwrap();
        let rhs = tight(&[1, 3, 8, 5]).expand(&Shape::from(&[2, 3, 8, 5][..]), "test").unwrap();
        let found = product(&lhs, &rhs).unwrap();
        assert_eq!((found.count, found.left.step, found.right.step, found.step), (3, 0, 40, 20));
        assert_eq!(found.calls[..], [[0, 0, 0], [32, 0, 60]]);
        let lhs = tight(&[100, 1, 4, 8]).expand(&Shape::from(&[100, 3, 4, 8][..]), "test").unwrap();
        let rhs = tight(&[1, 3, 8, 5]).expand(&Shape::from(&[100, 3, 8, 5][..]), "test").unwrap();
        assert_eq!(product(&lhs, &rhs), None);
        assert_eq!(product(&tight(&[4, 0]), &tight(&[0, 5])), None);
    }
}
