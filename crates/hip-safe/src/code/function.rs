//! Functions: kernels of a module, with their metadata.

use crate::handle::Handle;
use crate::raw::{self, Failure};
use crate::{Device, Error, Module, Properties, Result, Stream};
use code_object::Param;
use hip_sys::Platform;
use hip_sys::hip::{hipError_t, hipFunction_attribute, hipFunction_t, ihipModuleSymbol_t};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A limit for platforms that never report the last parameter.
const MAX_PARAMS: usize = 4096;

/// A kernel. Cloning it copies a reference; it keeps its module loaded.
#[derive(Clone)]
pub struct Function {
    inner: Arc<Inner>,
}

struct Inner {
    module: Module,
    kernel: Arc<Kernel>,
}

/// The metadata of a kernel, without a reference to its module.
pub(crate) struct Kernel {
    raw: Handle<ihipModuleSymbol_t>,
    name: String,
    params: Option<Vec<Param>>,
    /// The number of pointers, and the size of the value after them, if the kernel takes just these.
    pointers_and: Option<(usize, usize)>,
    max_threads: Option<u32>,
    required_block: Option<[u32; 3]>,
    shared_bytes: usize,
    /// The most threads of a block of one dimension without dynamic shared memory. 0 if further checks are needed: the kernel requires a block
    /// size, or declares more shared memory than the device gives every kernel.
    linear_block: u32,
    /// The allowed bytes of dynamic shared memory, if that was raised; otherwise 0.
    dynamic_shared: AtomicU32,
}

impl Kernel {
    /// Reads the metadata from the platform and the image.
    pub(crate) fn of(module: &Module, name: &str, raw: Handle<ihipModuleSymbol_t>) -> Result<Self> {
        let device = module.device();
        let info = module.code_object().and_then(|code| code.kernel(name));
        let params = match ask_params(device, name, raw)? {
            Some(params) => Some(params),
            None => info.map(|kernel| kernel.params.clone()),
        };
        let (max_threads, shared_bytes) = match info {
            Some(kernel) => (u32::try_from(kernel.max_threads_per_block).ok(), kernel.shared_bytes as usize),
            None => {
                let threads = hipFunction_attribute::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
                let shared = hipFunction_attribute::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
                let ask = |attribute| ask_attribute(device, name, raw, attribute);
                (ask(threads)?.filter(|&n| n > 0), ask(shared)?.unwrap_or(0) as usize)
            }
        };
        let required_block = info.and_then(|kernel| kernel.required_block);
        let (name, dynamic_shared) = (name.to_string(), AtomicU32::new(0));
        let pointers_and = params.as_deref().and_then(pointers_and);
        let linear_block = match required_block {
            None => linear_block(max_threads, shared_bytes, device.properties()),
            Some(_) => 0,
        };
        Ok(Self {
            raw,
            name,
            params,
            pointers_and,
            max_threads,
            required_block,
            shared_bytes,
            linear_block,
            dynamic_shared,
        })
    }
}

impl Function {
    pub(crate) fn new(module: &Module, kernel: Arc<Kernel>) -> Self {
        Self { inner: Arc::new(Inner { module: module.clone(), kernel }) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.kernel.name
    }

    /// The module it is of.
    pub fn module(&self) -> &Module {
        &self.inner.module
    }

    /// The device it runs on.
    pub fn device(&self) -> &Device {
        self.inner.module.device()
    }

    /// Its parameters, in order. `None` if neither the platform nor the image tells them; launches are not checked then.
    pub fn params(&self) -> Option<&[Param]> {
        self.inner.kernel.params.as_deref()
    }

    /// The most threads of a block, if known.
    pub fn max_threads_per_block(&self) -> Option<u32> {
        self.inner.kernel.max_threads
    }

    /// The required block size along x, y and z, if its source sets one.
    pub fn required_block(&self) -> Option<[u32; 3]> {
        self.inner.kernel.required_block
    }

    /// Bytes of static shared memory, which the kernel declares.
    pub fn shared_bytes(&self) -> usize {
        self.inner.kernel.shared_bytes
    }

    /// Refuses arguments whose number or sizes differ from the kernel's parameters. If those are not known, it accepts all.
    #[inline]
    pub(crate) fn check_sizes(&self, sizes: &[usize]) -> Result<()> {
        let Some(params) = self.params() else { return Ok(()) };
        let fit =
            params.len() == sizes.len() && params.iter().zip(sizes).all(|(param, size)| param.size == *size);
        if fit { Ok(()) } else { Err(self.mismatch(params, sizes)) }
    }

    /// Whether it is known to take this number of pointers, then a value of this size.
    #[inline]
    pub(crate) fn takes_pointers_and(&self, pointers: usize, bytes: usize) -> bool {
        self.inner.kernel.pointers_and == Some((pointers, bytes))
    }

    /// The most threads of a block of one dimension without dynamic shared memory; 0 if further checks are needed.
    #[inline]
    pub(crate) fn linear_block(&self) -> u32 {
        self.inner.kernel.linear_block
    }

    /// The description of a launch in errors.
    #[cold]
    pub(crate) fn launching(&self, stream: &Stream) -> String {
        format!("launching {} on {stream}", self.name())
    }

    #[cold]
    fn mismatch(&self, params: &[Param], sizes: &[usize]) -> Error {
        let (expected, got) = (params.iter().map(|param| param.size), sizes.iter().copied());
        Error::LaunchMismatch { kernel: self.name().into(), expected: describe(expected), got: describe(got) }
    }

    /// The most bytes of static and dynamic shared memory, if more was allowed than the device gives every kernel; otherwise 0.
    pub(crate) fn most_shared(&self) -> usize {
        match self.inner.kernel.dynamic_shared.load(Ordering::Relaxed) {
            0 => 0,
            bytes => self.shared_bytes() + bytes as usize,
        }
    }

    pub(crate) fn note_dynamic_shared(&self, bytes: u32) {
        self.inner.kernel.dynamic_shared.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn handle(&self) -> Handle<ihipModuleSymbol_t> {
        self.inner.kernel.raw
    }

    /// The handle, for direct calls of a platform's library; valid while the function lives. Launches through the handle are not recorded, so the
    /// caller keeps the function until they are complete.
    pub fn raw(&self) -> hipFunction_t {
        self.inner.kernel.raw.raw()
    }
}

/// The number of pointers before the last parameter, and the size of that, if all others are pointers.
fn pointers_and(params: &[Param]) -> Option<(usize, usize)> {
    let (value, before) = params.split_last()?;
    let pointers = before.iter().all(|param| param.size == size_of::<*const ()>());
    pointers.then_some((before.len(), value.size))
}

fn linear_block(max_threads: Option<u32>, shared_bytes: usize, device: &Properties) -> u32 {
    if shared_bytes > device.shared_memory_per_block {
        return 0;
    }
    max_threads.unwrap_or(u32::MAX).min(device.max_threads_per_block).min(device.max_block[0])
}

fn ask_params(device: &Device, name: &str, raw: Handle<ihipModuleSymbol_t>) -> Result<Option<Vec<Param>>> {
    let mut params = Vec::new();
    while params.len() < MAX_PARAMS {
        let index = params.len();
        // SAFETY: S1, S3: the function is live and its device current.
        let ask = |p: &Platform| unsafe { raw::func_param_info(p, raw.raw(), index) }.transpose();
        match device.run(|| format!("asking for argument {index} of kernel {name}"), ask)? {
            Some(Some((offset, size))) => params.push(Param { offset, size }),
            Some(None) => return Ok(Some(params)),
            None => return Ok(None),
        }
    }
    Ok(None)
}

/// An attribute; `None` if the platform does not tell it.
pub(crate) fn ask_attribute(
    device: &Device,
    name: &str,
    raw: Handle<ihipModuleSymbol_t>,
    attribute: hipFunction_attribute,
) -> Result<Option<u32>> {
    // SAFETY: S1, S3: the function is live and its device current.
    let ask = |p: &Platform| match unsafe { raw::func_get_attribute(p, raw.raw(), attribute) } {
        Ok(value) => Ok(u32::try_from(value).ok()),
        Err(Failure {
            code: hipError_t::hipErrorNotSupported | hipError_t::hipErrorInvalidValue, ..
        }) => Ok(None),
        Err(failure) => Err(failure),
    };
    device.run(|| format!("asking for an attribute of kernel {name}"), ask)
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({} of {:?})", self.name(), self.module())
    }
}

fn describe(sizes: impl ExactSizeIterator<Item = usize>) -> String {
    let count = sizes.len();
    let sizes: Vec<String> = sizes.map(|size| size.to_string()).collect();
    match count {
        0 => "no arguments".into(),
        1 => format!("1 argument of {} bytes", sizes[0]),
        _ => format!("{count} arguments of {} bytes", sizes.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_described() {
        assert_eq!(describe([].into_iter()), "no arguments");
        assert_eq!(describe([8].into_iter()), "1 argument of 8 bytes");
        assert_eq!(describe([8, 4].into_iter()), "2 arguments of 8, 4 bytes");
    }

    #[cfg(not(loom))]
    #[test]
    fn a_linear_block_has_the_smallest_of_all_limits() {
        let device = Device::new(&hip_host::platform(), 0).unwrap();
        let mut device = device.properties().clone();
        (device.max_threads_per_block, device.max_block[0], device.shared_memory_per_block) =
            (1024, 512, 4096);
        assert_eq!(linear_block(None, 0, &device), 512);
        assert_eq!(linear_block(Some(256), 4096, &device), 256);
        assert_eq!(linear_block(Some(0), 0, &device), 0);
        assert_eq!(linear_block(None, 4097, &device), 0);
        device.max_threads_per_block = 128;
        assert_eq!(linear_block(Some(256), 0, &device), 128);
    }

    #[test]
    fn pointers_and_one_value_are_recognised() {
        let of = |sizes: &[usize]| {
            let params: Vec<_> = sizes.iter().map(|&size| Param { offset: 0, size }).collect();
            pointers_and(&params)
        };
        assert_eq!(of(&[8, 8, 208]), Some((2, 208)));
        assert_eq!(of(&[8]), Some((0, 8)));
        assert_eq!((of(&[]), of(&[8, 4, 208])), (None, None));
    }
}
