//! NVML: without NVIDIA's driver it is an error with its own words; with it each GPU has a name, an address on the bus, memory, a temperature, and the processes
//! that use it.

use amd_smi_safe::nvidia::{self, NvidiaGpu};
use amd_smi_safe::{ClockKind, Error, Gpu, Overview, Sensor};
use std::collections::BTreeSet;

/// NVIDIA's GPUs; none where there is no driver, which is said. `HIPSTACK_TEST_PLATFORM=nvidia` says that there has to be one.
fn gpus() -> Vec<NvidiaGpu> {
    let there = std::env::var("HIPSTACK_TEST_PLATFORM").is_ok_and(|name| name == "nvidia");
    match nvidia::gpus() {
        Ok(gpus) => {
            assert!(!gpus.is_empty() || !there, "NVML counts no GPU");
            gpus
        }
        Err(Error::Nvml { function, why }) if !there => {
            assert_eq!(function, "nvmlInit_v2");
            println!("skipped: {why}");
            Vec::new()
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn each_has_a_name_and_a_bus_address_of_its_own() {
    let gpus = gpus();
    let (mut addresses, mut identifiers) = (BTreeSet::new(), BTreeSet::new());
    for gpu in &gpus {
        println!("{}", Overview::of(gpu).expect("it has a name"));
        assert!(!gpu.name().expect("each has one").is_empty());
        assert!(gpu.uuid().expect("each has one").starts_with("GPU-"));
        let address = gpu.bus_id().expect("each has one");
        assert!(address.device < 32 && address.function < 8, "{address}");
        let driver = gpu.driver().expect("it answers");
        assert_eq!(driver.name, "nvidia");
        assert!(driver.version.split('.').all(|part| part.parse::<u32>().is_ok()), "{}", driver.version);
        addresses.insert(address.to_string());
        identifiers.insert(gpu.uuid().expect("told before"));
    }
    assert_eq!((addresses.len(), identifiers.len()), (gpus.len(), gpus.len()));
}

/// The limits are those of any card of a data centre: 4 GiB to 1 TiB, 5 to 110 degrees, up to 3 kW.
#[test]
fn what_is_measured_is_possible() {
    for gpu in gpus() {
        let memory = gpu.memory().expect("each has some");
        assert!((1 << 32..1 << 40).contains(&memory.total_bytes), "{} bytes", memory.total_bytes);
        assert!(memory.used_bytes <= memory.total_bytes);
        let degrees = gpu.temperature_celsius(Sensor::Edge).expect("each has a sensor");
        assert!((5..=110).contains(&degrees), "{degrees} degrees");
        let elsewhere = gpu.temperature_celsius(Sensor::Hotspot).expect_err("NVML has one sensor");
        assert!(elsewhere.is_absence(), "{elsewhere}");
        let busy = gpu.utilization().expect("it answers");
        let shares = [busy.gfx_percent, busy.memory_percent, busy.media_percent];
        assert!(shares.into_iter().flatten().all(|share| share <= 100), "{shares:?}");
        if let Some(watts) = if_any(gpu.power()).and_then(|power| power.socket_watts) {
            assert!(watts < 3000, "{watts} W");
        }
        if let Some(microwatts) = if_any(gpu.power_cap_microwatts()) {
            assert!((1_000_000..3_000_000_000).contains(&microwatts), "{microwatts} microwatts");
        }
        let clock = gpu.clock(ClockKind::Gfx).expect("each has one");
        assert!(clock.current_megahertz.is_some_and(|now| now < 10_000), "{:?}", clock.current_megahertz);
        let link = gpu.pcie().expect("it answers");
        assert!(
            link.lanes.is_some_and(|lanes| lanes <= 32) && link.generation.is_none_or(|number| number < 10)
        );
        if let Some(errors) = if_any(gpu.ecc_errors()) {
            assert_eq!(errors.deferred, None, "NVML counts none");
        }
    }
}

#[test]
fn processes_are_listed_once() {
    for gpu in gpus() {
        let processes = gpu.processes().expect("it answers");
        let numbers: BTreeSet<u32> = processes.iter().map(|process| process.pid).collect();
        assert_eq!(numbers.len(), processes.len());
        let most = gpu.memory().expect("each has some").total_bytes;
        for process in &processes {
            println!("{process:?}");
            assert!(process.memory_bytes.is_none_or(|bytes| bytes <= most));
        }
    }
}

/// What a GPU may lack.
fn if_any<T>(read: amd_smi_safe::Result<T>) -> Option<T> {
    match read {
        Err(error) if error.is_absence() => None,
        read => Some(read.expect("it answers")),
    }
}
