//! Shared memory is written through `make_mut`, which copies it while there are other owners.
use hip_safe::{SharedBuffer, Stream};

fn write(stream: &Stream, shared: &mut SharedBuffer<u8>) {
    stream.memset(shared, 0).unwrap();
}

fn main() {}
