//! What is known of one kernel.

use crate::Argument;

/// What a code object says of one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelInfo {
    /// Its name.
    pub name: String,
    /// The symbol of its descriptor: by convention its name and `.kd`.
    pub symbol: String,
    /// All its arguments, in ascending order and none over another; those that the runtime passes too.
    pub arguments: Vec<Argument>,
    /// The arguments that a launch passes.
    pub params: Vec<Param>,
    /// Bytes of its arguments in all, the runtime's included. Every argument lies inside.
    pub kernarg_bytes: u64,
    /// The alignment of its arguments in bytes, a power of two.
    pub kernarg_align: u64,
    /// Bytes of shared memory that it declares: by metadata or descriptor, whichever has more.
    pub shared_bytes: u64,
    /// Bytes of memory that each thread has for itself: by metadata or descriptor, whichever has more.
    pub private_bytes: u64,
    /// Threads that a block of it may have, at least 1.
    pub max_threads_per_block: u64,
    /// The only size of block, along x, y and z, that it works with; no more than `max_threads_per_block` in all.
    pub required_block: Option<[u32; 3]>,
    /// The size of block that it was written for.
    pub block_hint: Option<[u32; 3]>,
    /// Whether it relies on a grid of whole blocks. HIP's launches always are.
    pub uniform_blocks: bool,
    /// The wave size it was built for: 32 or 64.
    pub wave_size: u64,
    /// Vector registers of a thread; 0 where the file does not say, as for the other registers.
    pub vector_registers: u64,
    /// Accumulation registers of a thread, on GPUs that have them apart.
    pub accumulation_registers: u64,
    /// Scalar registers of a wave.
    pub scalar_registers: u64,
    /// Vector registers that did not fit and went to memory.
    pub vector_spills: u64,
    /// Scalar registers that did not fit.
    pub scalar_spills: u64,
    /// Whether its stack grows as it runs, so that `private_bytes` is only a part.
    pub dynamic_stack: bool,
    /// Whether its blocks run on pairs of compute units (GFX10 and later), where the file says.
    pub workgroup_processor_mode: Option<bool>,
}

/// Where an argument of a kernel lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// Its offset in bytes from the first.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
}

impl KernelInfo {
    /// The arguments that the runtime passes by itself.
    pub fn hidden(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|argument| argument.kind.is_hidden())
    }
}
