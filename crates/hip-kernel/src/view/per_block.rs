//! Elements that belong to blocks.

use super::{Elements, Scope};
use crate::{block_idx, thread_idx};

/// Memory with one element for each block, which the block's first thread writes. A launch with such an argument has one dimension.
pub struct PerBlock<'a, T>(Elements<'a, T>);

impl<'a, T> PerBlock<'a, T> {
    /// # Safety
    /// As [`Out::from_raw`](crate::Out::from_raw).
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn from_raw(_: &'a Scope, start: *mut T, len: usize) -> Self {
        // SAFETY: S25: the caller's promise.
        Self(unsafe { Elements::new(start, len) })
    }

    /// The block's element for the first thread; `None` for the other threads, and for blocks past the end.
    #[inline(always)]
    pub fn first_thread(&mut self) -> Option<&mut T> {
        if thread_idx().x != 0 {
            return None;
        }
        // SAFETY: S25: no other thread of a launch of one dimension is the first of this block.
        unsafe { self.0.only(block_idx().x as usize) }
    }
}
