//! Launches, their limits, and queries of functions.
#![allow(non_snake_case, reason = "HIP's names")]

use super::give;
use super::modules::{Function, function_of};
use super::properties::{BLOCKS_PER_PROCESSOR, MAX_GRID, THREADS_PER_PROCESSOR, processors};
use super::streams::stream_of;
use crate::code::Kernel;
use crate::context::{Outcome, status};
use crate::run::{Arguments, Launch, MAX_BLOCK, MAX_SHARED, Shape};
use crate::work::Work;
use hip_sys::hip::{hipError_t, hipFuncAttribute, hipFunction_attribute, hipFunction_t, hipStream_t};
use hip_sys::{HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_END};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;

/// Most threads that a block of the kernel may have.
fn max_threads(kernel: &Kernel) -> u32 {
    if kernel.max_threads == 0 { MAX_BLOCK } else { kernel.max_threads.min(MAX_BLOCK) }
}

/// Checks a launch against the limits.
fn check_shape(kernel: &Kernel, grid: [u32; 3], block: [u32; 3], shared_bytes: u32) -> Outcome {
    let grid_fits = grid.iter().zip(MAX_GRID).all(|(n, max)| (1..=max).contains(n));
    let block_fits = block.iter().all(|n| (1..=MAX_BLOCK).contains(n));
    if !grid_fits || !block_fits || shared_bytes > MAX_SHARED {
        return Err(VALUE);
    }
    // Neither product overflows within those limits.
    let threads = block.iter().product::<u32>();
    let across = u64::from(grid[0]) * u64::from(block[0]);
    if threads <= max_threads(kernel) && across < 1 << 32 { Ok(()) } else { Err(VALUE) }
}

/// Reads the `extra` list: the address and the size of a packed buffer, in either order.
unsafe fn packed_arguments(kernel: &Kernel, extra: *const *mut c_void) -> Result<Arguments, hipError_t> {
    let (mut address, mut size) = (None, None);
    // SAFETY: S11: the list ends with HIP_LAUNCH_PARAM_END; a list without it is read up to the second pair, which is
    // as far as a whole one goes.
    unsafe {
        let mut entry = extra;
        for _ in 0..2 {
            match *entry {
                HIP_LAUNCH_PARAM_BUFFER_POINTER => address = Some((*entry.add(1)).cast::<u8>()),
                HIP_LAUNCH_PARAM_BUFFER_SIZE => size = Some((*entry.add(1)).cast::<usize>()),
                _ => return Err(VALUE),
            }
            entry = entry.add(2);
        }
        let (Some(address), Some(size)) = (address, size) else { return Err(VALUE) };
        if *entry != HIP_LAUNCH_PARAM_END || address.is_null() || size.is_null() {
            return Err(VALUE);
        }
        if *size < kernel.kernarg_size as usize {
            return Err(VALUE);
        }
        let packed = std::slice::from_raw_parts(address, kernel.kernarg_size as usize);
        Ok(Arguments::from_packed(kernel, packed))
    }
}

/// Reads the arguments in whichever of the two forms was used.
unsafe fn arguments(
    kernel: &Kernel,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Result<Arguments, hipError_t> {
    match (parameters.is_null(), extra.is_null()) {
        (false, false) => Err(VALUE),
        // SAFETY: S11: the caller's list.
        (true, false) => unsafe { packed_arguments(kernel, extra) },
        (true, true) if kernel.sizes.is_empty() => Ok(Arguments::from_packed(kernel, &[])),
        (true, true) => Err(VALUE),
        (false, true) => {
            // SAFETY: S11: as many pointers as the kernel declares arguments, each to a value of its size.
            unsafe {
                let values = std::slice::from_raw_parts(parameters, kernel.sizes.len());
                if values.iter().any(|value| value.is_null()) {
                    return Err(VALUE);
                }
                Ok(Arguments::from_values(kernel, values))
            }
        }
    }
}

/// Submits a launch. The arguments come in one of two forms.
unsafe fn submit(
    function: hipFunction_t,
    (grid, block, shared_bytes): ([u32; 3], [u32; 3], u32),
    stream: hipStream_t,
    (parameters, extra): (*mut *mut c_void, *mut *mut c_void),
    cooperative: bool,
) -> Outcome {
    let function = function_of(function)?;
    let stream = stream_of(stream)?;
    check_shape(function.kernel, grid, block, shared_bytes)?;
    if function.device != stream.device {
        return Err(hipError_t::hipErrorInvalidHandle);
    }
    if cooperative {
        check_fits_at_once(&function, grid, block, shared_bytes)?;
    }
    let device = stream.device();
    device.healthy()?;
    // SAFETY: S11: the caller's arguments.
    let arguments = unsafe { arguments(function.kernel, parameters, extra) }?;
    let (wave, urgency) = (device.wave, -stream.priority);
    let shape = Shape { grid, block, shared_bytes, wave, urgency, cooperative };
    let launch = Arc::new(Launch::new(function.kernel, arguments, shape));
    stream.submit(Work::Launch(launch), Vec::new()).map(drop)
}

/// Checks that all blocks of a grid fit onto the device at once.
fn check_fits_at_once(function: &Function, grid: [u32; 3], block: [u32; 3], shared_bytes: u32) -> Outcome {
    let threads = block.iter().product::<u32>() as c_int;
    let most = resident(function, threads, shared_bytes as usize)? * processors();
    let blocks = grid.iter().map(|n| u64::from(*n)).product::<u64>();
    if blocks <= most as u64 { Ok(()) } else { Err(hipError_t::hipErrorCooperativeLaunchTooLarge) }
}

pub(super) unsafe extern "C" fn hipModuleLaunchKernel(
    function: hipFunction_t,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared_bytes: c_uint,
    stream: hipStream_t,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> hipError_t {
    let shape = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z], shared_bytes);
    // SAFETY: S11: the caller's arguments.
    status(unsafe { submit(function, shape, stream, (parameters, extra), false) })
}

pub(super) unsafe extern "C" fn hipModuleLaunchCooperativeKernel(
    function: hipFunction_t,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared_bytes: c_uint,
    stream: hipStream_t,
    parameters: *mut *mut c_void,
) -> hipError_t {
    let shape = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z], shared_bytes);
    // SAFETY: S11: the caller's arguments.
    status(unsafe { submit(function, shape, stream, (parameters, null_mut()), true) })
}

pub(super) unsafe extern "C" fn hipFuncGetAttribute(
    out: *mut c_int,
    attribute: hipFunction_attribute,
    function: hipFunction_t,
) -> hipError_t {
    use hipFunction_attribute as A;
    status(function_of(function).and_then(|function| {
        let value = match attribute {
            A::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => max_threads(function.kernel) as c_int,
            A::HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => MAX_SHARED as c_int,
            A::HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => -1,
            // Only the compiler knows static shared, constant and local memory, and registers.
            A::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
            | A::HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES
            | A::HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
            | A::HIP_FUNC_ATTRIBUTE_NUM_REGS
            | A::HIP_FUNC_ATTRIBUTE_PTX_VERSION
            | A::HIP_FUNC_ATTRIBUTE_BINARY_VERSION
            | A::HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA => 0,
            _ => return Err(VALUE),
        };
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, value) }
    }))
}

/// HIP expects the address of a host function here. Our handles are module functions, which HIP accepts too.
pub(super) unsafe extern "C" fn hipFuncSetAttribute(
    function: *const c_void,
    attribute: hipFuncAttribute,
    value: c_int,
) -> hipError_t {
    status((|| {
        let unknown = hipError_t::hipErrorInvalidDeviceFunction;
        function_of(function.cast_mut().cast()).map_err(|_| unknown)?;
        let fits = match attribute {
            hipFuncAttribute::hipFuncAttributeMaxDynamicSharedMemorySize => 0..=MAX_SHARED as c_int,
            hipFuncAttribute::hipFuncAttributePreferredSharedMemoryCarveout => -1..=100,
            _ => return Err(VALUE),
        };
        if fits.contains(&value) { Ok(()) } else { Err(VALUE) }
    })())
}

/// Number of blocks of that size that one multiprocessor holds.
fn resident(function: &Function, block: c_int, shared_bytes: usize) -> Result<c_int, hipError_t> {
    if block <= 0 || block > max_threads(function.kernel) as c_int {
        return Err(VALUE);
    }
    let by_threads = THREADS_PER_PROCESSOR / block;
    let by_shared = match shared_bytes {
        0 => BLOCKS_PER_PROCESSOR,
        bytes => (MAX_SHARED as usize / bytes) as c_int,
    };
    Ok(by_threads.min(by_shared).min(BLOCKS_PER_PROCESSOR))
}

pub(super) unsafe extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    out: *mut c_int,
    function: hipFunction_t,
    block: c_int,
    shared_bytes: usize,
) -> hipError_t {
    status(function_of(function).and_then(|function| {
        // SAFETY: S11: the caller's output pointer.
        unsafe { give(out, resident(&function, block, shared_bytes)?) }
    }))
}

pub(super) unsafe extern "C" fn hipModuleOccupancyMaxPotentialBlockSize(
    grid: *mut c_int,
    block: *mut c_int,
    function: hipFunction_t,
    shared_bytes: usize,
    limit: c_int,
) -> hipError_t {
    status(function_of(function).and_then(|function| {
        if grid.is_null() || block.is_null() || limit < 0 {
            return Err(VALUE);
        }
        let most = max_threads(function.kernel) as c_int;
        let size = if limit == 0 { most } else { limit.min(most) };
        let blocks = resident(&function, size, shared_bytes)? * processors();
        // SAFETY: S11: the caller's output pointers.
        unsafe { give(grid, blocks).and_then(|()| give(block, size)) }
    }))
}

/// Offset and size of an argument; an error past the last one. This query is an extension, so it leaves HIP's
/// last error unchanged.
pub(crate) unsafe extern "C" fn func_param_info(
    function: hipFunction_t,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> hipError_t {
    let answer = function_of(function).and_then(|function| {
        let kernel = function.kernel;
        let (Some(at), Some(bytes)) = (kernel.offsets.get(index), kernel.sizes.get(index)) else {
            return Err(VALUE);
        };
        // SAFETY: S11: the caller's output pointers.
        unsafe { give(offset, *at as usize).and_then(|()| give(size, *bytes as usize)) }
    });
    answer.err().unwrap_or(hipError_t::hipSuccess)
}
