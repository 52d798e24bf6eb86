//! A GPU in one line.

use crate::fake::{both, whole};
use amd_smi_safe::Overview;

#[test]
fn a_line_has_what_there_is() {
    let [gpu, _] = both("overview");
    let overview = Overview::of(&gpu).expect("told");
    assert_eq!(
        overview.to_string(),
        "AMD Instinct MI300X at 0000:c1:00.0, amdgpu 6.16.6, 41 °C, 749 of 750 W, 97 % busy, 1024 of 16384 MiB, 1 process"
    );
    assert_eq!((overview.hip_ordinal, overview.failures), (Some(0), Vec::new()));
}

#[test]
fn what_a_gpu_lacks_is_left_out_and_what_failed_is_said() {
    let odd = whole("overview_odd").processors().expect("some")[1];
    let overview = Overview::of(&odd).expect("told");
    let line = overview.to_string();
    assert_eq!(line, format!("{} at abcde:07:1f.5, 40 °C, 33 W, 70 processes", "m".repeat(256)));
    assert_eq!((overview.power_cap_watts, overview.busy_percent, overview.memory), (None, None, None));
    assert_eq!(overview.failures.len(), 2, "{:?}", overview.failures);
    assert!(overview.failures[0].contains("permission denied"), "{:?}", overview.failures);
    assert!(overview.failures[1].contains("AMDSMI_STATUS_BUSY"), "{:?}", overview.failures);
}
