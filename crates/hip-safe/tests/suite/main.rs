//! The crate's tests on hip-host, in one program.

mod adversary;
mod calls;
mod causes;
mod compiled;
mod devices;
mod events;
mod exit;
mod faults;
mod launch;
mod memory;
mod pinned;
mod shared;
mod threads;
mod watched;

use hip_safe::{Device, Stream};

/// A device of hip-host.
fn device(ordinal: usize) -> Device {
    Device::new(&hip_host::platform(), ordinal).expect("hip-host has two devices")
}

/// A stream of its first device.
fn stream() -> Stream {
    device(0).new_stream().expect("a stream can be made")
}
