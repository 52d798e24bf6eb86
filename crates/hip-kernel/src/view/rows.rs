//! Rows that belong to blocks.

use super::{Elements, Scope};
use crate::{block_dim, block_idx, thread_idx};

/// Memory as rows of the same width, one row for each block. Of its row a thread writes the columns that are equal to its number, modulo the
/// number of threads. A launch with such an argument has one dimension, and its width is an argument of its own.
pub struct Rows<'a, T> {
    elements: Elements<'a, T>,
    width: usize,
    // Read when the view is made, as in `Out`.
    row: usize,
    first: usize,
    step: usize,
}

impl<'a, T> Rows<'a, T> {
    /// # Safety
    /// As [`Out::from_raw`](crate::Out::from_raw), and every view of the launch has the same width.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn from_raw(_: &'a Scope, start: *mut T, len: usize, width: usize) -> Self {
        let (row, first, step) = (block_idx().x as usize, thread_idx().x as usize, block_dim().x as usize);
        // SAFETY: S25: the caller's promise.
        Self { elements: unsafe { Elements::new(start, len) }, width, row, first, step }
    }

    /// Columns of a row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The thread's element `turn` of the block's row, in column [`thread_idx`]`().x` + `turn` · [`block_dim`]`().x`; `None` past the row's or
    /// the memory's end, and for turns from 2^32 on.
    #[inline(always)]
    pub fn nth(&mut self, turn: usize) -> Option<&mut T> {
        // A turn of 32 bits: its product with the step fits into 64 bits, so the compiler leaves out the check.
        let column = (u32::try_from(turn).ok()? as usize).checked_mul(self.step)?.checked_add(self.first)?;
        if column >= self.width {
            return None;
        }
        let index = self.row.checked_mul(self.width)?.checked_add(column)?;
        // SAFETY: S25: the index determines block and column, because the column is less than the width, and the column determines the
        // thread.
        unsafe { self.elements.only(index) }
    }
}
