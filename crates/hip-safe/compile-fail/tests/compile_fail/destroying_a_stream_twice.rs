//! A stream's handle is not taken out of it, and giving it up takes it.
use hip_safe::Stream;

fn twice(stream: Stream) {
    drop(stream);
    stream.synchronize().unwrap();
}

fn main() {}
