//! What differs between the targets: one file each, with the same functions.
//!
//! `site` is the source location of the caller: hip-host uses it to see which threads wait at the same call. GPUs ignore it.

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

/// What a panic does on a GPU. The build chooses: the host is told the location (`hip_kernel_panic = "location"`) or nothing, or the compiler
/// assumes that there are no panics and leaves out what would find them.
#[cfg(any(target_arch = "amdgpu", target_arch = "nvptx64"))]
#[panic_handler]
fn panic(_info: &core::panic::PanicInfo<'_>) -> ! {
    #[cfg(hip_kernel_panic = "never")]
    // SAFETY: S25: whoever built the code so promised that no kernel panics.
    unsafe {
        core::hint::unreachable_unchecked()
    }
    #[cfg(hip_kernel_panic = "location")]
    if let Some(at) = _info.location() {
        crate::failure::tell(at);
    }
    #[cfg(not(hip_kernel_panic = "never"))]
    abort()
}
