//! The devices of each platform.

use super::Item;
use hip_safe::Device;
use hip_sys::Platform;
use std::sync::Arc;

const SECTION: &str = "Devices";

pub(super) fn look() -> Vec<Item> {
    let mut items = host();
    items.extend(amd());
    items.extend(nvidia());
    items
}

fn host() -> Vec<Item> {
    let remedy = "this is a fault of ours, or of HIPSTACK_HOST_MEMORY_MB: please report it";
    items_of("host", &hip_host::platform(), remedy).into_iter().map(Item::needed).collect()
}

fn amd() -> Vec<Item> {
    let remedy = "check that the kernel driver amdgpu is loaded and that you may open /dev/kfd and /dev/dri";
    match Platform::load_amd() {
        Ok(platform) => items_of("AMD", &Arc::new(platform), remedy),
        Err(_) => vec![Item::absent(SECTION, "AMD", "the HIP library is absent", "see HIP")],
    }
}

fn nvidia() -> Vec<Item> {
    match hip_nvidia::platform() {
        Ok(platform) => items_of("NVIDIA", &platform, "check `nvidia-smi`"),
        Err(_) => vec![Item::absent(SECTION, "NVIDIA", "the driver is absent", "see CUDA driver")],
    }
}

fn items_of(name: &str, platform: &Arc<Platform>, remedy: &str) -> Vec<Item> {
    let devices = match Device::all(platform) {
        Ok(devices) => devices,
        Err(why) => return vec![Item::absent(SECTION, name, why.to_string(), remedy)],
    };
    if devices.is_empty() {
        return vec![Item::absent(SECTION, name, "the driver counts none", remedy)];
    }
    devices
        .iter()
        .map(|device| Item::found(SECTION, format!("{name} {}", device.ordinal()), describe(device)))
        .collect()
}

fn describe(device: &Device) -> String {
    let p = device.properties();
    let mib = p.total_memory >> 20;
    format!("{}, {}, wave {}, {} units, {mib} MiB", p.name, p.arch, p.wave_size, p.multiprocessors)
}
