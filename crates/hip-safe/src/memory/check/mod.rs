//! The search for leaks: which buffers live, by name, and what each device's memory was and is.

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

/// What is remembered of each buffer from its allocation on.
///
/// `HIPSTACK_MEMORY_CHECK=1` turns the check on when the first device is opened, and has a report printed on standard error
/// when the process exits: a line for each buffer that still lives, the largest first, then what each device's memory was and
/// is. With `HIPSTACK_MEMORY_CHECK=backtrace` each line is followed by the place of the allocation. What lives in a `static`, or was
/// forgotten, is listed. Without the variable nothing is printed, and an allocation costs one relaxed load more.
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
    /// These, and the backtrace of the allocation: it costs microseconds each.
    Backtraces,
}

static LEVEL: AtomicU8 = AtomicU8::new(MemoryCheck::Off as u8);
const VARIABLE: &str = "HIPSTACK_MEMORY_CHECK";

impl MemoryCheck {
    /// Remembers this much of every buffer that is allocated from now on, in the whole process.
    pub fn start(self) {
        follow_environment();
        let was = LEVEL.swap(self as u8, Ordering::Relaxed);
        if was == Self::Off as u8 && self != Self::Off {
            device::open_devices(Duration::MAX).iter().flatten().for_each(report::note_opened);
        }
    }

    /// What is remembered now.
    pub fn current() -> Self {
        match LEVEL.load(Ordering::Relaxed) {
            0 => Self::Off,
            1 => Self::Names,
            _ => Self::Backtraces,
        }
    }
}

impl MemoryReport {
    /// The buffers that live now, and what the memory of each device was when the check began and is now.
    pub fn now() -> Self {
        Self::within(Duration::MAX).expect("nobody waits for ever")
    }
}

impl Device {
    /// The buffers of this device that live: those allocated since the [`MemoryCheck`] was turned on, the largest first. Memory
    /// of the host that was allocated for the device is among them.
    pub fn live_buffers(&self) -> Vec<LiveBuffer> {
        live::of(Duration::MAX, |buffer| buffer.device.id == self.id()).unwrap_or_default()
    }
}

/// Panics, with a line for each, if buffers live on any device.
///
/// Device memory in use that the [`MemoryCheck`] has not seen counts as well, without names. Pinned and managed memory is seen only if it
/// was allocated since the check was turned on.
///
/// # Panics
/// If there are any.
#[track_caller]
pub fn assert_no_leaks() {
    let report = MemoryReport::now();
    assert!(report.leaked_bytes() == 0, "{report}");
}

/// A device was opened.
pub(crate) fn note_opened(device: &Device) {
    follow_environment();
    if MemoryCheck::current() != MemoryCheck::Off {
        report::note_opened(device);
    }
}

pub(crate) use report::note_closed;

/// Does once what the variable says.
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

/// Prints the report. Other threads go on while a process exits, and one may stay in a call of the driver for ever.
extern "C" fn print() {
    use std::io::Write;
    let text = match MemoryReport::within(Duration::from_secs(1)) {
        Some(report) => report.to_string(),
        None => "memory check: another thread is still in a call; there is no report".to_owned(),
    };
    // There is nobody to tell if standard error is closed.
    let _ = writeln!(std::io::stderr(), "{text}");
}
