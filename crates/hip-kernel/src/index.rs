//! Where a thread is in its block, and a block in its grid; the barrier of a block.

use crate::backend;
use core::panic::Location;

/// A count or an index along x, y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim3 {
    /// Along x.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

#[inline(always)]
fn dim3([x, y, z]: [u32; 3]) -> Dim3 {
    Dim3 { x, y, z }
}

/// The thread's index in its block.
#[doc(alias = "threadIdx")]
#[inline(always)]
pub fn thread_idx() -> Dim3 {
    dim3(backend::thread_idx())
}

/// The block's index in the grid.
#[doc(alias = "blockIdx")]
#[inline(always)]
pub fn block_idx() -> Dim3 {
    dim3(backend::block_idx())
}

/// Threads in a block.
#[doc(alias = "blockDim")]
#[inline(always)]
pub fn block_dim() -> Dim3 {
    dim3(backend::block_dim())
}

/// Blocks in the grid. On AMD's GPUs this takes a division, so call it before a loop.
#[doc(alias = "gridDim")]
#[inline(always)]
pub fn grid_dim() -> Dim3 {
    dim3(backend::grid_dim())
}

/// The thread's index in the grid along x. In a launch of one dimension no other thread has the same.
#[inline(always)]
pub fn global_idx() -> usize {
    // hip-safe refuses a launch with more threads along an axis than a u32 counts.
    (block_idx().x * block_dim().x + thread_idx().x) as usize
}

/// Threads of the grid along x. Call it before a loop: after a store the compiler reads the sizes again.
#[inline(always)]
pub fn grid_threads() -> usize {
    backend::grid_threads()[0] as usize
}

/// Waits until every thread of the block is here. What a thread wrote before, to shared or global memory, the others see after it.
///
/// Every thread of the block has to come, or to have returned. If some wait at another barrier, hip-host fails the launch, and a GPU may
/// hang.
#[doc(alias = "__syncthreads")]
#[inline(always)]
#[track_caller]
pub fn barrier() {
    backend::barrier(site());
}

/// The line of the caller's caller.
#[inline(always)]
#[track_caller]
pub(crate) fn site() -> u32 {
    Location::caller().line()
}
