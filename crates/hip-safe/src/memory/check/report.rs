//! The report of the leak check.

use super::{BufferKind, LiveBuffer, backtrace, live};
use crate::device::{self, Device, Inner};
use crate::{DeviceId, DeviceLabel, PoolStatistics};
use parking_lot::Mutex;
use std::fmt;
use std::time::Duration;

/// The result of [`MemoryReport::now`]. Its `Display` is the report that the process prints at its exit.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MemoryReport {
    /// The live buffers that were allocated since the check was turned on, the largest first.
    pub buffers: Vec<LiveBuffer>,
    /// The devices that were open when the check was turned on, or were opened since. If it is off, the open devices.
    pub devices: Vec<DeviceUsage>,
}

/// The memory of a device in bytes: before, when the check was turned on or the device was opened, and after, when the report was made or the
/// device was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceUsage {
    /// The device.
    pub device: DeviceLabel,
    /// Bytes in buffers, before.
    pub allocated_before: usize,
    /// Bytes that the pool had from the driver, before.
    pub reserved_before: usize,
    /// Bytes in buffers, after.
    pub allocated_after: usize,
    /// Bytes that the pool had from the driver, after.
    pub reserved_after: usize,
    /// The most bytes in buffers at once.
    pub peak_allocated: usize,
    /// Bytes that could not be returned to the driver.
    pub lost: usize,
    /// Bytes in buffers, after, that were allocated before the check was turned on.
    pub unseen: usize,
}

struct Known {
    device: DeviceLabel,
    before: PoolStatistics,
    /// Set when the device is closed.
    after: Option<PoolStatistics>,
}

static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());

/// Records the memory of a device at the start.
pub(super) fn note_opened(device: &Device) {
    let before = device.memory_statistics();
    let mut known = KNOWN.lock();
    if known.iter().all(|known| known.device.id != device.id()) {
        known.push(Known { device: device.label(), before, after: None });
    }
}

/// Records the memory of a device at its end.
pub(crate) fn note_closed(device: &Inner, after: PoolStatistics) {
    let id = device.label().id;
    if let Some(known) = KNOWN.lock().iter_mut().find(|known| known.device.id == id) {
        known.after = Some(after);
    }
}

impl MemoryReport {
    /// As [`MemoryReport::now`]; `None` if other threads held a lock for longer than `patience`.
    pub(super) fn within(patience: Duration) -> Option<Self> {
        let open = device::open_devices(patience)?;
        let mut now = Vec::new();
        for device in &open {
            now.push((device.label(), device.memory().statistics_within(patience)?));
        }
        let buffers = live::of(patience, |_| true)?;
        let seen = |id: DeviceId| {
            let on_it = |buffer: &&LiveBuffer| buffer.kind == BufferKind::Device && buffer.device.id == id;
            buffers.iter().filter(on_it).map(|buffer| buffer.bytes).sum::<usize>()
        };
        let usage = |device: DeviceLabel, before: PoolStatistics, after: PoolStatistics| DeviceUsage {
            device,
            allocated_before: before.allocated,
            reserved_before: before.reserved,
            allocated_after: after.allocated,
            reserved_after: after.reserved,
            peak_allocated: after.peak_allocated,
            lost: after.lost,
            unseen: after.allocated.saturating_sub(seen(device.id)),
        };
        let known = KNOWN.try_lock_for(patience)?;
        let mut devices: Vec<DeviceUsage> = known
            .iter()
            .filter_map(|known| {
                let open = now.iter().find(|(device, _)| device.id == known.device.id);
                let after = known.after.or(open.map(|(_, statistics)| *statistics))?;
                Some(usage(known.device, known.before, after))
            })
            .collect();
        drop(known);
        for (device, statistics) in now {
            if devices.iter().all(|known| known.device.id != device.id) {
                devices.push(usage(device, PoolStatistics::default(), statistics));
            }
        }
        Some(Self { buffers, devices })
    }

    /// The bytes of all live buffers, including those from before the check was turned on.
    pub fn leaked_bytes(&self) -> usize {
        let seen: usize = self.buffers.iter().map(|buffer| buffer.bytes).sum();
        seen + self.devices.iter().map(|device| device.unseen).sum::<usize>()
    }
}

impl fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for buffer in &self.buffers {
            writeln!(f, "memory check: leaked {buffer}")?;
            if let Some(backtrace) = &buffer.backtrace {
                backtrace::of_program(&backtrace.to_string())
                    .lines()
                    .try_for_each(|line| writeln!(f, "    {line}"))?;
            }
        }
        for device in &self.devices {
            writeln!(f, "memory check: {device}")?;
        }
        match (self.leaked_bytes(), self.buffers.len()) {
            (0, _) => write!(f, "memory check: no leaks"),
            (bytes, 1) => write!(f, "memory check: 1 buffer leaked, {bytes} bytes in all"),
            (bytes, count) => write!(f, "memory check: {count} buffers leaked, {bytes} bytes in all"),
        }
    }
}

impl fmt::Display for DeviceUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, allocated_before, allocated_after, reserved_before, reserved_after, .. } = self;
        write!(
            f,
            "{device}: in buffers {allocated_before} bytes before, {allocated_after} after, {} at most; \
             reserved {reserved_before} before, {reserved_after} after",
            self.peak_allocated
        )?;
        if self.unseen > 0 {
            let unseen = self.unseen;
            write!(
                f,
                "; {unseen} bytes are in buffers from before the check, which HIPSTACK_MEMORY_CHECK=1 would name"
            )?;
        }
        if self.lost > 0 {
            write!(f, "; {} bytes could not be given back to the driver", self.lost)?;
        }
        Ok(())
    }
}
