//! Elements that belong to threads.

use super::{Elements, Scope};
use crate::{global_idx, grid_threads};

/// Memory of which each thread writes its own elements: the one with its number in the grid, and from there every one that is as many
/// elements further as the grid has threads.
///
/// A launch with such an argument has one dimension, so that no two threads have the same number.
pub struct Out<'a, T> {
    elements: Elements<'a, T>,
    // Read when the view is made: after a store the compiler would have to read the size of a block again.
    first: usize,
    step: usize,
}

impl<'a, T> Out<'a, T> {
    /// # Safety
    /// `len` elements of at least one byte lie at `start`, valid for reading and writing as long as the view lives, and used through views of
    /// this type and this launch alone, which has one dimension.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn from_raw(_: &'a Scope, start: *mut T, len: usize) -> Self {
        // SAFETY: S25: the caller's promise.
        Self { elements: unsafe { Elements::new(start, len) }, first: global_idx(), step: grid_threads() }
    }

    /// Elements of all threads together.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.elements.len
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.elements.len == 0
    }

    /// The element with the thread's number; `None` for threads past the end.
    #[inline(always)]
    pub fn own(&mut self) -> Option<&mut T> {
        // SAFETY: S25: no two threads of a launch of one dimension have this number, and every other element of this thread is further by
        // the number of threads.
        unsafe { self.elements.only(self.first) }
    }

    /// The thread's elements after the first: element `turn` of them, whose index is [`global_idx`] + `turn` · [`grid_threads`].
    #[inline(always)]
    pub fn nth(&mut self, turn: usize) -> Option<&mut T> {
        let index = turn.checked_mul(self.step)?.checked_add(self.first)?;
        // SAFETY: S25: the index modulo the number of threads is the thread's number, which no other thread has.
        unsafe { self.elements.only(index) }
    }
}
