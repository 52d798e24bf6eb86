//! What a command takes of the device's memory, and whether it gives all of it back.

use tensor_core::{DType, Device, Tensor};

use crate::{Failure, shown};

/// The buffers that an error lists, the largest first.
const MOST_LISTED: usize = 8;

/// Memory was not given back: how much, and in which buffers.
pub(crate) struct Kept(String);

impl std::fmt::Display for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Kept {}

/// The memory of a device before a command.
pub(crate) struct Memory {
    device: Device,
    allocated: usize,
}

impl Memory {
    /// # Errors
    /// The device's.
    pub(crate) fn before(device: &Device) -> Result<Memory, Failure> {
        // A device keeps the few words in which kernels report a wrong id, and its BLAS's workspace: an operation with ids and a
        // product, so that they count here.
        let ids = Tensor::new([0u32], device)?;
        let square = Tensor::zeros([64, 64], DType::F32, device)?;
        square.matmul(&square.embedding(&ids.expand(64)?)?)?.to_bytes()?;
        // These are no part of what was in use before: they would hide as many bytes that the command keeps.
        drop((ids, square));
        device.synchronize()?;
        Ok(Memory { device: device.clone(), allocated: allocated(device).unwrap_or(0) })
    }

    /// The most bytes that were in use at once since the program began: of a HIP device its own, of the CPU the resident
    /// memory of the process. `None` where the system does not say.
    pub(crate) fn peak(&self) -> Option<u64> {
        match self.device.as_hip() {
            Some(hip) => Some(hip.device().memory_statistics().peak_allocated as u64),
            None => resident_peak(),
        }
    }

    /// That as many bytes of the device are in use as before. Prints also what is reserved after a trim.
    ///
    /// # Errors
    /// [`Kept`], or the device's.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let Some(hip) = self.device.as_hip() else { return Ok(()) };
        self.device.synchronize()?;
        let left = allocated(&self.device).unwrap_or(0).saturating_sub(self.allocated);
        hip.device().trim_memory(0)?;
        let reserved = hip.device().memory_statistics().reserved;
        eprintln!(
            "memory check: {} in use, {} reserved",
            shown::bytes(left as u64),
            shown::bytes(reserved as u64)
        );
        if left > 0 {
            let mut what = format!("{left} bytes of {} were not given back", self.device);
            let live = hip.device().live_buffers();
            live.iter().take(MOST_LISTED).for_each(|buffer| what += &format!("\n  {buffer}"));
            if live.len() > MOST_LISTED {
                what += &format!("\n  and {} smaller buffers", live.len() - MOST_LISTED);
            }
            Err(Kept(what).into())
        } else {
            Ok(())
        }
    }
}

fn allocated(device: &Device) -> Option<usize> {
    Some(device.as_hip()?.device().memory_statistics().allocated)
}

/// Linux's `VmHWM`.
fn resident_peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}
