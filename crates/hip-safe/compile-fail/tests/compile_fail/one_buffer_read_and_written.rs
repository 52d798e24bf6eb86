//! A launch cannot take one buffer to read and to write.
use hip_safe::{DeviceBuffer, Function, LaunchConfig, Stream};

fn launch(stream: &Stream, kernel: &Function, buffer: &mut DeviceBuffer<f32>) {
    let mut launch = stream.launch(kernel, LaunchConfig::linear(1, 1));
    launch.arg(buffer).arg_mut(buffer);
}

fn main() {}
