//! Where a thread is in its block, and a block in its grid; the barrier of a block.

use crate::backend;
#[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
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

/// The source location of the caller's caller, as hip-host takes it: the line in the low bits, and above it a hash of file, line and column.
#[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
#[inline]
#[track_caller]
pub(crate) fn site() -> u32 {
    let at = Location::caller();
    site_of(at.file(), at.line(), at.column())
}

/// GPUs need no location.
#[cfg(any(target_arch = "amdgpu", target_arch = "nvptx64"))]
#[inline(always)]
pub(crate) fn site() -> u32 {
    0
}

#[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
fn site_of(file: &str, line: u32, column: u32) -> u32 {
    use hip_host::abi::{LINE_BITS, line_number};
    let mut hash = u64::from(line) << 32 | u64::from(column);
    for chunk in file.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        // A step of Fibonacci hashing.
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 32;
    }
    (hash as u32) << LINE_BITS | line_number(line)
}

#[cfg(test)]
mod tests {
    use super::site_of;
    use hip_host::abi::line_number;

    #[test]
    fn a_site_is_more_than_its_line() {
        let here = site_of("src/sum.rs", 7, 5);
        assert_eq!((here, line_number(here)), (site_of("src/sum.rs", 7, 5), 7));
        assert_ne!(here, site_of("src/max.rs", 7, 5));
        assert_ne!(here, site_of("src/sum.rs", 7, 20));
        assert_ne!(here, site_of("src/sum.rs", 8, 5));
    }
}
