//! Rows that belong to blocks.

use super::{Elements, Scope};
use crate::{block_dim, block_idx, thread_idx};
use core::marker::PhantomData;

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

    /// The thread's elements of the block's row, each with its column: the columns [`thread_idx`]`().x`,
    /// [`thread_idx`]`().x` + [`block_dim`]`().x` and so on, up to the row's or the memory's end.
    #[inline(always)]
    pub fn columns(&mut self) -> Columns<'_, T> {
        let begin = self.row.saturating_mul(self.width);
        let end = self.elements.len.saturating_sub(begin).min(self.width);
        // Without columns the address is not used; it may lie past the end of the memory.
        let start = self.elements.start.wrapping_add(begin);
        Columns { start, column: self.first, end, step: self.step, borrow: PhantomData }
    }
}

/// The elements that [`Rows::columns`] gives a thread.
pub struct Columns<'a, T> {
    start: *mut T,
    column: usize,
    end: usize,
    step: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<'a, T> Iterator for Columns<'a, T> {
    type Item = (usize, &'a mut T);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let column = self.column;
        if column >= self.end {
            return None;
        }
        // No overflow: memory has fewer than 2^63 elements, and a block fewer than 2^32 threads.
        self.column = column.wrapping_add(self.step);
        // SAFETY: S25: the column is less than the width and the element in bounds. The index determines block and column, and the column
        // determines the thread. A thread gets each column once while the borrow of the view lasts, for the step is at least 1. Memory
        // with an element has an address.
        unsafe {
            let element = self.start.add(column);
            core::hint::assert_unchecked(!element.is_null());
            Some((column, &mut *element))
        }
    }
}
