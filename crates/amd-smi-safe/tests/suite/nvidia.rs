//! NVML: without NVIDIA's driver it is an error with its own words; with it each GPU has a name, an address on the bus and memory.

use amd_smi_safe::{Error, Gpu, Overview, nvidia};

#[test]
fn nvml_answers_or_says_what_is_missing() {
    match nvidia::gpus() {
        Err(Error::Nvml { function, why }) => {
            assert_eq!(function, "nvmlInit_v2");
            println!("skipped: {why}");
        }
        Err(other) => panic!("{other}"),
        Ok(gpus) => {
            for gpu in gpus {
                println!("{}", Overview::of(&gpu).expect("it has a name"));
                assert!(gpu.bus_id().expect("each has one").device < 32);
                let memory = gpu.memory().expect("each has some");
                assert!(memory.used_bytes <= memory.total_bytes);
            }
        }
    }
}
