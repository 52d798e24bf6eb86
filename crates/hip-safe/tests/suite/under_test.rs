//! The platform under test: hip-host, or the one that `HIPSTACK_TEST_PLATFORM` names (`amd`, `nvidia`), with code objects in the
//! folder `HIPSTACK_KERNELS`, or compiled at run time where that is `compile` or not set.

use hip_safe::{CodeCache, Device, Module, Platform, Source, Stream};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

static PLATFORM: LazyLock<Arc<Platform>> = LazyLock::new(|| match name().as_str() {
    "host" => hip_host::platform(),
    "amd" => Arc::new(Platform::load_amd().expect("AMD's library is on this machine")),
    "nvidia" => hip_nvidia::platform().expect("NVIDIA's driver is on this machine"),
    other => panic!("HIPSTACK_TEST_PLATFORM={other}: there are host, amd and nvidia"),
});

fn name() -> String {
    std::env::var("HIPSTACK_TEST_PLATFORM").unwrap_or_else(|_| "host".to_owned())
}

pub(crate) fn platform() -> Arc<Platform> {
    Arc::clone(&PLATFORM)
}

/// Whether the platform is hip-host, for tests of what only it has; says so if not.
pub(crate) fn is_host() -> bool {
    let host = name() == "host";
    if !host {
        println!("skipped: only for hip-host");
    }
    host
}

/// A device of the platform.
pub(crate) fn device(ordinal: usize) -> Device {
    Device::new(&platform(), ordinal).expect("the platform has such a device")
}

/// The devices that tests run on: both of hip-host's, which differ; elsewhere two at most.
pub(crate) fn ordinals() -> std::ops::Range<usize> {
    0..Device::count(&platform()).expect("the platform counts its devices").min(2)
}

/// The first two devices; none, with a word, where there is one.
pub(crate) fn two_devices() -> Option<(Device, Device)> {
    if ordinals().len() < 2 {
        println!("skipped: needs two devices");
        return None;
    }
    Some((device(0), device(1)))
}

/// A stream of the first device.
pub(crate) fn stream() -> Stream {
    device(0).new_stream().expect("a stream can be made")
}

/// The elementwise kernels of f32, for a device.
pub(crate) fn module(device: &Device) -> Module {
    Module::load(device, &image(device)).expect("the image is good")
}

/// Their image.
pub(crate) fn image(device: &Device) -> Vec<u8> {
    let folder = std::env::var_os("HIPSTACK_KERNELS").map(PathBuf::from);
    let Some(folder) = folder.filter(|folder| folder.as_os_str() != "compile") else {
        return compiled(device);
    };
    let arch = device.properties().arch.split(':').next().unwrap_or_default();
    let folder = folder.join(name()).join(arch);
    let read = |ending| std::fs::read(folder.join("elementwise_f32").with_extension(ending));
    read("hsaco").or_else(|_| read("cubin")).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

/// The same by the platform's own compiler.
fn compiled(device: &Device) -> Vec<u8> {
    let unit = kernels_hip::unit("elementwise", "f32").expect("it ships");
    let properties = device.properties();
    let (arch, wave_size) = unit.target(&name(), &properties.arch, properties.wave_size);
    let source = Source::new(unit.family.source)
        .name(unit.family.file)
        .headers(unit.family.headers())
        .options(unit.options(&name(), wave_size).expect("a platform with a compiler"));
    // Not through the device's platform, whose calls some tests count.
    let platform = if name() == "host" { hip_host::platform() } else { Arc::clone(device.platform()) };
    let compiled = CodeCache::process().compile(&source, &platform, arch);
    compiled.unwrap_or_else(|error| panic!("{error}")).0.into_code()
}
