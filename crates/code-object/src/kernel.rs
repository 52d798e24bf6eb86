//! Properties of one kernel.

use crate::Argument;

/// What a code object says about one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelInfo {
    /// Its name.
    pub name: String,
    /// The symbol of its descriptor: by convention its name and `.kd`.
    pub symbol: String,
    /// All arguments in ascending order, without overlap, including those that the runtime passes.
    pub arguments: Vec<Argument>,
    /// The arguments that a launch passes.
    pub params: Vec<Param>,
    /// Size of all arguments in bytes, including the runtime's. Every argument lies inside.
    pub kernarg_bytes: u64,
    /// The alignment of its arguments in bytes, a power of two.
    pub kernarg_align: u64,
    /// Bytes of shared memory that it declares; the larger of metadata and descriptor.
    pub shared_bytes: u64,
    /// Bytes of private memory of each thread; the larger of metadata and descriptor.
    pub private_bytes: u64,
    /// The maximum number of threads of a block, at least 1.
    pub max_threads_per_block: u64,
    /// The only block size, along x, y and z, that it supports; its product is at most
    /// `max_threads_per_block`.
    pub required_block: Option<[u32; 3]>,
    /// The block size that it was written for.
    pub block_hint: Option<[u32; 3]>,
    /// Whether it relies on a grid of whole blocks, which HIP's launches always have.
    pub uniform_blocks: bool,
    /// The wave size that it was built for: 32 or 64.
    pub wave_size: u64,
    /// Vector registers of a thread; 0 if the file does not say. The same holds for the other register
    /// counts.
    pub vector_registers: u64,
    /// Accumulation registers of a thread, on GPUs where they are separate.
    pub accumulation_registers: u64,
    /// Scalar registers of a wave.
    pub scalar_registers: u64,
    /// Vector registers spilled to memory.
    pub vector_spills: u64,
    /// Scalar registers spilled.
    pub scalar_spills: u64,
    /// Whether its stack grows at run time, so that `private_bytes` is only a part of it.
    pub dynamic_stack: bool,
    /// Whether its blocks run on pairs of compute units (GFX10 and later), if the file says.
    pub workgroup_processor_mode: Option<bool>,
}

/// The location of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// Its offset in bytes from the start of the arguments.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
}

impl KernelInfo {
    /// The arguments that the runtime passes implicitly.
    pub fn hidden(&self) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(|argument| argument.kind.is_hidden())
    }
}
