//! Handles of libraries above HIP: destroyed once, when their work is complete.

use crate::{Device, Error, Result, drop_elsewhere, report_drop_error};
use std::fmt;

/// Owns a handle of a library whose work may use memory behind it: a generator of random numbers, or a plan. `H` is the handle, with
/// everything that has to live as long, such as its stream.
///
/// It is for crates that wrap such libraries. Dropping it waits for the device, because the work may still run, and then calls `destroy`. Where
/// waiting is not allowed, in a host function and on a thread that captures, another thread does that. If the wait fails, `H` is leaked. On
/// a device that is lost, and while the process exits, it is leaked too.
///
/// ```
/// # fn main() -> hip_safe::Result<()> {
/// let device = hip_safe::Device::new(&hip_host::platform(), 0)?;
/// // A library would have its handle in place of the number, and destroy it.
/// let handle = hip_safe::LibraryHandle::new(&device, 7, |_device, _seven| Ok(()));
/// assert_eq!(*handle.get(), 7);
/// handle.close()
/// # }
/// ```
pub struct LibraryHandle<H: Send + 'static> {
    device: Device,
    /// `None` once it is destroyed or leaked.
    held: Option<H>,
    destroy: Destroy<H>,
}

/// Destroys a handle. Its device is current, its work is complete, and no thread captures.
type Destroy<H> = fn(&Device, &mut H) -> Result<()>;

impl<H: Send + 'static> LibraryHandle<H> {
    /// Owns a handle that `destroy` destroys. That gets the handle once, with its device current and its
    /// work complete, while no thread captures.
    pub fn new(device: &Device, handle: H, destroy: fn(&Device, &mut H) -> Result<()>) -> Self {
        Self { device: device.clone(), held: Some(handle), destroy }
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The handle.
    ///
    /// # Panics
    /// Never: it is there until the drop.
    pub fn get(&self) -> &H {
        self.held.as_ref().expect("it is there until the drop")
    }

    /// The handle.
    ///
    /// # Panics
    /// Never: it is there until the drop.
    pub fn get_mut(&mut self) -> &mut H {
        self.held.as_mut().expect("it is there until the drop")
    }

    /// Waits for the device, destroys the handle, and returns any error.
    ///
    /// # Errors
    /// That of the wait or of `destroy`. [`Error::InHostFunction`] in a host function, [`Error::Capturing`] while this thread captures: then
    /// another thread destroys it.
    pub fn close(mut self) -> Result<()> {
        let ended = self.end();
        if ended.as_ref().is_err_and(is_of_this_thread) {
            self.end_elsewhere();
        }
        ended
    }

    /// If this thread may not wait, nothing changes.
    fn end(&mut self) -> Result<()> {
        if self.held.is_none() {
            return Ok(());
        }
        if self.device.poisoned_by().is_some() || hip_sys::exiting() {
            std::mem::forget(self.held.take());
            return Ok(());
        }
        let waited = self.device.synchronize();
        if waited.as_ref().is_err_and(is_of_this_thread) {
            return waited;
        }
        let Some(mut handle) = self.held.take() else { return Ok(()) };
        let ended = waited.and_then(|()| {
            let Self { device, destroy, .. } = self;
            device.call_alone(|| destroy(device, &mut handle))?
        });
        if ended.is_err() {
            std::mem::forget(handle);
        }
        ended
    }

    /// False if no thread can be started; then it is leaked.
    fn end_elsewhere(&mut self) -> bool {
        drop_elsewhere(Self { device: self.device.clone(), held: self.held.take(), destroy: self.destroy })
    }
}

impl<H: Send + 'static> Drop for LibraryHandle<H> {
    fn drop(&mut self) {
        let Err(error) = self.end() else { return };
        if !(is_of_this_thread(&error) && self.end_elsewhere()) {
            report_drop_error(&error);
        }
    }
}

impl<H: Send + 'static> fmt::Debug for LibraryHandle<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a library's handle on {}", self.device)
    }
}

/// Whether another thread may wait although this one may not.
fn is_of_this_thread(error: &Error) -> bool {
    matches!(error, Error::InHostFunction | Error::Capturing { .. })
}
