//! The views used to test operations with one argument.

use reference::DType;

use crate::case::{Layout, Operand};
use crate::inputs::Contents;
use crate::view::Step;

/// Rows and columns of the usual matrix. They are odd, not multiples of a wave or a block, and exceed a few blocks.
pub(super) const ROWS: usize = 37;
/// See [`ROWS`].
pub(super) const COLS: usize = 129;

/// More elements than one round of a launch's threads, with an odd number of rows.
pub(super) const LARGE: [usize; 2] = [1031, 257];

/// More blocks than 16 bits can count. Cases of the class "many-blocks" have that much work. Launches limit their grids
/// far below, so that every block, or every thread, loops many times.
pub(super) const BLOCKS: usize = (1 << 16) + 1;

/// A view with its layout and shape class.
pub(crate) type Viewed = (Layout, &'static str, Operand);

/// Every layout that a single argument can have.
pub(crate) fn every(dtype: DType, contents: Contents) -> Vec<Viewed> {
    let dense = |shape: &[usize]| Operand::dense(dtype, shape, contents);
    vec![
        (Layout::Contiguous, "scalar", dense(&[])),
        (Layout::Contiguous, "one", dense(&[1])),
        (Layout::Contiguous, "vector", dense(&[4099])),
        (Layout::Contiguous, "matrix", dense(&[ROWS, COLS])),
        (Layout::Transposed, "matrix", transposed(dtype, ROWS, COLS, contents)),
        (Layout::Narrowed, "vector", dense(&[2053]).then(Step::Narrow { axis: 0, start: 3, len: 2047 })),
        (Layout::Narrowed, "matrix", narrowed(dtype, ROWS, COLS, contents)),
        (
            Layout::NarrowedTransposed,
            "matrix",
            narrowed(dtype, COLS, ROWS, contents).then(Step::Transpose(0, 1)),
        ),
        (Layout::Permuted, "4d", permuted(dtype, contents)),
        (Layout::BroadcastRow, "matrix", dense(&[COLS]).then(Step::Broadcast(vec![ROWS, COLS]))),
        (Layout::BroadcastColumn, "matrix", dense(&[ROWS, 1]).then(Step::Broadcast(vec![ROWS, COLS]))),
        (Layout::BroadcastScalar, "matrix", dense(&[]).then(Step::Broadcast(vec![ROWS, 31]))),
        (Layout::HighRank, "10d", high_rank(dtype, contents)),
        (Layout::Empty, "matrix", dense(&[0, 5])),
    ]
}

/// The most revealing layouts, for operations with very many dtypes.
pub(super) fn few(dtype: DType, contents: Contents) -> Vec<Viewed> {
    let wanted = [
        (Layout::Contiguous, "matrix"),
        (Layout::Transposed, "matrix"),
        (Layout::Narrowed, "matrix"),
        (Layout::BroadcastRow, "matrix"),
        (Layout::HighRank, "10d"),
        (Layout::Empty, "matrix"),
    ];
    every(dtype, contents)
        .into_iter()
        .filter(|(layout, shape, _)| wanted.contains(&(*layout, *shape)))
        .collect()
}

/// A `rows × columns` view of the stored `columns × rows` array.
pub(super) fn transposed(dtype: DType, rows: usize, columns: usize, contents: Contents) -> Operand {
    Operand::dense(dtype, &[columns, rows], contents).then(Step::Transpose(0, 1))
}

/// A `rows × columns` part from the interior of a larger array.
pub(super) fn narrowed(dtype: DType, rows: usize, columns: usize, contents: Contents) -> Operand {
    Operand::dense(dtype, &[rows + 5, columns + 7], contents)
        .then(Step::Narrow { axis: 0, start: 2, len: rows })
        .then(Step::Narrow { axis: 1, start: 3, len: columns })
}

/// Four axes in an order in which no neighbours merge: the view is `11 × 5 × 13 × 7`.
pub(super) fn permuted(dtype: DType, contents: Contents) -> Operand {
    Operand::dense(dtype, &[5, 7, 11, 13], contents).then(Step::Permute(vec![2, 0, 3, 1]))
}

/// Ten axes in reverse order, none of which merge: more than kernel arguments support.
pub(super) fn high_rank(dtype: DType, contents: Contents) -> Operand {
    Operand::dense(dtype, &[2, 2, 2, 3, 2, 2, 2, 2, 3, 2], contents)
        .then(Step::Permute((0..10).rev().collect()))
}

/// A dense square array with every pattern of a dtype of at most 16 bits.
pub(super) fn every_pattern(dtype: DType) -> Operand {
    let side = if dtype.bits() == 16 { 256 } else { 16 };
    Operand::dense(dtype, &[side, side], Contents::EveryPattern)
}
