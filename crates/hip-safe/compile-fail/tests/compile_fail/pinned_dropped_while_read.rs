//! What was borrowed from pinned memory ends before it; its drop waits for the copies in flight.
use hip_safe::{DeviceBuffer, PinnedBuffer, Stream};

fn read(stream: &Stream, buffer: &DeviceBuffer<u8>, mut pinned: PinnedBuffer<u8>) -> u8 {
    stream.copy_to_pinned(buffer, &mut pinned).unwrap();
    let values = pinned.as_slice().unwrap();
    drop(pinned);
    values[0]
}

fn main() {}
