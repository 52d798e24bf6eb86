//! Facts about a device and its platform, for records that are read on another machine.

use std::collections::BTreeMap;

use super::{HipDevice, kernels, platforms};

/// The model, its size, the versions of the driver, the runtime and the kernels' compiler, and a hash of the kernels' sources and options. Unknown facts are left
/// out.
pub(super) fn of(device: &HipDevice) -> BTreeMap<String, String> {
    let device = device.device();
    let (platform, properties) = (device.platform(), device.properties());
    let kind = platform.kind.name();
    let known = [
        ("platform", kind.to_string()),
        ("name", properties.name.clone()),
        ("arch", properties.arch.clone()),
        ("wave size", properties.wave_size.to_string()),
        ("memory in bytes", properties.total_memory.to_string()),
        ("multiprocessors", properties.multiprocessors.to_string()),
        ("hip version", platform.version().to_string()),
        ("hash of the kernels", kernels_hip::units_hash(kind, &properties.arch, properties.wave_size)),
    ];
    let found = [
        ("driver version", device.driver_version().ok().map(|raw| platforms::driver_version(kind, raw))),
        ("kernel driver", platforms::kernel_driver(kind)),
        ("kernels' compiler", kernels::compiler(device)),
    ];
    let found = found.into_iter().filter_map(|(key, value)| Some((key, value?)));
    known.into_iter().chain(found).map(|(key, value)| (key.to_string(), value)).collect()
}
