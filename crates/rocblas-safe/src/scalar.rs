//! Scalars of a call: a value of the host, or one element in device memory.

use crate::{Error, Result};
use hip_safe::{DeviceRepr, DeviceView};
use std::ffi::c_void;
use std::ptr::from_ref;

/// A scalar such as alpha or beta: a value, which the call reads at once, or one element of device memory, which it reads when its turn
/// on the stream comes. Both are made by `into`: calls take `2.0` as well as `buffer.view()`.
#[derive(Debug, Clone, Copy)]
pub enum Scalar<'a, T> {
    /// A value.
    Value(T),
    /// One element on the device.
    Device(DeviceView<'a, T>),
}

impl<T: DeviceRepr> From<T> for Scalar<'_, T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

impl<'a, T: DeviceRepr> From<DeviceView<'a, T>> for Scalar<'a, T> {
    fn from(view: DeviceView<'a, T>) -> Self {
        Self::Device(view)
    }
}

impl<'a, T: DeviceRepr> Scalar<'a, T> {
    /// The address that C gets: of the value, which has to stay where it is, or of the element.
    pub(crate) fn pointer(&self) -> *const c_void {
        match self {
            Self::Value(value) => from_ref(value).cast(),
            Self::Device(view) => view.device_ptr().cast(),
        }
    }

    /// The element, if it is on the device.
    pub(crate) fn device(&self) -> Result<Option<DeviceView<'a, T>>> {
        match self {
            Self::Value(_) => Ok(None),
            Self::Device(view) if view.len() == 1 => Ok(Some(*view)),
            Self::Device(view) => Err(Error::ScalarLen { what: "a scalar", wanted: 1, got: view.len() }),
        }
    }
}
