//! What compiled kernels use of a GPU: registers, spills, memory, the waves that fit, and loops.
//!
//! AMD's figures are in the metadata of a code object. NVIDIA's are in what ptxas prints while it compiles. Loops come from the
//! output of a disassembler, where there is one.
//!
//! ```
//! use kernel_resources::{Gpu, Vendor, of_nvidia};
//!
//! let said = "ptxas info    : Compiling entry function 'sum' for 'sm_90'
//! ptxas info    : Function properties for sum
//!     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//! ptxas info    : Used 40 registers, used 1 barriers, 128 bytes smem";
//! let gpu = Gpu { vendor: Vendor::Nvidia, arch: "sm_90", block: 256 };
//! let kernels = of_nvidia(&gpu, said)?;
//! assert_eq!(kernels[0].vector_registers, 40);
//! assert_eq!((kernels[0].waves_per_simd, kernels[0].limit.as_str()), (12, "vector registers"));
//! # Ok::<(), String>(())
//! ```

mod amd;
mod disassembly;
mod loops;
mod nvidia;
mod occupancy;

pub use amd::kernels as of_amd;
pub use disassembly::{Disassembler, Function, Instruction};
pub use loops::{Loops, add_loops};
pub use nvidia::kernels as of_nvidia;

use serde::{Deserialize, Serialize};

/// The version of the measurement. Figures of another version have to be measured again.
pub const VERSION: u32 = 1;

/// Who makes a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    /// Its objects are code objects.
    Amd,
    /// Its objects are cubins.
    Nvidia,
}

/// The GPU that an object is for.
#[derive(Clone, Copy, Debug)]
pub struct Gpu<'a> {
    /// Who makes it.
    pub vendor: Vendor,
    /// Its name, such as `gfx942` or `sm_90`.
    pub arch: &'a str,
    /// Threads of the blocks for which waves are counted.
    pub block: u64,
}

/// The GPU resources that one kernel uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelResources {
    /// Its name.
    pub kernel: String,
    /// Vector registers per lane; on gfx90a and later including accumulation registers.
    pub vector_registers: u64,
    /// The vector registers that only matrix instructions can use or that hold spilled values; only some of
    /// AMD's GPUs have them.
    pub accumulation_registers: u64,
    /// Scalar registers per wave. NVIDIA does not report them.
    pub scalar_registers: Option<u64>,
    /// Bytes of shared memory per block.
    pub shared_bytes: u64,
    /// Bytes of private memory per lane: arrays and spilled registers.
    pub scratch_bytes: u64,
    /// Spilled vector registers.
    pub vector_spills: u64,
    /// Spilled scalar registers.
    pub scalar_spills: u64,
    /// Lanes of a wave.
    pub wave_size: u64,
    /// Waves that fit on a SIMD, with blocks of [`Gpu::block`] threads.
    pub waves_per_simd: u64,
    /// The resource that limits the number of waves.
    pub limit: String,
    /// Its loops, if a disassembler was available.
    pub loops: Option<Loops>,
}

impl KernelResources {
    /// Whether it spills vector registers or uses private memory.
    pub fn takes_memory(&self) -> bool {
        self.vector_spills + self.scratch_bytes > 0
    }
}
