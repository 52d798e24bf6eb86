//! The settings of a tensor's descriptor, and the library's objects for them.

use crate::convert;
use crate::handle::Shared;
use crate::owner::{Owner, TensorObject};
use crate::raw::tensor as raw;
use crate::{DataType, Error, Handle, Result};
use hip_safe::Platform;
use hip_sys::miopen::miopenTensorDescriptor_t;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// The settings of a descriptor.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    pub(crate) data_type: DataType,
    pub(crate) dims: Vec<usize>,
    pub(crate) strides: Vec<usize>,
    /// The number of elements from the first to the last.
    pub(crate) span: usize,
}

impl Layout {
    /// The library's descriptor.
    pub(crate) fn object(&self, platform: &Arc<Platform>) -> Result<Owner<TensorObject>> {
        let lengths = convert::ints("a tensor's length", &self.dims)?;
        let steps = convert::ints("a tensor's stride", &self.strides)?;
        let rank = convert::int("the number of dimensions", self.dims.len())?;
        let of = self.data_type.raw();
        Owner::new(platform, |m, desc| {
            // SAFETY: S1: both arrays have as many values as it has dimensions.
            unsafe { raw::set_tensor_descriptor(m, desc, of, rank, lengths.as_ptr(), steps.as_ptr()) }
        })
    }
}

/// The descriptor of one handle. The weak reference keeps the address from being reused by another handle.
type Object = (Weak<Shared>, Owner<TensorObject>);

/// The library's descriptors for one layout: each handle has its own, created when it is needed. Those of dropped handles are destroyed when
/// another is created.
///
/// MIOpen writes to a tensor's descriptor in queries, without a lock. So a descriptor is only used in calls with its
/// handle, which run one after the other.
pub(crate) struct Objects {
    platform: Arc<Platform>,
    of: Mutex<Vec<Object>>,
}

impl Objects {
    /// With a descriptor that a handle already has.
    pub(crate) fn new(handle: &Handle, object: Owner<TensorObject>) -> Self {
        Self { platform: Arc::clone(handle.platform()), of: Mutex::new(vec![object_of(handle, object)]) }
    }

    pub(crate) fn platform(&self) -> &Arc<Platform> {
        &self.platform
    }

    /// The handle's descriptor, for calls under the handle's lock.
    pub(crate) fn on(&self, handle: &Handle, layout: &Layout) -> Result<miopenTensorDescriptor_t> {
        if !Arc::ptr_eq(&self.platform, handle.platform()) {
            return Err(Error::OtherPlatform { what: "a tensor descriptor" });
        }
        // A hook for errors may need the lock.
        let _later = hip_safe::drop_errors_later();
        let mut of = self.of.lock();
        let own = Arc::as_ptr(handle.shared());
        if let Some((_, object)) = of.iter().find(|(other, _)| other.as_ptr() == own) {
            return Ok(object.raw());
        }
        let object = layout.object(&self.platform)?;
        let raw = object.raw();
        let gone: Vec<Object> = of.extract_if(.., |(other, _)| other.strong_count() == 0).collect();
        of.push(object_of(handle, object));
        drop(of);
        drop(gone);
        Ok(raw)
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.of.lock().len()
    }

    /// Destroys all of them and returns the first error.
    pub(crate) fn close(self) -> Result<()> {
        let mut result = Ok(());
        for (_, object) in self.of.into_inner() {
            result = result.and(object.close());
        }
        result
    }
}

fn object_of(handle: &Handle, object: Owner<TensorObject>) -> Object {
    (Arc::downgrade(handle.shared()), object)
}

#[cfg(test)]
mod tests {
    use crate::{Handle, TensorDesc};
    use hip_safe::Device;

    #[test]
    fn objects_of_dropped_handles_are_dropped() {
        let stream = Device::new(&hip_host::platform(), 0).unwrap().new_stream().unwrap();
        let first = Handle::new(&stream).unwrap();
        let desc = TensorDesc::packed::<f32>(&first, &[2, 3]).unwrap();
        let object = desc.on(&first).unwrap();
        for _ in 0..3 {
            let other = Handle::new(&stream).unwrap();
            assert_ne!(desc.on(&other).unwrap(), object);
            assert_eq!(desc.objects().count(), 2, "the first one's, and this one's");
        }
        assert_eq!(desc.on(&first).unwrap(), object);
        desc.close().unwrap();
    }
}
