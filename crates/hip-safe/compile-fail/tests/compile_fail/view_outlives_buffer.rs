//! A view borrows its buffer.
use hip_safe::{DeviceView, Stream};

fn part(stream: &Stream) -> DeviceView<'static, u8> {
    let buffer = stream.upload(&[1_u8, 2, 3]).unwrap();
    buffer.slice(1..).unwrap()
}

fn main() {}
