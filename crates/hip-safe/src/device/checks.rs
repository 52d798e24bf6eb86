//! Refuses what belongs to another device or platform.

use crate::{Device, Error, Result, Stream};
use std::sync::Arc;

impl Device {
    /// Refuses a stream of another device. Crates above call this for a stream that a handle of theirs is to use.
    ///
    /// # Errors
    /// [`Error::WrongDevice`].
    pub fn check_stream(&self, stream: &Stream) -> Result<()> {
        self.check_same("the stream", stream.device())
    }

    /// Refuses something that belongs to another device.
    pub(crate) fn check_same(&self, what: &'static str, owner: &Device) -> Result<()> {
        if self == owner {
            return Ok(());
        }
        Err(Error::WrongDevice { what, bound: owner.label(), used: self.label() })
    }

    /// Refuses something that belongs to a device of another platform.
    pub(crate) fn check_same_platform(&self, what: &'static str, owner: &Device) -> Result<()> {
        if Arc::ptr_eq(self.platform(), owner.platform()) { Ok(()) } else { self.check_same(what, owner) }
    }
}
