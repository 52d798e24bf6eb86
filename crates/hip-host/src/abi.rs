//! The C interface between compiled kernels and this runtime: `include/hiphost/abi.h` in Rust, with the same
//! names without their prefix and the same version number.

use std::ffi::{c_char, c_int, c_void};

/// The ABI version, which the kernel's headers and this runtime must agree on.
pub const ABI: u32 = 2;

/// [`Kernel::flags`]: the kernel uses barriers or warp operations and runs through [`Kernel::threads`].
pub const KERNEL_BARRIERS: u32 = 1;

/// [`Kernel::flags`]: when the launch fails, the stack of a thread that has not finished stays as it is, because other OS
/// threads may use what lies on it. Rust kernels have this flag; C++ kernels do not.
pub const KERNEL_KEEPS_STACKS: u32 = 2;

/// Bits of a `line` that hold the line's number.
///
/// C++ kernels leave the others zero. Rust kernels put a hash of file, line and column there, so that two calls on the
/// same line of different files differ.
pub const LINE_BITS: u32 = 20;

/// The line's number in a `line` that a kernel passed.
pub const fn line_number(line: u32) -> u32 {
    line & ((1 << LINE_BITS) - 1)
}

/// The launch and block that a thread belongs to, as the kernel sees them.
#[repr(C)]
#[derive(Debug)]
pub struct Block {
    /// Blocks in the grid: x, y, z.
    pub grid: [u32; 3],
    /// Threads in the block: x, y, z.
    pub block: [u32; 3],
    /// This block's index in the grid.
    pub index: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
    /// Dynamic shared memory, aligned to 256 bytes.
    pub shared: *mut c_void,
    /// The runtime's own pointer; kernels do not use it.
    pub runner: *mut c_void,
    /// 1: all blocks of the grid run at once, and `grid_sync` works.
    pub cooperative: u32,
    /// Zero.
    pub reserved: u32,
}

/// One thread of a block.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Thread {
    /// `threadIdx.x`.
    pub x: u32,
    /// `threadIdx.y`.
    pub y: u32,
    /// `threadIdx.z`.
    pub z: u32,
    /// Number in the block: x fastest, then y, then z. `u32::MAX` before the first.
    pub linear: u32,
}

/// What a lane sees after a warp operation.
#[repr(C)]
#[derive(Debug)]
pub struct WarpView {
    /// A 16-byte slot for each lane of the warp.
    pub slots: *const u8,
    /// The lanes that took part, as a bit mask.
    pub mask: u64,
    /// The participating lanes whose predicate was true.
    pub predicates: u64,
    /// The caller's lane.
    pub lane: u32,
    /// Zero.
    pub reserved: u32,
}

/// The functions that a kernel calls.
#[repr(C)]
pub struct Runtime {
    /// [`ABI`].
    pub abi: u32,
    /// Zero.
    pub reserved: u32,
    /// Ends the current thread, unless its number is `u32::MAX`, and begins the next one; returns 0 when no
    /// thread is left.
    pub next_thread: unsafe extern "C" fn(*const Block, *mut Thread) -> c_int,
    /// Returns when every live thread of the block has called it. The low half counts the true predicates,
    /// the high half the threads. `line` is a number as [`LINE_BITS`] describes it.
    pub barrier: unsafe extern "C" fn(*const Block, line: u32, predicate: u32) -> u64,
    /// Returns when the active lanes of the warp have called it from the same line.
    pub warp_sync: unsafe extern "C" fn(
        *const Block,
        line: u32,
        value: *const c_void,
        size: u32,
        predicate: u32,
        view: *mut WarpView,
    ),
    /// Fails the launch with the code. Does not return. `thread` is x, y, z.
    pub fail: unsafe extern "C" fn(
        *const Block,
        thread: *const u32,
        code: u32,
        what: *const c_char,
        file: *const c_char,
        line: u32,
    ),
    /// Writes text to standard output in one piece.
    pub print: unsafe extern "C" fn(*const Block, text: *const c_char, length: u32),
    /// Returns when every live thread of every block of the grid has called it; returns 0 at once if the
    /// launch is not cooperative.
    pub grid_sync: unsafe extern "C" fn(*const Block, line: u32) -> u32,
    /// Nanoseconds of a monotonic clock.
    pub clock: unsafe extern "C" fn() -> u64,
}

/// Runs one block, or threads of one block. The second argument points to the kernel's arguments, in order.
pub type Entry = unsafe extern "C" fn(*const Block, *const *mut c_void);

/// A compiled kernel.
#[repr(C)]
pub struct Kernel {
    /// Its name, ended by a zero byte.
    pub name: *const c_char,
    /// Number of arguments.
    pub nargs: u32,
    /// [`KERNEL_BARRIERS`] and [`KERNEL_KEEPS_STACKS`], or 0.
    pub flags: u32,
    /// Bytes of each argument.
    pub arg_size: *const u32,
    /// Offset of each argument in the packed buffer.
    pub arg_offset: *const u32,
    /// Bytes of the packed buffer.
    pub kernarg_size: u32,
    /// Most threads that a block may have; 0 for the device's limit.
    pub max_threads: u32,
    /// Runs a block as a loop over its threads; for kernels without barriers.
    pub plain: Option<Entry>,
    /// Runs the threads that `next_thread` returns, on a fiber.
    pub threads: Option<Entry>,
    /// The next kernel of the module, or null.
    pub next: *const Kernel,
}

/// A variable that the host can look up by name.
#[repr(C)]
pub struct Global {
    /// Its name, ended by a zero byte.
    pub name: *const c_char,
    /// Its address.
    pub address: *mut c_void,
    /// Its size in bytes.
    pub size: u64,
    /// The next variable of the module, or null.
    pub next: *const Global,
}

/// A compiled module.
#[repr(C)]
pub struct Module {
    /// [`ABI`].
    pub abi: u32,
    /// 32, 64, or 0 if it serves both wave sizes.
    pub wave_size: u32,
    /// Its name, ended by a zero byte.
    pub name: *const c_char,
    /// The first kernel, or null.
    pub kernels: *const Kernel,
    /// The first variable, or null.
    pub globals: *const Global,
}

/// What `HIPHOST_MODULE` defines: takes the runtime and returns the module, or null if the versions differ.
pub type ModuleEntry = unsafe extern "C" fn(*const Runtime) -> *const Module;

// The sizes that the C declarations have on 64-bit machines.
const _: () = {
    assert!(size_of::<Block>() == 64);
    assert!(size_of::<Thread>() == 16);
    assert!(size_of::<WarpView>() == 32);
    assert!(size_of::<Runtime>() == 64);
    assert!(size_of::<Kernel>() == 64);
    assert!(size_of::<Global>() == 32);
    assert!(size_of::<Module>() == 32);
};
