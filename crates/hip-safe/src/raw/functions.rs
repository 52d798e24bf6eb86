//! How many blocks of a kernel fit, what it may use, and launches whose blocks wait for each other.

use super::{Result, call, status};
use hip_sys::hip::*;
use hip_sys::{Platform, Unsupported};
use std::ffi::{c_int, c_void};

/// Blocks of that size that one multiprocessor holds at a time.
pub(crate) unsafe fn active_blocks(
    p: &Platform,
    function: hipFunction_t,
    block: c_int,
    shared_bytes: usize,
) -> Result<c_int> {
    let mut blocks = 0;
    // SAFETY: S1, S3: the function is live, its device current, and so is the out-pointer.
    call!(p, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function, block, shared_bytes))?;
    Ok(blocks)
}

/// The grid and the block that use a device best.
pub(crate) unsafe fn potential_block(
    p: &Platform,
    function: hipFunction_t,
    shared_bytes: usize,
) -> Result<(c_int, c_int)> {
    let (mut grid, mut block) = (0, 0);
    // SAFETY: S1, S3: the function is live, its device current, and both out-pointers are live; 0: no limit of the block.
    call!(p, hipModuleOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, shared_bytes, 0))?;
    Ok((grid, block))
}

pub(crate) unsafe fn set_attribute(
    p: &Platform,
    function: hipFunction_t,
    attribute: hipFuncAttribute,
    value: c_int,
) -> Result<()> {
    // SAFETY: S1, S3: the function is live and its device current.
    call!(p, hipFuncSetAttribute(function.cast::<c_void>(), attribute, value))
}

/// The function for [`launch_cooperative`].
pub(crate) fn cooperative_launcher(
    p: &Platform,
) -> std::result::Result<hipModuleLaunchCooperativeKernel_fn, Unsupported> {
    p.hip().hipModuleLaunchCooperativeKernel.get()
}

pub(crate) unsafe fn launch_cooperative(
    p: &Platform,
    launcher: hipModuleLaunchCooperativeKernel_fn,
    function: hipFunction_t,
    [[gx, gy, gz], [bx, by, bz]]: [[u32; 3]; 2],
    shared_bytes: u32,
    stream: hipStream_t,
    arguments: *mut *mut c_void,
) -> Result<()> {
    // SAFETY: S1, S9: function and stream are live, and `arguments` has as many entries as the kernel declares.
    let code = unsafe { launcher(function, gx, gy, gz, bx, by, bz, shared_bytes, stream, arguments) };
    status(p, "hipModuleLaunchCooperativeKernel", code)
}
