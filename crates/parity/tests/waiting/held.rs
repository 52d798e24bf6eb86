//! A stream that does nothing until it is let go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use tensor_core::Device;

/// A patience that no call comes near unless it waits.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The stream of a device, held by a function on the host.
pub(crate) struct Held {
    gate: Sender<()>,
    over: Arc<AtomicBool>,
}

impl Held {
    /// Holds the device's stream, behind what was submitted so far, for as long as `patience` at most. `None` for a device that
    /// has no stream.
    pub(crate) fn new(device: &Device, patience: Duration) -> Option<Held> {
        let stream = device.as_hip()?.stream();
        device.synchronize().expect("the work so far is right");
        let (gate, opened) = channel();
        let over = Arc::new(AtomicBool::new(false));
        let given_up = Arc::clone(&over);
        let hold = move || {
            if opened.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                given_up.store(true, Ordering::Release);
            }
        };
        stream.launch_host(hold).expect("a stream calls functions of the host");
        Some(Held { gate, over })
    }

    /// Whether patience came to its end before the stream was let go: a call waited for the device, for nothing else takes as long.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Lets the stream go on.
    pub(crate) fn let_go(self) {
        drop(self.gate);
    }
}

/// The device with a stream of its own, that no other test uses.
pub(crate) fn apart(device: &Device) -> Device {
    Device::parse(&device.name()).expect("it was opened before")
}
