//! The platform under test: hip-host, or the one that `HIPSTACK_TEST_PLATFORM` names (`amd`, `nvidia`).

use hip_safe::{Device, Platform, Stream};
use rocblas_safe::Handle;
use std::sync::{Arc, LazyLock};

static PLATFORM: LazyLock<Arc<Platform>> = LazyLock::new(|| match name().as_str() {
    "host" => hip_host::platform(),
    "amd" => Arc::new(Platform::load_amd().expect("AMD's library is on this machine")),
    "nvidia" => hip_nvidia::platform().expect("NVIDIA's driver is on this machine"),
    other => panic!("HIPSTACK_TEST_PLATFORM={other}: there are host, amd and nvidia"),
});

pub(crate) fn name() -> String {
    std::env::var("HIPSTACK_TEST_PLATFORM").unwrap_or_else(|_| "host".to_owned())
}

/// A device of the platform.
pub(crate) fn device(ordinal: usize) -> Device {
    Device::new(&PLATFORM, ordinal).expect("the platform has such a device")
}

/// The first two devices; none, with a word, where there is one.
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

/// A stream of the first device, and a handle on it.
pub(crate) fn handle() -> (Stream, Handle) {
    let stream = stream();
    let handle = Handle::new(&stream).expect("the platform has rocBLAS or what stands in its place");
    (stream, handle)
}

/// Whether the platform's library has no such function, with a word.
pub(crate) fn lacks(op: &str) -> bool {
    let lacks = name() == "nvidia" && ["getri", "gels", "gesvd of wide matrices"].contains(&op);
    if lacks {
        println!("skipped: cuSOLVER has no {op}");
    }
    lacks
}
