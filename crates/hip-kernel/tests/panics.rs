//! A kernel that panics fails its launch, with the message and the line, and the process goes on. The device keeps the error, so each case has
//! a device of its own.

use hip_kernel::{Out, Shared, barrier, global_idx, kernel, thread_idx};
use hip_safe::{Device, LaunchConfig, Result};

/// Reads past the end of `x`, if that is shorter than the launch.
#[kernel]
fn read_too_far(x: &[f32], mut y: Out<f32>) {
    let value = x[global_idx()];
    if let Some(y) = y.own() {
        *y = value;
    }
}

/// Writes shared memory past its end after a barrier, so that other threads wait on fibers of their own.
#[kernel]
fn write_too_far(mut y: Out<u32>, four: Shared<u32, 4>) {
    let thread = thread_idx().x as usize;
    four.set(thread % 4, 7);
    barrier();
    four.set(thread, 8);
    barrier();
    if let Some(y) = y.own() {
        *y = four.get(0);
    }
}

/// The message of a failed launch.
fn message(failed: Result<()>) -> String {
    failed.expect_err("the launch fails").to_string()
}

#[test]
fn an_index_past_the_end_fails_the_launch() -> Result<()> {
    let line =
        include_str!("panics.rs").lines().position(|line| line.contains("x[global_idx()];")).unwrap_or(0) + 1;
    let stream = Device::new(&hip_host::platform(), 0)?.new_stream()?;
    let x = stream.upload(&[1.0_f32; 3])?;
    let mut y = stream.alloc_zeros::<f32>(4)?;
    ReadTooFar::load(stream.device())?.launch(&stream, LaunchConfig::linear(4, 32), &x, &mut y)?;
    let text = message(stream.synchronize());
    assert!(text.contains("kernel read_too_far__"), "{text}");
    assert!(text.contains(", block (0, 0, 0), thread (3, 0, 0)"), "{text}");
    assert!(text.contains("index out of bounds: the len is 3 but the index is 3"), "{text}");
    assert!(text.contains(&format!("panics.rs:{line}")), "{text}");
    // A panic outside of kernels still unwinds as always, on a thread that has run a failed kernel, too.
    assert!(std::panic::catch_unwind(|| panic!("outside")).is_err());
    Ok(())
}

#[test]
fn shared_memory_ends_where_it_ends() -> Result<()> {
    let stream = Device::new(&hip_host::platform(), 1)?.new_stream()?;
    let mut y = stream.alloc_zeros::<u32>(8)?;
    WriteTooFar::load(stream.device())?.launch(&stream, LaunchConfig::linear(8, 8), &mut y)?;
    let text = message(stream.synchronize());
    assert!(text.contains("shared memory has fewer elements than the index"), "{text}");
    assert!(text.contains("panics.rs:"), "{text}");
    Ok(())
}
