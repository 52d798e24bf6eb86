//! What operations of one's own need of a HIP device and of a tensor's memory there.

use hip_safe::{DeviceView, DeviceViewMut, Function, Module, ModuleCode, Source};

use super::device::wrap;
use super::{HipDevice, HipStorage};
use crate::cpu::CpuStorage;
use crate::dtype::DType;
use crate::error::Result;

/// Memory and code for operations of one's own; they run on [`HipDevice::stream`].
impl HipDevice {
    /// Memory of `len` elements, all zero.
    ///
    /// # Errors
    /// [`ErrorKind::Overflow`](crate::ErrorKind::Overflow), or [`ErrorKind::Hip`](crate::ErrorKind::Hip) if the device has not so much.
    pub fn alloc_zeros(&self, dtype: DType, len: usize) -> Result<HipStorage> {
        HipStorage::zeros(self, dtype, len, "alloc_zeros")
    }

    /// Memory of `len` elements, with whatever was there.
    ///
    /// # Safety
    /// Work on the device's stream writes every element before anything reads it.
    ///
    /// # Errors
    /// As [`HipDevice::alloc_zeros`].
    pub unsafe fn alloc_uninit(&self, dtype: DType, len: usize) -> Result<HipStorage> {
        // SAFETY: S15: the caller's promise.
        unsafe { HipStorage::uninit(self, dtype, len, "alloc_uninit") }
    }

    /// A copy of elements in this machine's memory. Moves their bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Hip`](crate::ErrorKind::Hip) if the device has not so much memory, or its driver answers an error.
    pub fn storage_from_cpu(&self, elements: &CpuStorage) -> Result<HipStorage> {
        HipStorage::from_cpu(self, elements, "storage_from_cpu")
    }

    /// The kernels of a HIP source text, which is compiled for this device on the first call and then kept under `name`, and in the cache on
    /// disk for later processes. Kernels are found by their names: declare them `extern "C"`.
    ///
    /// ```
    /// use tensor_core::Device;
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// # #[cfg(feature = "host")] {
    /// let device = Device::parse("host:0")?;
    /// let source = r#"extern "C" __global__ void twice(float* x, unsigned n) {
    ///     const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    ///     if (i < n) x[i] *= 2;
    /// }"#;
    /// let twice = device.as_hip().unwrap().compile(source, "doubling")?.function("twice")?;
    /// assert_eq!(twice.params().map(|params| params.len()), Some(2));
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Hip`](crate::ErrorKind::Hip) with the compiler's log, or if there is no compiler, or if `name` stands for another text.
    #[doc(alias = "hiprtcCompileProgram")]
    pub fn compile(&self, source: &str, name: &str) -> Result<Module> {
        self.device().get_or_load_custom(name, Source::new(source)).map_err(wrap("compile"))
    }

    /// The module that the device keeps under a name of the user's: loaded from a code object, or compiled from a
    /// [`Source`](hip_safe::Source), on the first call. Names belong to the device below, which all values of its ordinal share.
    ///
    /// # Errors
    /// [`ErrorKind::Hip`](crate::ErrorKind::Hip) if the code does not load or compile, or if `name` stands for other code.
    pub fn get_or_load_custom<'a>(&self, name: &str, code: impl Into<ModuleCode<'a>>) -> Result<Module> {
        self.device().get_or_load_custom(name, code).map_err(wrap("get_or_load_custom"))
    }

    /// A kernel of [`HipDevice::get_or_load_custom`].
    ///
    /// # Errors
    /// As there, and if the module has no such kernel.
    pub fn get_or_load_custom_func<'a>(
        &self,
        function: &str,
        module: &str,
        code: impl Into<ModuleCode<'a>>,
    ) -> Result<Function> {
        let loaded = self.device().get_or_load_custom_func(function, module, code);
        loaded.map_err(wrap("get_or_load_custom_func"))
    }
}

/// A tensor's memory on a device, for operations of one's own.
impl HipStorage {
    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes from element `start` on, to give to a kernel that reads. `start` is a layout's offset.
    ///
    /// # Errors
    /// [`ErrorKind::Hip`](crate::ErrorKind::Hip) if it is too large to be one.
    pub fn view_from(&self, start: usize) -> Result<DeviceView<'_, u8>> {
        self.tail(start, "view_from")
    }

    /// The bytes from element `start` on, to give to a kernel that writes.
    ///
    /// # Errors
    /// As [`HipStorage::view_from`].
    pub fn view_from_mut(&mut self, start: usize) -> Result<DeviceViewMut<'_, u8>> {
        self.tail_mut(start, "view_from_mut")
    }

    /// All elements, read back. Moves their bytes, and waits for the device.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory), or an error of the device.
    pub fn to_cpu_storage(&self) -> Result<CpuStorage> {
        self.to_cpu(0, self.len(), "to_cpu_storage")
    }
}
