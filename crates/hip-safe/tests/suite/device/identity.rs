//! Devices: their identity, their properties, and those that do not exist.

use crate::under_test::{device, is_host, platform, two_devices};
use hip_safe::{Device, Error, MemoryKind, Platform};
use std::sync::Arc;

#[test]
fn two_devices_that_tell_their_wave_size() {
    if !is_host() {
        return;
    }
    let platform = platform();
    assert_eq!(Device::count(&platform).unwrap(), 2);
    let devices = Device::all(&platform).unwrap();
    let seen: Vec<_> = devices.iter().map(|d| (d.ordinal(), d.properties().wave_size)).collect();
    assert_eq!(seen, [(0, 32), (1, 64)]);
    assert_eq!(devices[0].properties().arch, "host-w32");
    assert_eq!(devices[1].properties().arch, "host-w64");
    assert_eq!(devices[0].properties().name, "hip-host (wave 32)");
    // The runtime is its driver.
    assert_eq!(hip_safe::Version::from_raw(devices[0].driver_version().unwrap()), platform.version());
}

#[test]
fn devices_report_their_limits() {
    for device in Device::all(&platform()).unwrap() {
        let properties = device.properties();
        assert!(properties.max_threads_per_block >= 1024 && properties.multiprocessors > 0, "{properties:?}");
        assert!(properties.shared_memory_per_block >= 32 << 10, "{properties:?}");
        let memory = device.memory_info().unwrap();
        assert!(memory.free <= memory.total && memory.total == properties.total_memory, "{memory:?}");
    }
}

#[test]
fn opening_a_device_twice_gives_the_same() {
    let Some((first, other)) = two_devices() else { return };
    let second = device(0);
    assert_eq!((&first, first.id()), (&second, second.id()));
    assert_ne!(first, other);
    assert_ne!(first.id(), other.id());
}

#[test]
fn a_device_that_does_not_exist() {
    let devices = Device::count(&platform()).unwrap();
    for ordinal in [devices, devices + 5, usize::MAX] {
        let error = Device::new(&platform(), ordinal).unwrap_err();
        assert!(
            matches!(error, Error::DeviceOrdinal { ordinal: named, count } if (named, count) == (ordinal, devices)),
            "{error:?}"
        );
        assert_eq!(
            error.to_string(),
            format!("there is no device {ordinal}: this platform has {devices}, counted from 0")
        );
    }
}

#[test]
fn calls_leave_the_current_device_as_it_was() {
    let platform = platform();
    let current = || {
        let mut ordinal = -1;
        // SAFETY: S1: the out-pointer is live.
        unsafe { (platform.hip().hipGetDevice)(&mut ordinal) };
        ordinal
    };
    let Some((first, second)) = two_devices() else { return };
    let guard = first.make_current().unwrap();
    assert_eq!(current(), 0);
    {
        let inner = second.make_current().unwrap();
        assert_eq!(current(), 1);
        let stream = first.new_stream().unwrap();
        let buffer = stream.upload(&[1_u8]).unwrap();
        assert_eq!(current(), 1);
        drop((buffer, stream));
        assert_eq!(current(), 1, "drops restore it too");
        drop(inner);
    }
    assert_eq!(current(), 0);
    // A forgotten guard changes only the current device.
    std::mem::forget(second.make_current().unwrap());
    assert_eq!(current(), 1);
    let stream = first.new_stream().unwrap();
    assert_eq!(stream.download(&stream.upload(&[5_u8]).unwrap()).unwrap(), [5]);
    drop(guard);
}

#[test]
fn addresses_have_a_kind_of_memory() {
    let device = device(0);
    let stream = device.new_stream().unwrap();
    let buffer = stream.alloc_zeros::<u32>(64).unwrap();
    let on_stack = 0_u32;
    assert_eq!(device.memory_kind(buffer.device_ptr().cast()).unwrap(), MemoryKind::Device);
    assert_eq!(device.memory_kind((&raw const on_stack).cast()).unwrap(), MemoryKind::Unregistered);
    assert_eq!(device.memory_kind(std::ptr::null()).unwrap(), MemoryKind::Unregistered);
}

#[test]
fn amds_library_without_a_gpu_has_no_devices() {
    let platform = match Platform::load_amd() {
        Ok(platform) => Arc::new(platform),
        Err(missing) => return println!("skipped: {missing}"),
    };
    match Device::count(&platform) {
        Ok(0) => {
            let error = Device::new(&platform, 0).unwrap_err();
            assert!(matches!(error, Error::DeviceOrdinal { ordinal: 0, count: 0 }), "{error}");
        }
        other => println!("skipped: this machine's library answers {other:?}"),
    }
}
