//! An address that C gave us, as a value that threads may share.

use std::fmt;

/// An opaque C handle or a device address. Copying it copies the address, never what it stands for.
pub(crate) struct Handle<T>(*mut T);

// SAFETY: S8: it is an address and nothing more; using what is behind it takes an unsafe call with its own reasons.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: S8: as above; a shared reference only reads the address.
unsafe impl<T> Sync for Handle<T> {}

impl<T> Handle<T> {
    pub(crate) const fn new(raw: *mut T) -> Self {
        Self(raw)
    }

    pub(crate) const fn null() -> Self {
        Self(std::ptr::null_mut())
    }

    pub(crate) const fn raw(self) -> *mut T {
        self.0
    }

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The handle, leaving null behind.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::null())
    }

    /// The address `bytes` further on.
    pub(crate) fn offset(self, bytes: usize) -> Self {
        Self(self.0.wrapping_byte_add(bytes))
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:p}", self.0)
    }
}
