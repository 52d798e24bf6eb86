//! What becomes of a kernel that panics. It breaks the device for the rest of the process, so it is a command of its own.

use hip_kernel::hip_safe::{Device, LaunchConfig};
use std::error::Error;

/// Reads past the end of a slice, and succeeds if the launch's error says so.
pub(crate) fn run(device: &Device) -> Result<(), Box<dyn Error>> {
    let stream = device.new_stream()?;
    let (x, mut y) = (stream.upload(&[1.0_f32; 3])?, stream.alloc_zeros::<f32>(4)?);
    let kernel = kernels_rust::Saxpy::load(device)?;
    let launched = kernel.launch(&stream, LaunchConfig::linear(4, 64), 1.0, &x, &mut y);
    // A device that runs kernels at once has failed already.
    let Err(error) = launched.and_then(|()| stream.synchronize()) else {
        return Err("the launch did not fail".into());
    };
    println!("{error}");
    let (location, thread) = ("kernels-rust/src/saxpy.rs:", "thread (3, 0, 0)");
    match error.to_string() {
        text if text.contains(location) && text.contains(thread) => Ok(()),
        _ => Err(format!("the error lacks {location} or {thread}").into()),
    }
}
