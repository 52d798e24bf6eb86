//! Access to a HIP device and its memory for user-defined operations.

use hip_safe::{DeviceView, DeviceViewMut, Function, Module, ModuleCode, Source};

use super::device::wrap;
use super::{HipDevice, HipStorage};
use crate::cpu::CpuStorage;
use crate::dtype::DType;
use crate::error::Result;

/// Memory and code for user-defined operations, which run on [`HipDevice::stream`].
impl HipDevice {
    /// Allocates `len` elements, initialised to zero.
    ///
    /// # Errors
    /// [`ErrorKind::Overflow`](crate::ErrorKind::Overflow), or [`ErrorKind::Hip`](crate::ErrorKind::Hip) if the device
    /// lacks memory.
    pub fn alloc_zeros(&self, dtype: DType, len: usize) -> Result<HipStorage> {
        HipStorage::zeros(self, dtype, len, "alloc_zeros")
    }

    /// Allocates `len` uninitialised elements.
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

    /// Copies elements from host memory. Moves their bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Hip`](crate::ErrorKind::Hip) if the device lacks memory, or its driver returns an error.
    pub fn storage_from_cpu(&self, elements: &CpuStorage) -> Result<HipStorage> {
        HipStorage::from_cpu(self, elements, "storage_from_cpu")
    }

    /// Compiles kernels from HIP source for this device. The first call compiles; the module is then kept under `name`,
    /// and in the disk cache for later processes. Kernels are found by name: declare them `extern "C"`.
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
    /// [`ErrorKind::Hip`](crate::ErrorKind::Hip) with the compiler's log, or if there is no compiler, or if `name` is
    /// used by other source.
    #[doc(alias = "hiprtcCompileProgram")]
    pub fn compile(&self, source: &str, name: &str) -> Result<Module> {
        self.device().get_or_load_custom(name, Source::new(source)).map_err(wrap("compile"))
    }

    /// The module that the device keeps under a user's name. The first call loads it from a code object or compiles a
    /// [`Source`](hip_safe::Source). Names are shared by all devices opened with the same ordinal.
    ///
    /// # Errors
    /// [`ErrorKind::Hip`](crate::ErrorKind::Hip) if the code does not load or compile, or if `name` is used by other
    /// code.
    pub fn get_or_load_custom<'a>(&self, name: &str, code: impl Into<ModuleCode<'a>>) -> Result<Module> {
        self.device().get_or_load_custom(name, code).map_err(wrap("get_or_load_custom"))
    }

    /// A kernel of [`HipDevice::get_or_load_custom`].
    ///
    /// # Errors
    /// As there, or if the module has no such kernel.
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

/// A tensor's device memory, for user-defined operations.
impl HipStorage {
    /// Whether the storage is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes from element `start` on, for a kernel that reads. `start` is a layout's offset. Past the end the view
    /// is empty.
    ///
    /// # Errors
    /// [`ErrorKind::CloneFailed`](crate::ErrorKind::CloneFailed) if this is a clone that could not be copied.
    pub fn view_from(&self, start: usize) -> Result<DeviceView<'_, u8>> {
        self.tail(start, "view_from")
    }

    /// The bytes from element `start` on, for a kernel that writes.
    ///
    /// # Errors
    /// As [`HipStorage::view_from`].
    pub fn view_from_mut(&mut self, start: usize) -> Result<DeviceViewMut<'_, u8>> {
        self.tail_mut(start, "view_from_mut")
    }

    /// Reads back all elements. Moves their bytes, and waits for the device.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory), or an error of the device.
    pub fn to_cpu_storage(&self) -> Result<CpuStorage> {
        self.to_cpu(0, self.len(), "to_cpu_storage")
    }
}
