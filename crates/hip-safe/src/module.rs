//! A module: loaded code, shared by the functions taken from it.

use crate::handle::Handle;
use crate::mutation::Wait;
use crate::near_names::near_names;
use crate::raw::{self, Failure};
use crate::{Device, Error, Function, Result};
use code_object::CodeObject;
use hip_sys::hip::{hipError_t, hipModule_t, ihipModule_t};
use hip_sys::{Image, Platform};
use std::ffi::CString;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Code loaded on a device. Cloning it copies a reference, and each [`Function`] holds one; the last one waits for the
/// launches and unloads it.
#[derive(Clone)]
pub struct Module {
    inner: Arc<Inner>,
}

struct Inner {
    device: Device,
    raw: Handle<ihipModule_t>,
    /// Dropped only once the module is unloaded: a runtime may read it for as long.
    image: ManuallyDrop<Image>,
    launched: AtomicBool,
}

impl Module {
    /// Loads a code object, a bundle of them, a fat binary, an assembly text or a host module: whichever the platform
    /// takes. The bytes are copied, and their structure is checked: the runtime is not told how many there are.
    ///
    /// # Errors
    /// [`Error::InvalidImage`] if they are cut short, of no known kind, or built for other devices; [`Error::Hip`] if the
    /// driver answers an error.
    #[doc(alias = "hipModuleLoadData")]
    pub fn load(device: &Device, image: &[u8]) -> Result<Self> {
        let name = || format!("the image of {} bytes", image.len());
        let image = Image::new(image, &device.properties().arch)
            .map_err(|e| Error::InvalidImage { name: name(), reason: e.to_string() })?;
        let doing = || format!("loading {image} on {device}");
        // SAFETY: S1, S3, S4: the image was checked, ends in zeros and is kept as long as the module.
        let raw = device.run(doing, |p| unsafe { raw::module_load_data(p, image.address()) })?;
        let (image, launched) = (ManuallyDrop::new(image), AtomicBool::new(false));
        Ok(Self { inner: Arc::new(Inner { device: device.clone(), raw, image, launched }) })
    }

    /// The device it is loaded on.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// What its image says of its kernels, where we can read it: AMD code objects, and bundles of them.
    pub fn code_object(&self) -> Option<&CodeObject> {
        self.inner.image.code_object()
    }

    /// The kernel of that name.
    ///
    /// # Errors
    /// [`Error::KernelNotFound`], with names that look like it where they are known; [`Error::InvalidImage`] if the kernel
    /// was built for another wave size than the device has. The others of its module are not touched by that.
    #[doc(alias = "hipModuleGetFunction")]
    pub fn function(&self, name: &str) -> Result<Function> {
        let c_name = CString::new(name).ok().filter(|c| !c.is_empty()).ok_or_else(|| self.not_found(name))?;
        let device = self.device();
        // SAFETY: S1, S3: the module is live and its device current.
        let look_up = |p: &Platform| match unsafe { raw::module_get_function(p, self.raw(), &c_name) } {
            Ok(found) => Ok(Some(found)),
            Err(Failure { code: hipError_t::hipErrorNotFound, .. }) => Ok(None),
            Err(failure) => Err(failure),
        };
        let found = device.run(|| format!("looking up kernel {name:?} in {self}"), look_up)?;
        self.check_wave_size(name)?;
        Function::new(self, name, found.ok_or_else(|| self.not_found(name))?)
    }

    /// The handle, for direct calls of a platform's library; valid while the module lives.
    pub fn raw(&self) -> hipModule_t {
        self.inner.raw.raw()
    }

    /// Gives up this reference; if it was the last, unloads the module and says how that went.
    ///
    /// # Errors
    /// The error of the wait for its launches, and then it stays loaded, or that of the unloading.
    #[doc(alias = "hipModuleUnload")]
    pub fn close(self) -> Result<()> {
        Arc::into_inner(self.inner).map_or(Ok(()), |mut last| last.release())
    }

    /// A launch of one of its kernels is about to be submitted.
    pub(crate) fn note_launch(&self) {
        self.inner.launched.store(true, Ordering::Release);
    }

    /// Code for waves of another size computes other results than its source says.
    fn check_wave_size(&self, name: &str) -> Result<()> {
        let device = self.device().properties().wave_size;
        match self.code_object().and_then(|code| code.kernel(name)).map(|kernel| kernel.wave_size) {
            Some(built) if built != u64::from(device) => Err(Error::InvalidImage {
                name: self.to_string(),
                reason: format!(
                    "its kernel {name} was built for waves of {built} threads and the device has waves of {device}; \
                     build it without -mwavefrontsize64 and the like"
                ),
            }),
            _ => Ok(()),
        }
    }

    fn not_found(&self, kernel: &str) -> Error {
        let known = self.code_object().into_iter().flat_map(|code| &code.kernels).map(|k| k.name.as_str());
        Error::KernelNotFound {
            kernel: kernel.into(),
            module: self.to_string(),
            near: near_names(kernel, known),
        }
    }
}

impl Inner {
    fn release(&mut self) -> Result<()> {
        let raw = self.raw.take();
        if raw.is_null() {
            return Ok(());
        }
        if self.launched.load(Ordering::Acquire) && !Wait::ModuleUnload.is_dropped() {
            self.device.synchronize()?;
        }
        let doing = || format!("unloading {}", *self.image);
        // SAFETY: S1, S3, S4: this was the last reference, and every launch of its kernels is complete.
        self.device.run(doing, |p| unsafe { raw::module_unload(p, raw) })?;
        // SAFETY: S4: the module is unloaded, its handle was taken above, so this happens once and nobody reads it again.
        unsafe { ManuallyDrop::drop(&mut self.image) };
        Ok(())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let device = self.device.clone();
        device.release_in_drop(|| self.release());
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.image.fmt(f)
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({self} on {})", self.device())
    }
}
