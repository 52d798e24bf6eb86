//! Helpers of tests of waits: the calls that wait, streams whose calls can be counted, and a time limit.

use crate::watched::calls;
use hip_safe::{Device, Stream};
use std::sync::mpsc;
use std::time::Duration;

/// What a hand-over from one stream to another takes.
pub(crate) const RECORD_AND_WAIT: [&str; 2] = ["hipEventRecord", "hipStreamWaitEvent"];

/// More than anything in a test takes.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Calls that make one stream wait for another, or the host for a stream.
pub(crate) fn waits() -> Vec<&'static str> {
    let waits =
        |name: &&str| name.contains("Event") || name.contains("Synchronize") || name.contains("Query");
    calls().into_iter().filter(waits).collect()
}

/// Streams whose events were made: not in the middle of what a test counts.
pub(crate) fn streams<const N: usize>(device: &Device) -> [Stream; N] {
    let streams = [(); N].map(|()| device.new_stream().unwrap());
    let mut buffer = streams[0].alloc_zeros::<u8>(1).unwrap();
    for stream in streams.iter().chain(&streams) {
        stream.memset(&mut buffer, 0).unwrap();
    }
    device.synchronize().unwrap();
    calls();
    streams
}

/// What an act on another thread gives; a panic if it does not end.
pub(crate) fn in_time<R: Send + 'static>(act: impl FnOnce() -> R + Send + 'static) -> R {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(act()));
    receiver.recv_timeout(LONG).expect("it ends, and without a panic")
}
