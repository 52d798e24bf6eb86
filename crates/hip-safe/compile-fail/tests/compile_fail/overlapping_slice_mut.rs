//! Two ranges to write come from `split_at_mut`, as in `std::slice`.
use hip_safe::{DeviceBuffer, Stream};

fn write(stream: &Stream, buffer: &mut DeviceBuffer<u8>) {
    let mut first = buffer.slice_mut(..4).unwrap();
    let mut second = buffer.slice_mut(2..).unwrap();
    stream.memset(&mut first, 0).unwrap();
    stream.memset(&mut second, 0).unwrap();
}

fn main() {}
