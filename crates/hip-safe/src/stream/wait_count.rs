//! How often a thread waited for a device.

use std::cell::Cell;

thread_local! {
    static WAITS: Cell<u64> = const { Cell::new(0) };
}

/// The number of times that this thread called the driver to wait for a stream, an event or a device, or to copy from or to
/// pageable memory, which waits too.
///
/// Work that was submitted between two waits runs without the host: a loop that should keep the device busy waits seldom.
///
/// ```
/// use hip_safe::{Device, waits};
///
/// # fn main() -> hip_safe::Result<()> {
/// let stream = Device::new(&hip_host::platform(), 0)?.new_stream()?;
/// let buffer = stream.upload(&[1f32, 2.0])?;
/// let before = waits();
/// assert_eq!(stream.download(&buffer)?, [1.0, 2.0]);
/// assert_eq!(waits() - before, 1);
/// # Ok(())
/// # }
/// ```
pub fn waits() -> u64 {
    WAITS.get()
}

/// Counts a wait of this thread.
pub(crate) fn count() {
    WAITS.set(WAITS.get() + 1);
}
