//! MIOpen's descriptors: handles of values that are replaced as a whole when they are set.

use super::entry::{give, there};
use super::{BAD, Outcome};
use hip_sys::provider::Handles;
use parking_lot::RwLock;
use std::sync::Arc;

/// The descriptors of one kind. A call keeps the value that the descriptor had when it began, so that another
/// thread may set the descriptor
/// meanwhile.
pub(super) struct Descriptors<T>(Handles<RwLock<Arc<T>>>);

impl<T: Default> Descriptors<T> {
    /// `kind` distinguishes the kinds of handles.
    pub(super) fn new(kind: u8) -> Self {
        Self(Handles::new(kind))
    }

    /// Creates a descriptor, which is not set.
    ///
    /// # Safety
    /// `out` is null or writable.
    pub(super) unsafe fn create<Handle>(&self, out: *mut *mut Handle) -> Outcome {
        there(out)?;
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, self.insert(T::default()) as *mut Handle) }
    }

    /// A new handle with a value.
    pub(super) fn insert(&self, value: T) -> usize {
        self.0.insert(Arc::new(RwLock::new(Arc::new(value))))
    }

    /// The current value.
    pub(super) fn get<Handle>(&self, handle: *mut Handle) -> Outcome<Arc<T>> {
        Ok(self.0.get(handle as usize).map_err(|_| BAD)?.read().clone())
    }

    pub(super) fn set<Handle>(&self, handle: *mut Handle, value: T) -> Outcome {
        let slot = self.0.get(handle as usize).map_err(|_| BAD)?;
        let former = std::mem::replace(&mut *slot.write(), Arc::new(value));
        drop(former);
        Ok(())
    }

    /// Replaces the value by a function of it. No other thread changes it meanwhile.
    pub(super) fn change<Handle>(
        &self,
        handle: *mut Handle,
        change: impl FnOnce(&T) -> Outcome<T>,
    ) -> Outcome {
        let slot = self.0.get(handle as usize).map_err(|_| BAD)?;
        let mut value = slot.write();
        *value = Arc::new(change(&value)?);
        Ok(())
    }

    pub(super) fn destroy<Handle>(&self, handle: *mut Handle) -> Outcome {
        self.0.remove(handle as usize).map(drop).map_err(|_| BAD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    #[test]
    fn a_call_keeps_the_descriptor_value_that_it_began_with() {
        let numbers = Descriptors::<u32>::new(0x7f);
        let mut handle = null_mut::<u8>();
        // SAFETY: S11: a live variable.
        unsafe { numbers.create(&mut handle) }.unwrap();
        let before = numbers.get(handle).unwrap();
        numbers.set(handle, 3).unwrap();
        numbers.change(handle, |three| Ok(three + 1)).unwrap();
        assert_eq!((*before, *numbers.get(handle).unwrap()), (0, 4));
        numbers.destroy(handle).unwrap();
        assert_eq!(numbers.get(handle), Err(BAD));
        assert_eq!(numbers.destroy(null_mut::<u8>()), Err(BAD));
    }
}
