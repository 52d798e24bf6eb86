//! A device's kernels: modules loaded on first use, functions found once.

use std::collections::HashMap;

use hip_safe::{Function, Module};
use parking_lot::{Mutex, RwLock};

use super::device::wrap;
use super::{HipDevice, code};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};

const LOADING: &str = "loading kernels";

/// Which kernel: `<family>_<op>_<dtype>`, and `<family>_<op>_<dtype>_<to>` for casts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Kernel {
    pub family: &'static str,
    /// The operation; empty for a family of one kernel a dtype.
    pub op: &'static str,
    pub dtype: DType,
    /// The result's dtype, for casts.
    pub to: Option<DType>,
}

/// The kernels of one device that were used so far.
pub(super) struct Kernels {
    functions: RwLock<HashMap<Kernel, Function>>,
    modules: Mutex<HashMap<(&'static str, DType), Module>>,
}

impl Kernels {
    pub(super) fn new() -> Kernels {
        Kernels { functions: RwLock::default(), modules: Mutex::default() }
    }

    /// The function of a kernel; its unit is loaded if it was not yet.
    pub(super) fn get(&self, device: &HipDevice, kernel: Kernel) -> Result<Function> {
        if let Some(function) = self.functions.read().get(&kernel) {
            return Ok(function.clone());
        }
        let name = kernel.name();
        let function = self.module(device, kernel)?.function(&name).map_err(wrap(LOADING))?;
        if function.params().is_none() {
            let what = format!(
                "{name}: the image does not say what arguments it takes; NVIDIA's driver tells them since CUDA 12.4"
            );
            return Err(Error::new(LOADING, ErrorKind::Code { what }));
        }
        self.functions.write().insert(kernel, function.clone());
        Ok(function)
    }

    fn module(&self, device: &HipDevice, kernel: Kernel) -> Result<Module> {
        let mut modules = self.modules.lock();
        if let Some(module) = modules.get(&(kernel.family, kernel.dtype)) {
            return Ok(module.clone());
        }
        let image = image(device, &format!("{}_{}", kernel.family, kernel.dtype))?;
        let module = Module::load(device.device(), &image).map_err(wrap(LOADING))?;
        modules.insert((kernel.family, kernel.dtype), module.clone());
        Ok(module)
    }
}

/// Whether there is code for the device: that of one unit stands for all.
pub(super) fn check(device: &HipDevice) -> Result<()> {
    image(device, "elementwise_f32").map(|_| ())
}

fn image(device: &HipDevice, unit: &str) -> Result<Vec<u8>> {
    let (platform, arch) = (device.device().platform().kind.name(), &device.device().properties().arch);
    code::image(platform, arch, unit).map_err(|what| Error::new(LOADING, ErrorKind::Code { what }))
}

impl Kernel {
    fn name(&self) -> String {
        let parts = [self.family, self.op, self.dtype.name(), self.to.map_or("", DType::name)];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
    }
}
