//! A device can write a 2 where a `bool` is expected: a `bool` goes one way.
use hip_safe::Stream;

fn read(stream: &Stream) -> Vec<bool> {
    let buffer = stream.upload(&[true, false]).unwrap();
    stream.download(&buffer).unwrap()
}

fn main() {}
