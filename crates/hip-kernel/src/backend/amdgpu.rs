//! AMD's GPUs, by the compiler's intrinsics.
//!
//! `cargo xtask build-rust-kernels` sets `hip_kernel_gfx` to the generation of the chip, because the compiler does not tell it to the code.

use super::Line;
use core::arch::amdgpu as arch;
use core::intrinsics;
use core::sync::atomic::{Ordering, compiler_fence};

#[cfg(not(any(hip_kernel_gfx = "9", hip_kernel_gfx = "10", hip_kernel_gfx = "11", hip_kernel_gfx = "12")))]
compile_error!(
    "hip-kernel has to know the generation of the chip: build kernels by `cargo xtask build-rust-kernels`, \
     or pass --cfg hip_kernel_gfx=\"9\" (10, 11, 12) and, from 10 on, -Ctarget-feature=+cumode"
);

#[inline(always)]
pub(crate) fn thread_idx() -> [u32; 3] {
    [arch::workitem_id_x(), arch::workitem_id_y(), arch::workitem_id_z()]
}

#[inline(always)]
pub(crate) fn block_idx() -> [u32; 3] {
    [arch::workgroup_id_x(), arch::workgroup_id_y(), arch::workgroup_id_z()]
}

/// The packet that started the launch (`hsa_kernel_dispatch_packet_t`): three u16 at byte 4 are the block, three u32 at byte 12 the
/// threads of the grid.
#[inline(always)]
fn packet() -> *const u8 {
    intrinsics::gpu::amdgpu_dispatch_ptr().cast()
}

#[inline(always)]
pub(crate) fn block_dim() -> [u32; 3] {
    // SAFETY: S25: the packet is the launch's, which lives as long as the kernel runs.
    let [x, y, z] = unsafe { packet().add(4).cast::<[u16; 3]>().read() };
    [x.into(), y.into(), z.into()]
}

/// Threads of the grid.
#[inline(always)]
pub(crate) fn grid_threads() -> [u32; 3] {
    // SAFETY: S25: as in `block_dim`.
    unsafe { packet().add(12).cast::<[u32; 3]>().read() }
}

#[inline(always)]
pub(crate) fn grid_dim() -> [u32; 3] {
    let (threads, block) = (grid_threads(), block_dim());
    // HIP launches whole blocks, so these are exact.
    let blocks = |axis: usize| {
        // SAFETY: S25: a block has a thread along each axis.
        unsafe { core::hint::assert_unchecked(block[axis] != 0) };
        threads[axis] / block[axis]
    };
    [blocks(0), blocks(1), blocks(2)]
}

#[inline(always)]
pub(crate) fn shared() -> *mut u8 {
    intrinsics::gpu::gpu_launch_sized_workgroup_mem::<Line>().cast()
}

/// Waits until what this thread read and wrote is ordered before what other threads of its block do after the barrier.
///
/// These are the waits that AMD's clang emits before `s_barrier` for HIP's `__syncthreads`: a release at the scope of the block. Rust's
/// `fence` has the scope of the system alone. On the 9th generation that would write back and drop caches (`buffer_wbl2`, `buffer_inv`), so
/// the wait is given by its number; on the 10th and 11th a release of the system is the same waits and nothing else.
#[inline(always)]
fn release_to_block() {
    #[cfg(hip_kernel_gfx = "9")]
    {
        unsafe extern "C" {
            #[link_name = "llvm.amdgcn.s.waitcnt"]
            fn s_waitcnt(counters: i32);
        }
        /// `lgkmcnt(0)`, with the other counters at their maxima. Waves of a block are on one compute unit, whose accesses to memory pass
        /// its cache in order, so that LDS alone needs a wait.
        const LDS: i32 = 0xc07f;
        // SAFETY: S25: it only waits.
        unsafe { s_waitcnt(LDS) };
    }
    #[cfg(any(hip_kernel_gfx = "10", hip_kernel_gfx = "11"))]
    core::sync::atomic::fence(Ordering::Release);
    #[cfg(hip_kernel_gfx = "12")]
    {
        unsafe extern "C" {
            #[link_name = "llvm.amdgcn.s.wait.storecnt"]
            fn s_wait_storecnt(left: i16);
            #[link_name = "llvm.amdgcn.s.wait.loadcnt"]
            fn s_wait_loadcnt(left: i16);
            #[link_name = "llvm.amdgcn.s.wait.dscnt"]
            fn s_wait_dscnt(left: i16);
        }
        // SAFETY: S25: they only wait.
        unsafe {
            s_wait_storecnt(0);
            s_wait_loadcnt(0);
            s_wait_dscnt(0);
        }
    }
}

#[inline(always)]
pub(crate) fn barrier(_site: u32) {
    // The compiler must not move accesses over the barrier. `s_barrier` alone does not forbid it: it is declared to access no memory.
    compiler_fence(Ordering::SeqCst);
    release_to_block();
    arch::s_barrier();
    // Nothing to acquire: the build sets the mode in which a block is on one compute unit (the only one before the 10th generation,
    // `cumode` since), and its waves share the first cache.
    compiler_fence(Ordering::SeqCst);
}

pub(crate) fn abort() -> ! {
    intrinsics::abort()
}

#[inline(always)]
pub(crate) fn wave_size() -> u32 {
    if cfg!(hip_kernel_gfx = "9") { 64 } else { 32 }
}

#[inline(always)]
pub(crate) fn lane() -> u32 {
    let low = arch::mbcnt_lo(!0, 0);
    if wave_size() == 64 { arch::mbcnt_hi(!0, low) } else { low }
}

#[inline(always)]
pub(crate) fn shuffle(value: u32, from: u32, _site: u32) -> u32 {
    // SAFETY: S25: any number is a lane, modulo the wave; of an inactive lane it returns some number.
    unsafe { arch::ds_bpermute(from * 4, value) }
}

#[inline(always)]
pub(crate) fn ballot(predicate: bool, _site: u32) -> u64 {
    arch::ballot(predicate)
}

#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    intrinsics::expf32(x)
}

#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    intrinsics::logf32(x)
}

unsafe extern "C" {
    #[link_name = "llvm.amdgcn.exp2.f32"]
    fn exp2_instruction(x: f32) -> f32;
    #[link_name = "llvm.amdgcn.log.f32"]
    fn log2_instruction(x: f32) -> f32;
}

#[inline(always)]
pub(crate) fn fast_exp(x: f32) -> f32 {
    // SAFETY: S25: arithmetic.
    unsafe { exp2_instruction(x * core::f32::consts::LOG2_E) }
}

#[inline(always)]
pub(crate) fn fast_ln(x: f32) -> f32 {
    // SAFETY: S25: arithmetic.
    unsafe { log2_instruction(x) * core::f32::consts::LN_2 }
}

#[inline(always)]
pub(crate) fn sqrt(x: f32) -> f32 {
    intrinsics::sqrtf32(x)
}

#[inline(always)]
pub(crate) fn fma(a: f32, b: f32, c: f32) -> f32 {
    intrinsics::fmaf32(a, b, c)
}

#[inline(always)]
pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    f16::from_bits(bits) as f32
}

#[inline(always)]
pub(crate) fn f32_to_f16(value: f32) -> u16 {
    (value as f16).to_bits()
}
