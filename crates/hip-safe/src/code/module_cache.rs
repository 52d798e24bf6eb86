//! The module cache of a device: equal code is loaded once, and modules can be kept under a name.

use super::cache::Sharing;
use super::module::{KeptModule, Origin, WeakModule, checked};
use super::single_flight::SingleFlight;
use crate::device::Inner;
use crate::order::not_in_host_function;
use crate::{CacheAnswer, CodeCache, Compiled, Device, Error, Function, Module, Result, Source, drop_errors};
use parking_lot::Mutex;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// The code of a module: an image, as [`Module::load`] takes it, or a source, which is compiled.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ModuleCode<'a> {
    /// The bytes of an image.
    Image(Cow<'a, [u8]>),
    /// A source.
    Source(Cow<'a, Source>),
}

/// The modules of a device. They hold no reference to the device, so they do not keep it open.
#[derive(Default)]
pub(crate) struct ModuleCache {
    /// Loads in progress. Other threads that need the same module wait for them.
    flights: SingleFlight<Key, Module, Error>,
    /// Loaded modules that are in use.
    shared: Mutex<HashMap<Key, WeakModule>>,
    /// Modules that stay loaded under a name.
    named: Mutex<HashMap<String, Named>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    /// The hash of an image. The bytes are compared too.
    Image(u128),
    /// Everything that the code of a source depends on.
    Source(Vec<u8>),
    /// A name, and the hash of the code to load under it.
    Named(String, u128),
}

struct Named {
    hash: u128,
    module: KeptModule,
}

impl Device {
    /// The module of this code. Equal code is loaded once: while a module of it is in use, later calls return the same one. If several threads
    /// need the same module at once, one loads it and the others wait. Sources are compiled as by [`Device::compile`].
    ///
    /// The module's global variables are shared too. [`Module::load`] loads a separate module.
    ///
    /// # Errors
    /// As [`Module::load`] and [`Source::compile_for`].
    ///
    /// ```
    /// # fn main() -> hip_safe::Result<()> {
    /// # let device = hip_safe::Device::new(&hip_host::platform(), 0)?;
    /// let source = hip_safe::Source::new("extern \"C\" __global__ void one(int* a) { *a = 1; }");
    /// let image = source.compile_for(&device)?.into_code();
    /// let module = device.load_module(&image)?;
    /// assert_eq!(device.load_module(&image)?, module);
    /// assert_ne!(hip_safe::Module::load(&device, &image)?, module);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "hipModuleLoadData")]
    pub fn load_module<'a>(&self, code: impl Into<ModuleCode<'a>>) -> Result<Module> {
        self.load_code(code.into()).map(Module::traced)
    }

    /// Compiles a source for this device and loads it, on every platform that has a run-time compiler. Compiled code is cached in
    /// [`CodeCache::process`]; use [`CodeCache::load`] for another cache or none. While a module of an equal source is in use, this returns that
    /// module.
    ///
    /// Kernels are looked up by their names and by the source's name expressions.
    ///
    /// # Errors
    /// As [`Source::compile_for`] and [`Module::load`].
    ///
    /// ```
    /// use hip_safe::{Device, Source};
    ///
    /// # fn main() -> hip_safe::Result<()> {
    /// let device = Device::new(&hip_host::platform(), 0)?;
    /// let source = Source::new("template <class T> __global__ void fill(T* a, T value) { a[threadIdx.x] = value; }")
    ///     .name_expression("fill<float>")
    ///     .name_expression("fill<unsigned>");
    /// let module = device.compile(&source)?;
    /// assert_eq!(module.function("fill<float>")?.params().map(|params| params.len()), Some(2));
    /// assert_eq!(device.compile(&source)?, module);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "hiprtcCompileProgram")]
    pub fn compile(&self, source: &Source) -> Result<Module> {
        CodeCache::process().load(source, self).map(|(module, _)| module)
    }

    /// The module that the device keeps under a name of the user's. It is loaded at the first call, and stays loaded until
    /// [`Device::unload_custom`] or the end of the device. A later call with the same code gives the same module without a call of the
    /// driver.
    ///
    /// The code is hashed each time: keep a [`Function`] where launches are frequent.
    ///
    /// # Errors
    /// [`Error::ModuleConflict`] if the name stands for code of another hash, which
    /// tells code apart that nobody made to collide. Else as [`Device::load_module`].
    ///
    /// ```
    /// use hip_safe::{Device, Source};
    ///
    /// # fn main() -> hip_safe::Result<()> {
    /// let device = Device::new(&hip_host::platform(), 0)?;
    /// let fill = Source::new("extern \"C\" __global__ void fill(int* a) { a[threadIdx.x] = 1; }");
    /// let module = device.get_or_load_custom("mine", &fill)?;
    /// assert_eq!(device.get_or_load_custom("mine", &fill)?, module);
    ///
    /// let other = Source::new("extern \"C\" __global__ void fill(int* a) { a[threadIdx.x] = 2; }");
    /// let error = device.get_or_load_custom("mine", &other).unwrap_err();
    /// assert!(error.to_string().starts_with("module \"mine\" was loaded from code with the hash "));
    /// device.unload_custom("mine");
    /// assert_ne!(device.get_or_load_custom("mine", &other)?, module);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_or_load_custom<'a>(&self, name: &str, code: impl Into<ModuleCode<'a>>) -> Result<Module> {
        let code = code.into();
        let hash = code.hash();
        let cache = self.modules();
        if let Some(module) = cache.named(self, name, hash)? {
            return Ok(module);
        }
        // What follows may wait for another thread that is in a driver call.
        not_in_host_function()?;
        let module = cache.flights.get_or_make(Key::Named(name.to_owned(), hash), || {
            if let Some(module) = cache.named(self, name, hash)? {
                return Ok(module);
            }
            let module = self.load_code(code)?;
            let named = Named { hash, module: module.keep() };
            // Another thread may have used the name for other code meanwhile.
            let known = cache.named.lock().entry(name.to_owned()).or_insert(named).hash;
            if known == hash { Ok(module) } else { Err(conflict(name, known, hash)) }
        })?;
        Ok(module.traced())
    }

    /// A kernel of [`Device::get_or_load_custom`].
    ///
    /// # Errors
    /// As [`Device::get_or_load_custom`] and [`Module::function`].
    pub fn get_or_load_custom_func<'a>(
        &self,
        function: &str,
        module: &str,
        code: impl Into<ModuleCode<'a>>,
    ) -> Result<Function> {
        self.get_or_load_custom(module, code)?.function(function)
    }

    /// Removes a name of [`Device::get_or_load_custom`] and returns its module, if there is one. The module stays loaded while it is in use.
    pub fn unload_custom(&self, name: &str) -> Option<Module> {
        let named = self.modules().named.lock().remove(name)?;
        let module = named.module.of(self);
        drop(named);
        Some(module)
    }

    /// As [`Device::load_module`], without the trace.
    fn load_code(&self, code: ModuleCode<'_>) -> Result<Module> {
        match code {
            ModuleCode::Image(image) => self.load_shared(&image),
            ModuleCode::Source(source) => {
                CodeCache::process().load_untraced(&source, self).map(|(module, _)| module)
            }
        }
    }

    fn load_shared(&self, bytes: &[u8]) -> Result<Module> {
        let key = Key::Image(xxh3_128(bytes));
        let mut image = Some(checked(self, bytes)?);
        let module = self.modules().shared(self, key, || {
            Module::load_image(self, image.take().expect("it is loaded at most once"))
        })?;
        match image {
            // Another image has the same hash.
            Some(image) if image.bytes() != module.image().bytes() => Module::load_image(self, image),
            _ => Ok(module),
        }
    }
}

impl CodeCache {
    /// Loads the module of a source on a device, compiled or from this cache, and returns where its code came from: `None` if the device had it
    /// loaded already. If the device refuses the code of a cache entry, the entry is removed and the source is compiled.
    ///
    /// # Errors
    /// As [`Source::compile_for`] and [`Module::load`]; never one of the cache.
    ///
    /// ```
    /// use hip_safe::{CacheAnswer, CodeCache, Device, Source};
    ///
    /// # fn main() -> hip_safe::Result<()> {
    /// let device = Device::new(&hip_host::platform(), 0)?;
    /// let source = Source::new("extern \"C\" __global__ void one(int* a) { *a = 1; }").option("-O1");
    /// let (module, answer) = CodeCache::off().load(&source, &device)?;
    /// assert_eq!(answer, Some(CacheAnswer::Compiled));
    /// assert_eq!(CodeCache::off().load(&source, &device)?, (module, None));
    /// # Ok(())
    /// # }
    /// ```
    pub fn load(&self, source: &Source, device: &Device) -> Result<(Module, Option<CacheAnswer>)> {
        let (module, answer) = self.load_untraced(source, device)?;
        Ok((module.traced(), answer))
    }

    fn load_untraced(&self, source: &Source, device: &Device) -> Result<(Module, Option<CacheAnswer>)> {
        let mut answer = None;
        let mut make = || {
            let (compiled, origin) = self.compile_for(source, device)?;
            let loaded = load_compiled(device, compiled);
            let (module, origin) = match (loaded, origin) {
                (Err(_), CacheAnswer::Kept(entry)) => {
                    self.forget(&entry);
                    let (compiled, origin) = self.compile_for(source, device)?;
                    (load_compiled(device, compiled)?, origin)
                }
                (loaded, origin) => (loaded?, origin),
            };
            answer = Some(origin);
            Ok(module)
        };
        let module = match Sharing::of(source, device)? {
            Sharing::By(identity) => device.modules().shared(device, Key::Source(identity), make)?,
            Sharing::Never => make()?,
        };
        Ok((module, answer))
    }
}

/// Loads compiled code. Different sources may compile to the same code, so names and log belong to this module, not to the shared code.
fn load_compiled(device: &Device, compiled: Compiled) -> Result<Module> {
    let Compiled { code, log, names, text } = compiled;
    Ok(device.load_shared(&code)?.with_origin(Arc::new(Origin { names, log, text })))
}

impl ModuleCache {
    /// The loaded module of this key, else the result of `make`.
    fn shared(&self, device: &Device, key: Key, make: impl FnOnce() -> Result<Module>) -> Result<Module> {
        let look = |key: &Key| {
            let found = self.shared.lock().get(key).cloned();
            found.and_then(|weak| weak.upgrade(device))
        };
        if let Some(module) = look(&key) {
            return Ok(module);
        }
        not_in_host_function()?;
        self.flights.get_or_make(key.clone(), || {
            if let Some(module) = look(&key) {
                return Ok(module);
            }
            let module = make()?;
            let mut shared = self.shared.lock();
            shared.retain(|_, weak| weak.is_loaded());
            shared.insert(key, module.downgrade());
            Ok(module)
        })
    }

    fn named(&self, device: &Device, name: &str, hash: u128) -> Result<Option<Module>> {
        let named = self.named.lock();
        match named.get(name) {
            None => Ok(None),
            Some(known) if known.hash == hash => Ok(Some(known.module.of(device))),
            Some(known) => Err(conflict(name, known.hash, hash)),
        }
    }

    /// Unloads the named modules. The last reference to the device is gone, so no other module and no stream is left.
    pub(crate) fn close(self, device: &Inner) {
        for (_, named) in self.named.into_inner() {
            let last = Arc::into_inner(named.module.loaded);
            drop_errors::report_failure(last.map_or(Ok(()), |last| last.unload(device)));
        }
    }
}

fn conflict(name: &str, loaded: u128, given: u128) -> Error {
    let hex = |hash: u128| format!("{hash:032x}");
    Error::ModuleConflict { name: name.to_owned(), loaded: hex(loaded), given: hex(given) }
}

impl ModuleCode<'_> {
    fn hash(&self) -> u128 {
        match self {
            Self::Image(bytes) => xxh3_128(bytes),
            Self::Source(source) => {
                let mut hasher = Xxh3::new();
                source.hash(&mut hasher);
                hasher.digest128()
            }
        }
    }
}

impl<'a> From<&'a [u8]> for ModuleCode<'a> {
    fn from(image: &'a [u8]) -> Self {
        Self::Image(Cow::Borrowed(image))
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for ModuleCode<'a> {
    fn from(image: &'a [u8; N]) -> Self {
        Self::Image(Cow::Borrowed(image))
    }
}

impl<'a> From<&'a Vec<u8>> for ModuleCode<'a> {
    fn from(image: &'a Vec<u8>) -> Self {
        Self::Image(Cow::Borrowed(image))
    }
}

impl From<Vec<u8>> for ModuleCode<'_> {
    fn from(image: Vec<u8>) -> Self {
        Self::Image(Cow::Owned(image))
    }
}

impl<'a> From<&'a Source> for ModuleCode<'a> {
    fn from(source: &'a Source) -> Self {
        Self::Source(Cow::Borrowed(source))
    }
}

impl From<Source> for ModuleCode<'_> {
    fn from(source: Source) -> Self {
        Self::Source(Cow::Owned(source))
    }
}
