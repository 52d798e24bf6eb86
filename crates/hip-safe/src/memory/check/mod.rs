//! The leak check: the list of live buffers, by name, and the memory of each device before and after.

mod backtrace;
mod live;
mod report;

use crate::device::{self, Device};
use parking_lot::Once;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

pub(crate) use live::Registration;
pub use live::{BufferKind, LiveBuffer};
pub use report::{DeviceUsage, MemoryReport};

/// The information that is recorded for each allocated buffer.
///
/// `HIPSTACK_MEMORY_CHECK=1` turns the check on when the first device is opened, and prints a report to standard error when the process exits: a
/// line for each live buffer, the largest first, then the memory of each device. With `HIPSTACK_MEMORY_CHECK=backtrace` each line is followed by
/// the backtrace of the allocation. Buffers in a `static`, and forgotten ones, are listed. Without the variable nothing is printed, and an
/// allocation costs one more relaxed load.
///
/// ```
/// use hip_safe::{Device, MemoryCheck};
///
/// # fn main() -> hip_safe::Result<()> {
/// MemoryCheck::Names.start();
/// let stream = Device::new(&hip_host::platform(), 0)?.new_stream()?;
/// let weights = stream.alloc_zeros::<f32>(1000)?.named("weights");
/// let live = stream.device().live_buffers();
/// assert_eq!((live[0].bytes, live[0].name.as_deref()), (4000, Some("weights")));
/// drop(weights);
/// hip_safe::assert_no_leaks();
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum MemoryCheck {
    /// Nothing.
    Off,
    /// Size, device and name.
    Names,
    /// Size, device, name, and the backtrace of the allocation, which costs microseconds.
    Backtraces,
}

static LEVEL: AtomicU8 = AtomicU8::new(MemoryCheck::Off as u8);
const VARIABLE: &str = "HIPSTACK_MEMORY_CHECK";

impl MemoryCheck {
    /// Records this information for every buffer that is allocated from now on, in the whole process.
    pub fn start(self) {
        follow_environment();
        let was = LEVEL.swap(self as u8, Ordering::Relaxed);
        if was == Self::Off as u8 && self != Self::Off {
            device::open_devices(Duration::MAX).iter().flatten().for_each(report::note_opened);
        }
    }

    /// The current level.
    pub fn current() -> Self {
        match LEVEL.load(Ordering::Relaxed) {
            0 => Self::Off,
            1 => Self::Names,
            _ => Self::Backtraces,
        }
    }
}

impl MemoryReport {
    /// The live buffers, and the memory of each device at the start of the check and now.
    pub fn now() -> Self {
        Self::within(Duration::MAX).expect("nobody waits for ever")
    }
}

impl Device {
    /// The live buffers of this device that were allocated since the [`MemoryCheck`] was turned on, the largest first. They include pinned memory
    /// that was allocated for the device.
    pub fn live_buffers(&self) -> Vec<LiveBuffer> {
        live::of(Duration::MAX, |buffer| buffer.device.id == self.id()).unwrap_or_default()
    }
}

/// Panics if there are live buffers on any device, with a line for each.
///
/// Device memory in use that was allocated before the [`MemoryCheck`] was turned on counts too, without names. Pinned and managed memory counts
/// only if it was allocated since then.
///
/// # Panics
/// If there are any.
#[track_caller]
pub fn assert_no_leaks() {
    let report = MemoryReport::now();
    assert!(report.leaked_bytes() == 0, "{report}");
}

/// Called when a device was opened.
pub(crate) fn note_opened(device: &Device) {
    follow_environment();
    if MemoryCheck::current() != MemoryCheck::Off {
        report::note_opened(device);
    }
}

pub(crate) use report::note_closed;

/// Applies the environment variable, once.
fn follow_environment() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let value = std::env::var_os(VARIABLE).unwrap_or_default();
        let level = match value.to_str() {
            Some("" | "0") => return,
            Some("1") => MemoryCheck::Names,
            Some("backtrace") => MemoryCheck::Backtraces,
            _ => {
                eprintln!("{VARIABLE}={}: there are 0, 1 and backtrace; nothing is checked", value.display());
                return;
            }
        };
        LEVEL.store(level as u8, Ordering::Relaxed);
        if !hip_sys::at_exit(print) {
            eprintln!("{VARIABLE}: the system takes no more handlers for the exit; there will be no report");
        }
    });
}

/// Prints the report. Other threads may hang in a driver call while the process exits, so it waits for locks only for a limited time.
extern "C" fn print() {
    use std::io::Write;
    let text = match MemoryReport::within(Duration::from_secs(1)) {
        Some(report) => report.to_string(),
        None => "memory check: another thread is still in a call; there is no report".to_owned(),
    };
    // An error is ignored, because standard error may be closed.
    let _ = writeln!(std::io::stderr(), "{text}");
}
