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
use std::process::{Command, Output};

/// Tells a process that it was started for one test.
const CHILD: &str = "HIP_SAFE_TEST_CHILD";

/// Whether this process was started by [`again`].
fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Starts this program again for the test of that name, with these variables, and waits for its end.
fn again(test: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").envs(variables.iter().copied());
    command.output().expect("it starts")
}

/// A device of hip-host.
fn device(ordinal: usize) -> Device {
    Device::new(&hip_host::platform(), ordinal).expect("hip-host has two devices")
}

/// A stream of its first device.
fn stream() -> Stream {
    device(0).new_stream().expect("a stream can be made")
}
