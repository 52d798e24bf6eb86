//! Several threads: one at a time is in the library.

use crate::fake::{build, open};
use amd_smi_safe::{Gpu, Sensor};

#[test]
fn calls_do_not_overlap() {
    let file = build("threads", &["MAJOR=27"]);
    let smi = open(&file).expect("it opens");
    let gpu = smi.processors().expect("some")[0];
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..200 {
                    // A second opening is the same library, with the same lock.
                    let same = open(&file).expect("it is open").processors().expect("some")[0];
                    assert_eq!(same, gpu);
                    assert_eq!(same.temperature_celsius(Sensor::Edge), Ok(40));
                }
            });
        }
    });
    // SAFETY: S1: the library is loaded already, and the function takes nothing.
    let overlaps = unsafe {
        let library = libloading::Library::new(&file).expect("it is loaded");
        library.get::<unsafe extern "C" fn() -> i32>("fake_overlaps").expect("it is there")()
    };
    assert_eq!(overlaps, 0);
}
