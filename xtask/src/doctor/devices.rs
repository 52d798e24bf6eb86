//! The devices of each platform.

use super::Item;
use crate::build_kernels::compiler;
use hip_sys::hip::{hipDeviceProp_tR0000, hipDeviceProp_tR0600};
use hip_sys::{LoadError, Platform, WithSlack, text_in};
use std::ffi::c_int;

const SECTION: &str = "Devices";

pub(super) fn look() -> Vec<Item> {
    let mut items = host();
    let remedy = "check that the kernel driver amdgpu is loaded and that you may open /dev/kfd and /dev/dri";
    items.extend(loaded(
        "AMD",
        Platform::load_amd().map(Box::new),
        "the HIP library is absent",
        "see HIP",
        remedy,
    ));
    let nvidia = hip_nvidia::platform();
    items.extend(loaded("NVIDIA", nvidia, "the driver is absent", "see CUDA driver", "check `nvidia-smi`"));
    items
}

/// hip-host's two devices, which are threads of this CPU. Their kernels need a compiler.
fn host() -> Vec<Item> {
    let device = |ordinal, wave| {
        let name = format!("host {ordinal}");
        match compiler::host() {
            Ok(_) => Item::found(SECTION, name, format!("host-w{wave}, wave {wave}, threads of this CPU")),
            Err(_) => Item::absent(SECTION, name, "no compiler for its kernels", "see C++ compiler").needed(),
        }
    };
    vec![device(0, 32), device(1, 64)]
}

fn loaded(
    name: &str,
    platform: Result<impl std::ops::Deref<Target = Platform>, LoadError>,
    why: &str,
    see: &str,
    remedy: &str,
) -> Vec<Item> {
    let Ok(platform) = platform else { return vec![Item::absent(SECTION, name, why, see)] };
    let count = match count(&platform) {
        Ok(0) => return vec![Item::absent(SECTION, name, "the driver counts none", remedy)],
        Ok(count) => count,
        Err(why) => return vec![Item::absent(SECTION, name, why, remedy)],
    };
    let device = |ordinal| match describe(&platform, ordinal) {
        Ok(text) => Item::found(SECTION, format!("{name} {ordinal}"), text),
        Err(why) => Item::bad(SECTION, format!("{name} {ordinal}"), why, remedy),
    };
    (0..count).map(device).collect()
}

fn count(platform: &Platform) -> Result<c_int, String> {
    let mut count = 0;
    // SAFETY: S1: the output pointer is live.
    let status = unsafe { (platform.hip().hipGetDeviceCount)(&mut count) };
    // A machine without a card may return an error.
    if status == hip_sys::hip::hipError_t::hipErrorNoDevice {
        return Ok(0);
    }
    answered("hipGetDeviceCount", status).map(|()| count)
}

fn answered(call: &str, status: hip_sys::hip::hipError_t) -> Result<(), String> {
    if status == hip_sys::hip::hipError_t::hipSuccess {
        Ok(())
    } else {
        Err(format!("{call} answered {}", status.0))
    }
}

/// Uses the layout of the properties that the library has.
fn describe(platform: &Platform, ordinal: c_int) -> Result<String, String> {
    macro_rules! describe {
        ($p:expr) => {{
            let p = $p;
            let (name, arch, mib) = (text_in(&p.name), text_in(&p.gcnArchName), p.totalGlobalMem >> 20);
            Ok(format!("{name}, {arch}, wave {}, {} units, {mib} MiB", p.warpSize, p.multiProcessorCount))
        }};
    }
    match platform.hip().hipGetDevicePropertiesR0600.get() {
        Ok(function) => {
            let ask = |out: *mut hipDeviceProp_tR0600| {
                // SAFETY: S1: the output buffer is live, and larger than the layout.
                unsafe { function(out, ordinal) }
            };
            describe!(properties("hipGetDevicePropertiesR0600", ask)?)
        }
        Err(_) => {
            let ask = |out: *mut hipDeviceProp_tR0000| {
                // SAFETY: S1: the output buffer is live, and larger than the layout.
                unsafe { (platform.hip().hipGetDevicePropertiesR0000)(out, ordinal) }
            };
            describe!(properties("hipGetDeviceProperties", ask)?)
        }
    }
}

/// The properties that a function filled in.
fn properties<T: Default>(call: &str, ask: impl Fn(*mut T) -> hip_sys::hip::hipError_t) -> Result<T, String> {
    let mut space = Box::<WithSlack<T>>::default();
    answered(call, ask(space.as_mut_ptr()))?;
    Ok(space.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_has_a_device_for_each_wave_size() {
        let names: Vec<String> = host().into_iter().map(|item| item.name).collect();
        assert_eq!(names, ["host 0", "host 1"]);
    }

    #[test]
    fn a_refusal_names_the_call() {
        let refuse = |_: *mut [u64; 2]| hip_sys::hip::hipError_t::hipErrorInvalidDevice;
        assert_eq!(properties("ask", refuse).expect_err("refused"), "ask answered 101");
    }
}
