//! What a device is and what it can do, read from either layout of C's structure.

use crate::convert::{count, count32, dimensions, text};
use crate::raw::{self, Failure};
use hip_sys::Platform;
use hip_sys::hip::{hipDeviceProp_tR0000, hipDeviceProp_tR0600};
use std::ffi::c_int;

/// A device's properties, as they were when it was opened.
#[doc(alias = "hipDeviceProp_t")]
#[doc(alias = "hipGetDeviceProperties")]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// The marketing name.
    pub name: String,
    /// The architecture with its features, e.g. `gfx90a:sramecc+:xnack-`.
    pub arch: String,
    /// Threads in a wave: 32 or 64.
    pub wave_size: u32,
    /// The major version of the compute capability.
    pub major: u32,
    /// The minor version of the compute capability.
    pub minor: u32,
    /// Bytes of device memory.
    pub total_memory: usize,
    /// Compute units, or multiprocessors.
    pub multiprocessors: u32,
    /// Threads that one multiprocessor holds at a time.
    pub max_threads_per_multiprocessor: u32,
    /// Threads that a block may have.
    pub max_threads_per_block: u32,
    /// Threads that a block may have along x, y and z.
    pub max_block: [u32; 3],
    /// Blocks that a grid may have along x, y and z.
    pub max_grid: [u32; 3],
    /// Bytes of shared memory that a block may have.
    pub shared_memory_per_block: usize,
    /// 32-bit registers that a block may have.
    pub registers_per_block: u32,
    /// Bytes of the level-2 cache.
    pub l2_cache_bytes: usize,
    /// The clock of the multiprocessors in kHz.
    pub clock_khz: u32,
    /// The clock of the memory in kHz.
    pub memory_clock_khz: u32,
    /// The width of the memory's bus in bits.
    pub memory_bus_bits: u32,
    /// Domain, bus and device on PCI.
    pub pci: [u32; 3],
    /// Whether it shares the host's memory.
    pub integrated: bool,
    /// Whether it has managed memory.
    pub managed_memory: bool,
    /// Whether the host may use managed memory while kernels run.
    pub concurrent_managed_access: bool,
    /// Whether kernels can be launched cooperatively.
    pub cooperative_launch: bool,
}

impl Properties {
    /// Asks the platform, by the later layout where it has it.
    pub(crate) fn read(platform: &Platform, ordinal: c_int) -> Result<Self, Failure> {
        // SAFETY: S1: any ordinal may be asked for.
        match unsafe { raw::properties_r0600(platform, ordinal) } {
            Some(answer) => Ok(Self::from_r0600(&*answer?)),
            // SAFETY: S1: any ordinal may be asked for.
            None => Ok(Self::from_r0000(&*unsafe { raw::properties_r0000(platform, ordinal) }?)),
        }
    }
}

/// Both layouts have these fields under the same names.
macro_rules! read_layout {
    ($function:ident, $layout:ty) => {
        impl Properties {
            fn $function(p: &$layout) -> Self {
                Self {
                    name: text(&p.name),
                    arch: text(&p.gcnArchName),
                    wave_size: count32(p.warpSize),
                    major: count32(p.major),
                    minor: count32(p.minor),
                    total_memory: p.totalGlobalMem,
                    multiprocessors: count32(p.multiProcessorCount),
                    max_threads_per_multiprocessor: count32(p.maxThreadsPerMultiProcessor),
                    max_threads_per_block: count32(p.maxThreadsPerBlock),
                    max_block: dimensions(p.maxThreadsDim),
                    max_grid: dimensions(p.maxGridSize),
                    shared_memory_per_block: p.sharedMemPerBlock,
                    registers_per_block: count32(p.regsPerBlock),
                    l2_cache_bytes: count(p.l2CacheSize),
                    clock_khz: count32(p.clockRate),
                    memory_clock_khz: count32(p.memoryClockRate),
                    memory_bus_bits: count32(p.memoryBusWidth),
                    pci: dimensions([p.pciDomainID, p.pciBusID, p.pciDeviceID]),
                    integrated: p.integrated != 0,
                    managed_memory: p.managedMemory != 0,
                    concurrent_managed_access: p.concurrentManagedAccess != 0,
                    cooperative_launch: p.cooperativeLaunch != 0,
                }
            }
        }
    };
}

read_layout!(from_r0600, hipDeviceProp_tR0600);
read_layout!(from_r0000, hipDeviceProp_tR0000);
