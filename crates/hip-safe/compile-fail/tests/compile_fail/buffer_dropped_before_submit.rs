//! A launch borrows its buffers until it was submitted for the last time.
use hip_safe::{DeviceBuffer, Function, LaunchConfig, Stream};

fn launch(stream: &Stream, kernel: &Function, buffer: DeviceBuffer<f32>) {
    let mut launch = stream.launch(kernel, LaunchConfig::linear(1, 1));
    launch.arg(&buffer);
    drop(buffer);
    // SAFETY: S9: it does not compile.
    unsafe { launch.submit() }.unwrap();
}

fn main() {}
