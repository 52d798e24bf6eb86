//! What differs between the targets: one file each, with the same functions.
//!
//! `site` is the place of the caller: hip-host uses it to see which threads wait at the same one. GPUs ignore it.

#[cfg(target_arch = "amdgpu")]
mod amdgpu;
#[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
pub(crate) mod cpu;
#[cfg(target_arch = "nvptx64")]
mod nvptx;

#[cfg(target_arch = "amdgpu")]
pub(crate) use amdgpu::*;
#[cfg(not(any(target_arch = "amdgpu", target_arch = "nvptx64")))]
pub(crate) use cpu::*;
#[cfg(target_arch = "nvptx64")]
pub(crate) use nvptx::*;

/// Where threads of a block share memory: aligned as the widest load needs it.
#[cfg(any(target_arch = "amdgpu", target_arch = "nvptx64"))]
#[repr(C, align(16))]
pub(crate) struct Line([u8; 16]);
