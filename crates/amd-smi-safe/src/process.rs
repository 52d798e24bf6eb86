//! The processes that use a GPU.

use crate::convert::{counted, known32, told};
use crate::processor::ask;
use crate::{Processor, Result};
use hip_sys::text_in;

/// A process, and what it takes of one GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name, if this user may see it.
    pub name: Option<String>,
    /// All the memory that it takes, in bytes.
    pub memory_bytes: Option<u64>,
    /// Of that the GPU's own, in bytes.
    pub vram_bytes: Option<u64>,
    /// The time that the compute units worked for it, in nanoseconds.
    pub gfx_nanoseconds: Option<u64>,
    /// The compute units that it occupies.
    pub compute_units: Option<u32>,
    /// Its container.
    pub container: Option<String>,
}

impl Processor {
    pub(crate) fn processes_now(&self) -> Result<Vec<Process>> {
        let list = ask!(self, process_list)?;
        let process = |found: hip_sys::amdsmi::amdsmi_proc_info_t| Process {
            pid: found.pid,
            name: told(text_in(&found.name)),
            memory_bytes: counted(found.mem),
            vram_bytes: counted(found.memory_usage.vram_mem),
            gfx_nanoseconds: counted(found.engine_usage.gfx),
            compute_units: known32(found.cu_occupancy),
            container: told(text_in(&found.container_name)),
        };
        Ok(list.into_iter().map(process).collect())
    }
}
