//! A vector has a pointer in it; its elements go to the device.
use hip_safe::DeviceBuffer;

fn take(_: DeviceBuffer<Vec<f32>>) {}

fn main() {}
