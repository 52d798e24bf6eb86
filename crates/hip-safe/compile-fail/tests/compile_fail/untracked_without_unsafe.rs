//! Who takes a buffer out of the order of uses has to keep that order.
use hip_safe::DeviceBuffer;

fn untracked(buffer: &mut DeviceBuffer<u8>) {
    buffer.untracked();
}

fn main() {}
