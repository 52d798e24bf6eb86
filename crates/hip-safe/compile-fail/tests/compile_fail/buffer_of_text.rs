//! Only plain data lives in device memory.
use hip_safe::DeviceBuffer;

struct Label(#[allow(dead_code)] String);

fn take(_: DeviceBuffer<Label>) {}

fn main() {}
