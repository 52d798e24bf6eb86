//! Device memory that does not come from a device's pool: managed memory, and memory of other processes.

use crate::handle::Handle;
use crate::mutation::Wait;
use crate::order::Tracked;
use crate::raw::Failure;
use crate::{Device, Result};
use hip_sys::Platform;
use std::ffi::c_void;

/// A C function that gives memory back.
type Release = unsafe fn(&Platform, Handle<c_void>) -> Result<(), Failure>;

/// Memory with a function of its own to give it back.
pub(crate) struct Unpooled {
    /// What the function is given.
    base: Handle<c_void>,
    /// Where what is used of it begins.
    offset: usize,
    release: Release,
    /// What the function does, for messages.
    doing: &'static str,
}

impl Unpooled {
    /// # Safety
    /// The function gives `base` back, and nobody else does.
    pub(crate) unsafe fn new(
        base: Handle<c_void>,
        offset: usize,
        release: Release,
        doing: &'static str,
    ) -> Self {
        Self { base, offset, release, doing }
    }

    pub(crate) fn address(&self) -> Handle<c_void> {
        self.base.offset(self.offset)
    }

    /// Waits for the work that uses it and gives it back. If that work cannot be waited for, the memory stays.
    pub(crate) fn release(self, device: &Device, tracked: &Tracked) -> Result<()> {
        tracked.wait_to_release(Wait::UnpooledRelease)?;
        let Self { base, release, doing, .. } = self;
        // SAFETY: S1, S3, S4: it is ours alone, and every submission that used it is complete.
        device.run(|| doing.into(), |p| unsafe { release(p, base) })
    }
}
