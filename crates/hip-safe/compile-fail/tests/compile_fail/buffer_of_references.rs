//! A pointer of this process means nothing on a device.
use hip_safe::Stream;

fn send(stream: &Stream) {
    stream.upload(&[&1_u8]).unwrap();
}

fn main() {}
