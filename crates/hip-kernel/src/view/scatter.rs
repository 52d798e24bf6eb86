//! Elements that belong to whom the kernel says.

use super::{Elements, Scope};

/// Memory of which a thread may write any element, if nobody else does: what no other view can express.
///
/// A launch may have three dimensions, and blocks of any size. A kernel whose `unsafe` block relies on fewer dimensions or on a size checks
/// [`grid_dim`](crate::grid_dim) and [`block_dim`](crate::block_dim) first, because its launch is a safe function.
pub struct Scatter<'a, T>(Elements<'a, T>);

impl<'a, T> Scatter<'a, T> {
    /// # Safety
    /// `len` elements of at least one byte lie at `start`, valid for reading and writing as long as the view lives, and used by this launch alone.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn from_raw(_: &'a Scope, start: *mut T, len: usize) -> Self {
        // SAFETY: S25: the caller's promise.
        Self(unsafe { Elements::new(start, len) })
    }

    /// Elements of all threads together.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    /// The element, `None` past the end.
    ///
    /// # Safety
    /// No other thread of the launch uses this element, at any time between its first and last thread.
    #[inline(always)]
    pub unsafe fn get(&mut self, index: usize) -> Option<&mut T> {
        // SAFETY: S25: the caller's promise.
        unsafe { self.0.only(index) }
    }
}
