//! A device's kernels. Modules are loaded on first use, and functions are looked up once.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use hip_safe::{Device, Function, Module};
use kernels_hip::Unit;
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use rayon::prelude::*;

use super::HipDevice;
use super::code::{CodeOrigin, SEARCH, Target};
use super::device::wrap;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};

const LOADING: &str = "loading kernels";

/// The name of a kernel: `<family>_<op>_<dtype>`, or `<family>_<op>_<dtype>_<to>` for casts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel {
    pub family: &'static str,
    /// The operation; empty for a family with one kernel per dtype.
    pub op: &'static str,
    pub dtype: DType,
    /// The result's dtype, for casts.
    pub to: Option<DType>,
}

/// The number of hash chains. A program uses some hundreds of kernels at most.
const CHAINS: usize = 256;

/// The kernels of one device used so far.
pub(super) struct Kernels {
    /// Hash chains that only grow, so that a lookup takes no lock.
    functions: Box<[Link; CHAINS]>,
    modules: Mutex<HashMap<(&'static str, DType), Loaded>>,
}

/// A unit, once its module was loaded.
type Loaded = Arc<OnceCell<(Module, CodeOrigin)>>;

/// The rest of a chain.
type Link = OnceLock<Box<Known>>;

/// A kernel that was looked up before.
struct Known {
    kernel: Kernel,
    function: Function,
    next: Link,
}

impl Kernels {
    pub(super) fn new() -> Kernels {
        Kernels { functions: Box::new([const { Link::new() }; CHAINS]), modules: Mutex::default() }
    }

    /// The function of a kernel. Loads its unit if necessary.
    #[inline]
    pub(super) fn get(&self, device: &HipDevice, kernel: Kernel) -> Result<&Function> {
        let mut link = &self.functions[kernel.chain()];
        while let Some(known) = link.get() {
            if known.kernel.is(kernel) {
                return Ok(&known.function);
            }
            link = &known.next;
        }
        self.load(device, kernel, link)
    }

    /// Loads a kernel, and appends it to the chain that ended with `link`.
    #[cold]
    fn load<'a>(&'a self, device: &HipDevice, kernel: Kernel, mut link: &'a Link) -> Result<&'a Function> {
        let name = kernel.name();
        let function = self.module(device, kernel)?.function(&name).map_err(wrap(LOADING))?;
        if function.params().is_none() {
            let what = format!(
                "{name}: the image does not say what arguments it takes; NVIDIA's driver tells them since CUDA 12.4"
            );
            return Err(Error::new(LOADING, ErrorKind::Code { what }));
        }
        // Other threads may have appended this kernel, or another one, in the meantime.
        loop {
            let fresh = || Box::new(Known { kernel, function: function.clone(), next: Link::new() });
            let known = link.get_or_init(fresh);
            if known.kernel.is(kernel) {
                return Ok(&known.function);
            }
            link = &known.next;
        }
    }

    /// The origin of the code of each unit loaded so far, by name.
    pub(super) fn origins(&self) -> BTreeMap<String, CodeOrigin> {
        let units: Vec<_> = self.modules.lock().iter().map(|(key, unit)| (*key, Arc::clone(unit))).collect();
        let origin = |(key, unit): ((&str, DType), Loaded)| {
            unit.get().map(|(_, origin)| (unit_name(key.0, key.1), origin.clone()))
        };
        units.into_iter().filter_map(origin).collect()
    }

    fn module(&self, device: &HipDevice, kernel: Kernel) -> Result<Module> {
        let key = (kernel.family, kernel.dtype);
        let unit = Arc::clone(self.modules.lock().entry(key).or_default());
        if let Some((module, _)) = unit.get() {
            return Ok(module.clone());
        }
        // Several threads may come here at once. While one compiles, the cache lets the others wait for its result; a thread that comes
        // later may load a second module, which is dropped. No lock of ours is held: loading calls hooks, which may ask for the same unit.
        let load = |image: &[u8]| device.device().load_module(image).map_err(wrap(LOADING));
        let found = SEARCH.find_for(&target(device), &unit_of(key.0, key.1)?, wrong, load)?;
        let (module, _) = unit.try_insert(found).unwrap_or_else(|(quicker, _)| quicker);
        Ok(module.clone())
    }
}

/// Checks that there is code for the device. One unit represents all.
pub(super) fn check(device: &HipDevice) -> Result<()> {
    SEARCH.check(&target(device), &unit_of("elementwise", DType::F32)?).map_err(wrong)
}

/// Looks for the code of every unit of these dtypes that the device has, several at once, so that what has to be compiled is. Nothing is
/// loaded. `progress` is told after each unit how many are done, and of how many.
pub(super) fn compile(
    device: &HipDevice,
    dtypes: &[DType],
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<()> {
    let target = target(device);
    let platform = target.platform.kind.name();
    let is_wanted = |unit: &Unit| {
        let is_launched = !unit.family.matrix_units || device.has_matrix_units();
        dtypes.iter().any(|dtype| dtype.name() == unit.dtype)
            && unit.is_for(platform, target.arch)
            && is_launched
    };
    let units: Vec<Unit> = kernels_hip::units().filter(is_wanted).collect();
    let done = AtomicUsize::new(0);
    // One by one: some take ten times as long as others.
    units.par_iter().with_max_len(1).try_for_each(|unit| {
        SEARCH.find_quietly(&target, unit).map_err(wrong)?;
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, units.len());
        Ok(())
    })
}

/// The compiler of a device's kernels.
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
    /// Whether both are the same kernel. Names are compared by address. The same name at two addresses counts as two
    /// kernels, which only costs another entry in a chain.
    fn is(self, other: Kernel) -> bool {
        std::ptr::eq(self.family, other.family)
            && std::ptr::eq(self.op, other.op)
            && self.dtype == other.dtype
            && self.to == other.to
    }

    /// The index of the kernel's hash chain.
    fn chain(self) -> usize {
        const SPREAD: usize = 0x9E37_79B9_7F4A_7C15_u64 as usize;
        let to = self.to.map_or(0, |to| to as usize + 1);
        let names = self.family.as_ptr().addr().rotate_left(24) ^ self.op.as_ptr().addr();
        let mixed = (names ^ (self.dtype as usize) << 56 ^ to << 48).wrapping_mul(SPREAD);
        (mixed >> (usize::BITS - CHAINS.ilog2())) % CHAINS
    }

    fn name(&self) -> String {
        let parts = [self.family, self.op, self.dtype.name(), self.to.map_or("", DType::name)];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
    }
}
