//! NVIDIA's GPUs, by the compiler's intrinsics.

use super::Line;
use crate::math::{exp_by, ln_by_arithmetic};
use core::arch::nvptx as arch;
use core::intrinsics;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_idx(lanes: u32, value: u32, from: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot(lanes: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    fn lane_id() -> u32;
    #[link_name = "llvm.nvvm.ex2.approx.ftz.f"]
    fn ex2(x: f32) -> f32;
    #[link_name = "llvm.nvvm.lg2.approx.ftz.f"]
    fn lg2(x: f32) -> f32;
}

/// The lanes that take part: all.
const ALL: u32 = !0;

#[inline(always)]
pub(crate) fn thread_idx() -> [u32; 3] {
    // SAFETY: S25: special registers.
    unsafe { [arch::_thread_idx_x(), arch::_thread_idx_y(), arch::_thread_idx_z()] }
}

#[inline(always)]
pub(crate) fn block_idx() -> [u32; 3] {
    // SAFETY: S25: special registers.
    unsafe { [arch::_block_idx_x(), arch::_block_idx_y(), arch::_block_idx_z()] }
}

#[inline(always)]
pub(crate) fn block_dim() -> [u32; 3] {
    // SAFETY: S25: special registers.
    unsafe { [arch::_block_dim_x(), arch::_block_dim_y(), arch::_block_dim_z()] }
}

#[inline(always)]
pub(crate) fn grid_dim() -> [u32; 3] {
    // SAFETY: S25: special registers.
    unsafe { [arch::_grid_dim_x(), arch::_grid_dim_y(), arch::_grid_dim_z()] }
}

/// Threads of the grid.
#[inline(always)]
pub(crate) fn grid_threads() -> [u32; 3] {
    let (grid, block) = (grid_dim(), block_dim());
    [grid[0] * block[0], grid[1] * block[1], grid[2] * block[2]]
}

#[inline(always)]
pub(crate) fn shared() -> *mut u8 {
    intrinsics::gpu::gpu_launch_sized_workgroup_mem::<Line>().cast()
}

/// `bar.sync` orders the accesses of a block's threads, and the compiler takes it for an access to all memory.
#[inline(always)]
pub(crate) fn barrier(_site: u32) {
    // SAFETY: S25: it only waits.
    unsafe { arch::_syncthreads() }
}

pub(crate) fn abort() -> ! {
    intrinsics::abort()
}

#[inline(always)]
pub(crate) fn wave_size() -> u32 {
    32
}

#[inline(always)]
pub(crate) fn lane() -> u32 {
    // SAFETY: S25: a special register.
    unsafe { lane_id() }
}

#[inline(always)]
pub(crate) fn shuffle(value: u32, from: u32, _site: u32) -> u32 {
    // SAFETY: S25: any number is a lane, modulo the wave.
    unsafe { shfl_idx(ALL, value, from, 31) }
}

#[inline(always)]
pub(crate) fn ballot(predicate: bool, _site: u32) -> u64 {
    // SAFETY: S25: it only counts.
    u64::from(unsafe { vote_ballot(ALL, predicate) })
}

#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // SAFETY: S25: arithmetic.
    exp_by(|x| unsafe { ex2(x) }, x)
}

#[inline(always)]
pub(crate) fn ln(x: f32) -> f32 {
    ln_by_arithmetic(x)
}

#[inline(always)]
pub(crate) fn fast_exp(x: f32) -> f32 {
    // SAFETY: S25: arithmetic.
    unsafe { ex2(x * core::f32::consts::LOG2_E) }
}

#[inline(always)]
pub(crate) fn fast_ln(x: f32) -> f32 {
    // SAFETY: S25: arithmetic.
    unsafe { lg2(x) * core::f32::consts::LN_2 }
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
