//! Modules: loaded code, shared by its functions.

use super::compile::Text;
use super::function::Kernel;
use super::loaded::Loaded;
use super::near_names::{bare, near_names};
use crate::raw::{self, Failure};
use crate::{Device, Error, Function, Result, Stream};
use code_object::CodeObject;
use hip_sys::hip::{hipError_t, hipModule_t};
use hip_sys::{Image, Platform};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::fmt;
use std::sync::{Arc, Weak};

/// Code loaded on a device. Cloning it copies a reference, and each [`Function`] holds one; the last one waits for the
/// launches of its kernels, on the streams that had any, and unloads it.
///
/// Two modules are equal if they are the same loaded code: see [`Device::load_module`].
#[derive(Clone)]
pub struct Module {
    inner: Arc<Inner>,
}

struct Inner {
    device: Device,
    /// `None` only after the release.
    loaded: Option<Arc<Loaded>>,
    compiled: Option<Arc<Origin>>,
}

/// The results of a run-time compilation other than the code.
#[derive(Debug, Default)]
pub(crate) struct Origin {
    /// The names of kernels in the code, by name expression.
    pub(crate) names: BTreeMap<String, String>,
    pub(crate) log: String,
    pub(crate) text: Text,
}

const MANGLED: &str =
    "in C++ a kernel that is not extern \"C\" has a mangled name, which the compiler's tools list";
const UNLESS_C: &str = "a kernel that is not extern \"C\", and one of a template, is found by the expression that \
                        Source::name_expression was given for it";

/// A weak reference to a module, which keeps neither its code loaded nor its device open.
#[derive(Clone)]
pub(crate) struct WeakModule {
    loaded: Weak<Loaded>,
    compiled: Option<Arc<Origin>>,
}

/// A module that its device keeps loaded. It holds no reference to the device.
pub(crate) struct KeptModule {
    pub(crate) loaded: Arc<Loaded>,
    compiled: Option<Arc<Origin>>,
}

impl Module {
    /// Loads a code object, a bundle of them, a fat binary, an assembly text or a host module: whichever the platform
    /// takes. The bytes are copied, and their structure is checked: the runtime is not told how many there are.
    ///
    /// It is loaded again even if the device has it already. [`Device::load_module`] shares loaded code.
    ///
    /// # Errors
    /// [`Error::InvalidImage`] if the bytes are truncated, of an unknown kind, or built for another device; [`Error::Hip`] if the driver
    /// returns an error.
    #[doc(alias = "hipModuleLoadData")]
    pub fn load(device: &Device, image: &[u8]) -> Result<Self> {
        Self::load_image(device, checked(device, image)?).map(Self::traced)
    }

    /// Returns the module after its load was traced: see [`Loaded::trace`].
    pub(crate) fn traced(self) -> Self {
        self.loaded().trace(self.device());
        self
    }

    pub(crate) fn load_image(device: &Device, image: Image) -> Result<Self> {
        Ok(Self::of(device, Arc::new(Loaded::load(device, image)?), None))
    }

    fn of(device: &Device, loaded: Arc<Loaded>, compiled: Option<Arc<Origin>>) -> Self {
        Self { inner: Arc::new(Inner { device: device.clone(), loaded: Some(loaded), compiled }) }
    }

    /// The same code, with the results of this compilation.
    pub(crate) fn with_origin(&self, origin: Arc<Origin>) -> Self {
        Self::of(self.device(), Arc::clone(self.loaded()), Some(origin))
    }

    /// The device it is loaded on.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }

    /// The metadata of its kernels, if the image is an AMD code object or a bundle of them.
    pub fn code_object(&self) -> Option<&CodeObject> {
        self.loaded().image().code_object()
    }

    /// The compiler's messages, such as warnings, if it was compiled at run time. Empty if there were none.
    pub fn compile_log(&self) -> Option<&str> {
        self.inner.compiled.as_ref().map(|origin| origin.log.as_str())
    }

    /// The kernel of that name. If the module was compiled at run time, the name may be one of its source's name expressions, such as
    /// `scale<float>`. The result is cached.
    ///
    /// # Errors
    /// [`Error::KernelNotFound`], with similar names and a hint where there are any; [`Error::InvalidImage`] if the kernel was built for another
    /// wave size than the device has. Other kernels of the module can still be used.
    #[doc(alias = "hipModuleGetFunction")]
    pub fn function(&self, name: &str) -> Result<Function> {
        let lowered = self.inner.compiled.as_ref().and_then(|origin| origin.names.get(name));
        let name = lowered.map_or(name, String::as_str);
        let kernel = self.loaded().kernel(name, || self.find(name))?;
        Ok(Function::new(self, kernel))
    }

    fn find(&self, name: &str) -> Result<Kernel> {
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
        Kernel::of(self, name, found.ok_or_else(|| self.not_found(name))?)
    }

    /// The handle, for direct calls of a platform's library; valid while the module lives. Launches through the handle are not recorded, so the
    /// caller keeps the module until they are complete.
    pub fn raw(&self) -> hipModule_t {
        self.loaded().raw()
    }

    /// Drops this reference. The last one waits for the launches, unloads the module, and returns the error of that.
    ///
    /// # Errors
    /// The error of the wait, and then the module stays loaded, or that of the unloading.
    #[doc(alias = "hipModuleUnload")]
    pub fn close(self) -> Result<()> {
        Arc::into_inner(self.inner).map_or(Ok(()), |mut last| last.release())
    }

    /// Records a launch of one of its kernels on the stream.
    pub(crate) fn note_launch(&self, stream: &Stream) {
        self.loaded().note_launch(stream);
    }

    pub(crate) fn image(&self) -> &Image {
        self.loaded().image()
    }

    pub(crate) fn downgrade(&self) -> WeakModule {
        WeakModule { loaded: Arc::downgrade(self.loaded()), compiled: self.inner.compiled.clone() }
    }

    pub(crate) fn keep(&self) -> KeptModule {
        KeptModule { loaded: Arc::clone(self.loaded()), compiled: self.inner.compiled.clone() }
    }

    fn loaded(&self) -> &Arc<Loaded> {
        self.inner.loaded.as_ref().expect("it is taken only by the drop of the last reference")
    }

    /// Refuses code for waves of another size, which would compute other results than its source says.
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
        let in_code = self.code_object().into_iter().flat_map(|code| &code.kernels).map(|k| k.name.as_str());
        let Some(Origin { names, text, .. }) = self.inner.compiled.as_deref() else {
            let near = near_names(kernel, in_code);
            let module = self.to_string();
            return Error::KernelNotFound { kernel: kernel.into(), module, near, hint: MANGLED.into() };
        };
        let own = bare(kernel);
        let (same, others): (Vec<&str>, _) =
            text.kernels.iter().map(String::as_str).partition(|name| *name == own);
        let asked_for = names.keys().map(String::as_str);
        let hint = match same.first() {
            None => UNLESS_C.to_owned(),
            Some(_) if own != kernel => {
                format!("give the source .name_expression({kernel:?}), as {own} is in the text")
            }
            Some(_) => format!(
                "the text has {own}, which is not extern \"C\" and has another name in the code: give the source \
                 .name_expression({own:?}), and of a template that of an instance, such as \"{own}<float>\""
            ),
        };
        Error::KernelNotFound {
            kernel: kernel.into(),
            module: format!("{:?}, {self},", text.name),
            near: near_names(kernel, asked_for.chain(others).chain(in_code)),
            hint: hint.into(),
        }
    }
}

impl WeakModule {
    /// The module, if its code is still loaded.
    pub(crate) fn upgrade(&self, device: &Device) -> Option<Module> {
        Some(Module::of(device, self.loaded.upgrade()?, self.compiled.clone()))
    }

    pub(crate) fn is_loaded(&self) -> bool {
        self.loaded.strong_count() > 0
    }
}

impl KeptModule {
    pub(crate) fn of(&self, device: &Device) -> Module {
        Module::of(device, Arc::clone(&self.loaded), self.compiled.clone())
    }
}

/// The image of these bytes for a device.
pub(crate) fn checked(device: &Device, image: &[u8]) -> Result<Image> {
    Image::new(image, &device.properties().arch).map_err(|e| Error::InvalidImage {
        name: format!("the image of {} bytes", image.len()),
        reason: e.to_string(),
    })
}

impl Inner {
    fn release(&mut self) -> Result<()> {
        let last = self.loaded.take().and_then(Arc::into_inner);
        last.map_or(Ok(()), |last| last.unload(self.device.inner()))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let device = self.device.clone();
        device.release_in_drop(|| self.release());
    }
}

impl PartialEq for Module {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.loaded(), other.loaded())
    }
}

impl Eq for Module {}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.image().fmt(f)
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({self} on {})", self.device())
    }
}
