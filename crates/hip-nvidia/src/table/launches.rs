//! Launches, and queries of functions.
#![allow(non_snake_case, reason = "HIP's names")]

use super::{check_not_null, give};
use crate::context::{Outcome, check, driver, status};
use crate::driver::{Function, Stream};
use crate::handles::{function_alone, function_of, stream_of};
use hip_sys::hip::{hipError_t, hipFuncAttribute, hipFunction_attribute, hipFunction_t, hipStream_t};
use hip_sys::{HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_END};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

const VALUE: hipError_t = hipError_t::hipErrorInvalidValue;
/// Largest grid, in blocks. CUDA's limit in y and z is one less than HIP's.
const MAX_GRID: [c_uint; 3] = [c_int::MAX as c_uint, 65_535, 65_535];
/// Most threads of a block.
const MAX_BLOCK: c_uint = 1024;

/// The checked function and stream of a launch.
struct Prepared {
    function: Function,
    stream: Stream,
}

fn prepare(
    function: hipFunction_t,
    stream: hipStream_t,
    grid: [c_uint; 3],
    block: [c_uint; 3],
) -> Result<Prepared, hipError_t> {
    // The stream's context has to be current, and the function has to belong to the same device.
    let function = function_alone(function)?;
    let (stream, device) = stream_of(stream)?;
    let grid_fits = grid.iter().zip(MAX_GRID).all(|(n, max)| (1..=max).contains(n));
    let block_fits = block.iter().all(|n| (1..=MAX_BLOCK).contains(n));
    let across = u64::from(grid[0]) * u64::from(block[0]);
    if !grid_fits || !block_fits || across >= 1 << 32 || block.iter().product::<c_uint>() > MAX_BLOCK {
        return Err(VALUE);
    }
    if function.device.ordinal != device.ordinal {
        return Err(hipError_t::hipErrorInvalidHandle);
    }
    Ok(Prepared { function: function.raw, stream })
}

/// The `extra` list with CUDA's end marker, whose value differs from HIP's.
///
/// # Safety
/// The list ends with `HIP_LAUNCH_PARAM_END`. A list without it is read up to the second pair, which is as
/// far as a complete one goes.
unsafe fn with_cudas_end(extra: *mut *mut c_void) -> Result<[*mut c_void; 5], hipError_t> {
    let mut list = [null_mut(); 5];
    // SAFETY: S11: the caller vouches for the list.
    unsafe {
        for pair in 0..2 {
            let key = *extra.add(2 * pair);
            if ![HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE].contains(&key) {
                return Err(VALUE);
            }
            list[2 * pair] = key;
            list[2 * pair + 1] = *extra.add(2 * pair + 1);
        }
        if *extra.add(4) != HIP_LAUNCH_PARAM_END
            || list[0] == list[2]
            || list[1].is_null()
            || list[3].is_null()
        {
            return Err(VALUE);
        }
    }
    Ok(list)
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
    status((|| {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let Prepared { function, stream } = prepare(function, stream, grid, block)?;
        if !parameters.is_null() && !extra.is_null() {
            return Err(VALUE);
        }
        let mut list;
        let extra = if extra.is_null() {
            extra
        } else {
            // SAFETY: S11: the caller's list.
            list = unsafe { with_cudas_end(extra) }?;
            list.as_mut_ptr()
        };
        // SAFETY: S9, S11: a live function and stream; the caller guarantees the arguments, which the driver
        // copies
        check(unsafe {
            (driver().cuLaunchKernel)(
                function,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                shared_bytes,
                stream,
                parameters,
                extra,
            )
        })
    })())
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
    status((|| {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let Prepared { function, stream } = prepare(function, stream, grid, block)?;
        // SAFETY: S9, S11: as in hipModuleLaunchKernel.
        check(unsafe {
            (driver().cuLaunchCooperativeKernel)(
                function,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                shared_bytes,
                stream,
                parameters,
            )
        })
    })())
}

/// The attributes have CUDA's numbers.
pub(super) unsafe extern "C" fn hipFuncGetAttribute(
    out: *mut c_int,
    attribute: hipFunction_attribute,
    function: hipFunction_t,
) -> hipError_t {
    status(function_of(function).and_then(|function| {
        check_not_null(out)?;
        // SAFETY: S11: a live function and the caller's output pointer.
        check(unsafe { (driver().cuFuncGetAttribute)(out, attribute.0, function.raw) })
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
        let function = function_of(function.cast_mut().cast()).map_err(|_| unknown)?;
        let known = [
            hipFuncAttribute::hipFuncAttributeMaxDynamicSharedMemorySize,
            hipFuncAttribute::hipFuncAttributePreferredSharedMemoryCarveout,
        ];
        if !known.contains(&attribute) {
            return Err(VALUE);
        }
        // SAFETY: S11: a live function; the numbers of both attributes are CUDA's.
        check(unsafe { (driver().cuFuncSetAttribute)(function.raw, attribute.0, value) })
    })())
}

pub(super) unsafe extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    out: *mut c_int,
    function: hipFunction_t,
    block: c_int,
    shared_bytes: usize,
) -> hipError_t {
    status(function_of(function).and_then(|function| {
        check_not_null(out)?;
        if block <= 0 || block > MAX_BLOCK as c_int {
            return Err(VALUE);
        }
        // SAFETY: S11: a live function and the caller's output pointer.
        check(unsafe {
            (driver().cuOccupancyMaxActiveBlocksPerMultiprocessor)(out, function.raw, block, shared_bytes)
        })
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
        // SAFETY: S11: a live function and the caller's output pointers; the callback for the shared memory
        // of a block size is null.
        check(unsafe {
            (driver().cuOccupancyMaxPotentialBlockSize)(
                grid,
                block,
                function.raw,
                null_mut(),
                shared_bytes,
                limit,
            )
        })
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
    let answer = || -> Outcome {
        let function = function_of(function)?;
        let ask = driver().cuFuncGetParamInfo.ok_or(hipError_t::hipErrorNotSupported)?;
        let (mut at, mut bytes) = (0, 0);
        // SAFETY: S1: a live function and live output pointers.
        check(unsafe { ask(function.raw, index, &mut at, &mut bytes) })?;
        // SAFETY: S11: the caller's output pointers.
        unsafe { give(offset, at).and_then(|()| give(size, bytes)) }
    };
    answer().err().unwrap_or(hipError_t::hipSuccess)
}
