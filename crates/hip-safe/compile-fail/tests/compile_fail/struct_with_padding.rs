//! Padding is not initialised, so its bytes may not be sent.
use hip_safe::Stream;

#[derive(Clone, Copy)]
#[repr(C)]
struct Padded {
    small: u8,
    large: u64,
}

fn send(stream: &Stream) {
    stream.upload(&[Padded { small: 1, large: 2 }]).unwrap();
}

fn main() {}
