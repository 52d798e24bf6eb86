//! A device's kernels: modules loaded on first use, functions found once.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use hip_safe::{Device, Function, Module};
use kernels_hip::Unit;
use parking_lot::{Mutex, RwLock};

use super::HipDevice;
use super::code::{CodeOrigin, SEARCH, Target};
use super::device::wrap;
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
    modules: Mutex<HashMap<(&'static str, DType), Loaded>>,
}

/// A unit: its module is loaded by whoever wants it first, while others wait for that one alone.
type Loaded = Arc<Mutex<Option<(Module, CodeOrigin)>>>;

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

    /// The units that were loaded so far, and where their code came from, by name.
    pub(super) fn origins(&self) -> BTreeMap<String, CodeOrigin> {
        let units: Vec<_> = self.modules.lock().iter().map(|(key, unit)| (*key, Arc::clone(unit))).collect();
        let origin = |(key, unit): ((&str, DType), Loaded)| {
            unit.lock().as_ref().map(|(_, origin)| (unit_name(key.0, key.1), origin.clone()))
        };
        units.into_iter().filter_map(origin).collect()
    }

    fn module(&self, device: &HipDevice, kernel: Kernel) -> Result<Module> {
        let key = (kernel.family, kernel.dtype);
        let unit = Arc::clone(self.modules.lock().entry(key).or_default());
        let mut unit = unit.lock();
        if let Some((module, _)) = &*unit {
            return Ok(module.clone());
        }
        // Tensors' devices of one device share it.
        let load = |image: &[u8]| device.device().load_module(image).map_err(wrap(LOADING));
        let (module, origin) = SEARCH.find_for(&target(device), &unit_of(key.0, key.1)?, wrong, load)?;
        *unit = Some((module.clone(), origin));
        Ok(module)
    }
}

/// Whether there is code for the device: that of one unit stands for all.
pub(super) fn check(device: &HipDevice) -> Result<()> {
    SEARCH.check(&target(device), &unit_of("elementwise", DType::F32)?).map_err(wrong)
}

/// What compiled a device's kernels.
pub(super) fn compiler(device: &Device) -> Option<String> {
    SEARCH.compiler(&target_of(device))
}

fn target(device: &HipDevice) -> Target<'_> {
    target_of(device.device())
}

fn target_of(device: &Device) -> Target<'_> {
    let properties = device.properties();
    let (arch, wave_size) = (properties.arch.as_str(), properties.wave_size);
    Target { platform: device.platform(), arch, wave_size, device: Some(device) }
}

fn unit_of(family: &str, dtype: DType) -> Result<Unit> {
    let missing = || wrong(format!("no unit {} ships", unit_name(family, dtype)));
    kernels_hip::unit(family, dtype.name()).ok_or_else(missing)
}

fn unit_name(family: &str, dtype: DType) -> String {
    format!("{family}_{dtype}")
}

fn wrong(what: String) -> Error {
    Error::new(LOADING, ErrorKind::Code { what })
}

impl Kernel {
    fn name(&self) -> String {
        let parts = [self.family, self.op, self.dtype.name(), self.to.map_or("", DType::name)];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
    }
}
