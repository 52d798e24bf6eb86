//! Elements that belong to whom the kernel says.

use super::Elements;

/// Memory of which a thread may write any element, if nobody else does: what no other view can express.
pub struct Scatter<'a, T>(Elements<'a, T>);

impl<T> Scatter<'_, T> {
    /// # Safety
    /// `len` elements lie at `start`, valid for reading and writing as long as the view lives, and used by this launch alone.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn from_raw(start: *mut T, len: usize) -> Self {
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
