//! The platform under test: hip-host, or the one that `HIPSTACK_TEST_PLATFORM` names (`amd`, `nvidia`). The suites of several crates
//! include this file.
#![allow(dead_code, reason = "not every suite needs all of it")]

use hip_safe::{Device, Platform, Stream};
use std::sync::{Arc, LazyLock, mpsc};
use std::time::Duration;

static PLATFORM: LazyLock<Arc<Platform>> = LazyLock::new(|| match name().as_str() {
    "host" => hip_host::platform(),
    "amd" => Arc::new(Platform::load_amd().expect("AMD's library is on this machine")),
    "nvidia" => hip_nvidia::platform().expect("NVIDIA's driver is on this machine"),
    other => panic!("HIPSTACK_TEST_PLATFORM={other}: there are host, amd and nvidia"),
});

/// Its name in `HIPSTACK_TEST_PLATFORM`.
pub(crate) fn name() -> String {
    std::env::var("HIPSTACK_TEST_PLATFORM").unwrap_or_else(|_| "host".to_owned())
}

/// The platform.
pub(crate) fn platform() -> Arc<Platform> {
    Arc::clone(&PLATFORM)
}

/// A device of the platform.
pub(crate) fn device(ordinal: usize) -> Device {
    Device::new(&PLATFORM, ordinal).expect("the platform has such a device")
}

/// The first two devices. If there is only one, this prints so and returns none.
pub(crate) fn two_devices() -> Option<(Device, Device)> {
    if Device::count(&PLATFORM).expect("the platform counts its devices") < 2 {
        println!("skipped: needs two devices");
        return None;
    }
    Some((device(0), device(1)))
}

/// A stream of the first device.
pub(crate) fn stream() -> Stream {
    device(0).new_stream().expect("a stream can be made")
}

/// Stops a stream until something is sent, or the sender dropped. On NVIDIA for a tenth of a second, and there is no sender: CUDA may load a kernel at its
/// first launch, and its libraries may wait for the device, on whichever thread, while this one has not yet come to its release.
pub(crate) fn hold(stream: &Stream) -> Option<mpsc::Sender<()>> {
    let (release, held) = mpsc::channel();
    let nvidia = name() == "nvidia";
    let wait = move || {
        if nvidia {
            std::thread::sleep(Duration::from_millis(100));
        } else {
            let _ = held.recv();
        }
    };
    stream.launch_host(wait).expect("a host function can be launched");
    (!nvidia).then_some(release)
}
