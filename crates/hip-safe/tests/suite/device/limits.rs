//! Limits of a device.

use crate::under_test::device;
use crate::watched::changed_platform;
use hip_safe::{Device, Error, Limit};
use hip_sys::Optional;
use std::sync::Arc;

#[test]
fn limits_are_read_and_set() {
    let device = device(0);
    for limit in [Limit::StackSize, Limit::MallocHeapSize, Limit::PrintfFifoSize] {
        let before = match device.limit(limit) {
            // hipErrorUnsupportedLimit: not every device has every limit.
            Err(error) if error.hip_code() == Some(215) => {
                println!("skipped: no {limit:?}");
                continue;
            }
            answer => answer.unwrap(),
        };
        device.set_limit(limit, before * 2).unwrap();
        assert!(device.limit(limit).unwrap() >= before * 2, "{limit:?}");
        device.set_limit(limit, before).unwrap();
        assert!(device.limit(limit).unwrap() >= before, "{limit:?}");
    }
    assert!(device.limit(Limit::StackSize).unwrap() >= 1024);
}

#[test]
fn a_library_that_cannot_set_them_says_so() {
    let platform = changed_platform(|table| {
        table.hipDeviceSetLimit = Optional::absent("hipDeviceSetLimit", "5.3");
    });
    let device = Device::new(&Arc::new(platform), 0).unwrap();
    let error = device.set_limit(Limit::StackSize, 4096).unwrap_err();
    assert!(
        matches!(&error, Error::Unsupported(missing) if missing.symbol == "hipDeviceSetLimit"),
        "{error}"
    );
}
