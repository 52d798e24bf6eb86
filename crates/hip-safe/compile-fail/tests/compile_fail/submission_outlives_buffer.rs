//! Work being put together borrows the memory that it uses.
use hip_safe::{DeviceBuffer, Stream, Submission};

fn begin(stream: &Stream, mut buffer: DeviceBuffer<f32>) -> Submission<'_> {
    let mut submission = stream.submission();
    submission.write(&mut buffer);
    submission
}

fn main() {}
