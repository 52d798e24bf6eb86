//! Panics that the hook of hip-kernel does not see, and values that panic when they are dropped: the launch fails with the text, and the
//! process goes on.

use hip_kernel::{Out, kernel};
use hip_safe::{Device, LaunchConfig, Result};

/// A value whose drop panics.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        std::panic::panic_any("the drop panics");
    }
}

#[kernel]
fn resume(_y: Out<u32>) {
    std::panic::resume_unwind(Box::new("no hook sees this"));
}

#[kernel]
fn explode(_y: Out<u32>) {
    std::panic::panic_any(Bomb);
}

fn message<T>(
    ordinal: usize,
    load: impl FnOnce(&Device) -> Result<T>,
    launch: impl FnOnce(&T, &hip_safe::Stream, &mut hip_safe::DeviceBuffer<u32>) -> Result<()>,
) -> Result<String> {
    let stream = Device::new(&hip_host::platform(), ordinal as _)?.new_stream()?;
    let mut y = stream.alloc_zeros::<u32>(1)?;
    launch(&load(stream.device())?, &stream, &mut y)?;
    Ok(stream.synchronize().expect_err("the launch fails").to_string())
}

#[test]
fn every_panic_fails_its_launch() -> Result<()> {
    let one = LaunchConfig::linear(1, 1);
    let text = message(0, Resume::load, |kernel, stream, y| kernel.launch(stream, one, y))?;
    assert!(text.contains("panicked: no hook sees this, at an unknown location"), "{text}");
    let text = message(1, Explode::load, |kernel, stream, y| kernel.launch(stream, one, y))?;
    assert!(text.contains("panicked: a value that is no text"), "{text}");
    Ok(())
}
