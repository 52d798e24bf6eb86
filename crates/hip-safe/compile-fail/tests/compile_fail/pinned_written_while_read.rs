//! A copy cannot be begun to memory that the program reads.
use hip_safe::{DeviceBuffer, PinnedBuffer, Stream};

fn read(stream: &Stream, buffer: &DeviceBuffer<u8>, pinned: &mut PinnedBuffer<u8>) -> u8 {
    let values = pinned.as_slice().unwrap();
    stream.copy_to_pinned(buffer, pinned).unwrap();
    values[0]
}

fn main() {}
