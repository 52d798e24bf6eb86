//! AMD's own library, where this machine has it: without the kernel driver it says so, with it there are GPUs. `ci/run-unpacked.sh` runs this program
//! with the libraries of a folder of `emulator/rocm/fetch.sh`.

use amd_smi_safe::{AmdSmi, Error, Gpu, Overview};
use hip_sys::{AmdsmiTable, LoadError};

/// No suite of Debian 12 has AMD SMI, so that a machine which has to have the rest of ROCm may lack it.
fn skipped(missing: &LoadError) {
    println!("skipped: {missing}");
}

#[test]
fn amds_library_is_of_a_known_version_and_has_every_function() {
    let library = match hip_sys::AmdSmi::load() {
        Ok(library) => library,
        Err(missing @ LoadError::NotFound { .. }) => return skipped(&missing),
        Err(other) => panic!("libamd_smi is there and does not load: {other}"),
    };
    println!("AMD SMI {} from {}", library.version(), library.library().display());
    assert!((26..28).contains(&library.version().major));
    // 27 came with ROCm 10, after every function that the table has.
    let newest = library.version().major == 27;
    assert!(library.table().amdsmi_get_vcn_busy_percent.is_present() || !newest);
    assert_eq!(AmdsmiTable::SYMBOLS.iter().filter(|symbol| symbol.since.is_some()).count(), 1);
}

#[test]
fn amds_library_has_gpus_or_says_that_there_is_no_driver() {
    match AmdSmi::open() {
        Err(Error::NoLibrary(missing @ LoadError::NotFound { .. })) => skipped(&missing),
        Err(Error::NoDriver) => {
            println!("{}", Error::NoDriver);
            let loaded = std::fs::read_to_string("/proc/modules").unwrap_or_default();
            assert!(!loaded.lines().any(|line| line.starts_with("amdgpu ")), "the driver is loaded");
            // It was not initialised, and can be asked again.
            assert_eq!(AmdSmi::open().unwrap_err(), Error::NoDriver);
        }
        Err(other) => panic!("{other}"),
        Ok(smi) => {
            for gpu in smi.processors().expect("initialised") {
                println!("{}", Overview::of(&gpu).expect("it has a name"));
                assert!(gpu.bus_id().expect("each has one").device < 32);
                let memory = gpu.memory().expect("each has some");
                assert!(memory.used_bytes <= memory.total_bytes);
            }
        }
    }
}
