//! Descriptors of attention.

use crate::owner::library;
use crate::raw::{Failure, attention as raw};
use crate::{Error, Handle, Result};
use hip_safe::Platform;
use hip_sys::miopen::miopenMhaDescriptor_t;
use parking_lot::Mutex;
use std::fmt;
use std::ptr::null_mut;
use std::sync::{Arc, Weak};

const NAME: &str = "an attention descriptor";

/// The scale of attention's scores. Cloning it copies a reference.
///
/// MIOpen has no function that destroys such a descriptor, so one for each scale and platform is created and kept.
#[derive(Clone)]
#[doc(alias = "miopenMhaDescriptor_t")]
pub struct AttentionDesc {
    platform: Arc<Platform>,
    object: Object,
    scale: f32,
}

#[derive(Clone, Copy)]
struct Object(miopenMhaDescriptor_t);

// SAFETY: S24: the library's objects belong to no thread.
unsafe impl Send for Object {}
// SAFETY: S24: it is set once, by who made it, and only read from then on.
unsafe impl Sync for Object {}

/// The descriptors by platform and the scale's bits. The weak reference keeps the address from being reused by another platform.
static MADE: Mutex<Vec<(Weak<Platform>, u32, Object)>> = Mutex::new(Vec::new());

impl AttentionDesc {
    /// Creates the descriptor. The usual scale is 1 / √(head's width).
    ///
    /// # Errors
    /// [`Error::Invalid`] for a scale that is not finite; [`Error::Unsupported`] before ROCm 6.2 and where the platform has no attention;
    /// the library's error.
    #[doc(alias = "miopenCreateMhaDescriptor")]
    #[doc(alias = "miopenSetMhaDescriptor")]
    pub fn new(handle: &Handle, scale: f32) -> Result<Self> {
        if !scale.is_finite() {
            return Err(Error::invalid("the scale of an attention", scale, "it has to be finite"));
        }
        let platform = Arc::clone(handle.platform());
        let object = object(&platform, scale).map_err(|failure| Error::of(failure, NAME))?;
        Ok(Self { platform, object, scale })
    }

    /// The factor of the scores.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// The descriptor's object for calls with this handle.
    pub(crate) fn on(&self, handle: &Handle) -> Result<miopenMhaDescriptor_t> {
        if Arc::ptr_eq(&self.platform, handle.platform()) {
            Ok(self.object.0)
        } else {
            Err(Error::OtherPlatform { what: NAME })
        }
    }
}

/// The platform's descriptor for this scale.
fn object(platform: &Arc<Platform>, scale: f32) -> Result<Object, Failure> {
    let bits = scale.to_bits();
    let mut made = MADE.lock();
    made.retain(|(platform, ..)| platform.strong_count() > 0);
    let own = |(other, of, _): &&(Weak<Platform>, u32, Object)| {
        other.as_ptr() == Arc::as_ptr(platform) && *of == bits
    };
    if let Some((.., object)) = made.iter().find(own) {
        return Ok(*object);
    }
    let library = library(platform)?;
    let mut raw = null_mut();
    // SAFETY: S1: the out-pointer is live, and the descriptor too.
    unsafe {
        raw::create_mha_descriptor(library, &mut raw)?;
        raw::set_mha_descriptor(library, raw, scale)?;
    }
    made.push((Arc::downgrade(platform), bits, Object(raw)));
    Ok(Object(raw))
}

impl fmt::Debug for AttentionDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AttentionDesc of scale {}", self.scale)
    }
}
