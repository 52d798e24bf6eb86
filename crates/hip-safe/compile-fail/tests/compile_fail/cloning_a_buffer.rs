//! Copying the elements is `try_clone`, which can fail.
use hip_safe::DeviceBuffer;

fn twice(buffer: &DeviceBuffer<u8>) -> (DeviceBuffer<u8>, DeviceBuffer<u8>) {
    (buffer.clone(), buffer.clone())
}

fn main() {}
