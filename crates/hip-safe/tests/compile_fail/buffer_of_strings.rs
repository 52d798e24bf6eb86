//! Only plain data lives in device memory.
use hip_safe::DeviceBuffer;

fn take(_: DeviceBuffer<String>) {}

fn main() {}
