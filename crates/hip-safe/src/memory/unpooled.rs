//! Device memory that does not come from a device's pool: managed memory, and memory of other processes.

use crate::handle::Handle;
use crate::mutation::Wait;
use crate::order::Tracked;
use crate::raw::Failure;
use crate::{Device, Result};
use hip_sys::Platform;
use std::ffi::c_void;

/// A C function that frees the memory.
type Release = unsafe fn(&Platform, Handle<c_void>) -> Result<(), Failure>;

/// Memory with its own function to free it.
pub(crate) struct Unpooled {
    /// The argument of the function.
    base: Handle<c_void>,
    /// The offset of the part that is used.
    offset: usize,
    release: Release,
    /// What the function does, for messages.
    doing: &'static str,
}

impl Unpooled {
    /// # Safety
    /// The function frees `base`, and nothing else does.
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

    /// Waits for the work that uses it and frees it. If a wait fails, the memory stays allocated.
    pub(crate) fn release(self, device: &Device, tracked: &Tracked) -> Result<()> {
        tracked.wait_to_release(Wait::UnpooledRelease)?;
        let Self { base, release, doing, .. } = self;
        // SAFETY: S1, S3, S4: this is its only owner, and every submission that used it is complete.
        device.run(|| doing.into(), |p| unsafe { release(p, base) })
    }
}
