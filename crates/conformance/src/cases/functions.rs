//! Queries of a function, and how many of its blocks fit on a device.

use super::prelude::*;
use std::ffi::c_int;

pub(crate) const CASES: &[Case] = cases!(
    "function/attribute": most_threads, static_shared_size, no_static_shared_size, null_output, null_function,
    unknown, shared_limit_can_be_set, shared_limit_cannot_be_exceeded, of_no_function
);
pub(crate) const OCCUPANCY: &[Case] = cases!(
    "function/occupancy": a_block_fits, smaller_blocks_are_more, shared_memory_makes_fewer,
    all_of_the_shared_memory_is_one_block, no_threads, too_many_threads, null_blocks_output, of_a_null_function
);
pub(crate) const POTENTIAL: &[Case] = cases!(
    "function/potential": a_whole_number_of_waves, limited, null_grid_output, null_block_output,
    of_a_null_function_too, the_answer_can_be_launched
);

use hipFunction_attribute as A;

fn attribute(b: &Bench, name: &str, attribute: A) -> Result<c_int, Failure> {
    let (function, mut value) = (b.function("basic", name)?, -7);
    ok!(b, hipFuncGetAttribute(&mut value, attribute, function.raw));
    Ok(value)
}

fn most_threads(b: &Bench) -> Outcome {
    same("the threads", attribute(b, "add", A::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?, 1024)
}

fn static_shared_size(b: &Bench) -> Outcome {
    same("the bytes", attribute(b, "static_shared", A::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?, 1024)
}

fn no_static_shared_size(b: &Bench) -> Outcome {
    same("the bytes", attribute(b, "add", A::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?, 0)
}

fn null_output(b: &Bench) -> Outcome {
    let function = b.function("basic", "add")?;
    expect!(b, hipFuncGetAttribute(null_mut(), A::HIP_FUNC_ATTRIBUTE_NUM_REGS, function.raw) => VALUE);
    Ok(())
}

fn null_function(b: &Bench) -> Outcome {
    let mut value = 0;
    expect!(b, hipFuncGetAttribute(&mut value, A::HIP_FUNC_ATTRIBUTE_NUM_REGS, null_mut()) => HANDLE);
    Ok(())
}

fn unknown(b: &Bench) -> Outcome {
    let (function, mut value) = (b.function("basic", "add")?, 0);
    expect!(b, hipFuncGetAttribute(&mut value, A(777), function.raw) => VALUE);
    Ok(())
}

const SHARED: hipFuncAttribute = hipFuncAttribute::hipFuncAttributeMaxDynamicSharedMemorySize;

fn shared_limit_can_be_set(b: &Bench) -> Outcome {
    let function = b.function("basic", "reverse")?;
    ok!(b, hipFuncSetAttribute(function.raw.cast(), SHARED, 65_536));
    Ok(())
}

fn shared_limit_cannot_be_exceeded(b: &Bench) -> Outcome {
    let function = b.function("basic", "reverse")?;
    expect!(b, hipFuncSetAttribute(function.raw.cast(), SHARED, 65_537) => VALUE);
    Ok(())
}

fn of_no_function(b: &Bench) -> Outcome {
    expect!(b, hipFuncSetAttribute(null(), SHARED, 1) => NOT_A_FUNCTION);
    Ok(())
}

fn resident(b: &Bench, threads: c_int, shared: usize) -> Result<c_int, Failure> {
    let (function, mut blocks) = (b.function("basic", "reverse")?, -7);
    ok!(b, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function.raw, threads, shared));
    Ok(blocks)
}

fn a_block_fits(b: &Bench) -> Outcome {
    for threads in [1, 64, 256, 1024] {
        let blocks = resident(b, threads, 0)?;
        ensure(blocks >= 1, format!("{blocks} blocks of {threads} threads"))?;
    }
    Ok(())
}

fn smaller_blocks_are_more(b: &Bench) -> Outcome {
    let (small, large) = (resident(b, 64, 0)?, resident(b, 1024, 0)?);
    ensure(small > large, format!("{small} blocks of 64 threads, {large} of 1024"))
}

fn shared_memory_makes_fewer(b: &Bench) -> Outcome {
    let (none, half) = (resident(b, 64, 0)?, resident(b, 64, 32_768)?);
    ensure(half < none && half >= 1, format!("{none} blocks without, {half} with 32 KiB each"))
}

fn all_of_the_shared_memory_is_one_block(b: &Bench) -> Outcome {
    let mut properties = hipDeviceProp_tR0600::default();
    ok!(b, hipGetDevicePropertiesR0600(&mut properties, b.device()));
    let most = (properties.maxSharedMemoryPerMultiProcessor / 65_536) as c_int;
    let blocks = resident(b, 64, 65_536)?;
    ensure((1..=most.max(1)).contains(&blocks), format!("{blocks} blocks of 64 KiB where {most} fit"))
}

fn no_threads(b: &Bench) -> Outcome {
    let (f, mut blocks) = (b.function("basic", "add")?, 0);
    expect!(b, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, f.raw, 0, 0) => VALUE);
    Ok(())
}

fn too_many_threads(b: &Bench) -> Outcome {
    let (f, mut blocks) = (b.function("basic", "add")?, 0);
    expect!(b, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, f.raw, 1025, 0) => VALUE);
    Ok(())
}

fn null_blocks_output(b: &Bench) -> Outcome {
    let f = b.function("basic", "add")?;
    expect!(b, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(null_mut(), f.raw, 64, 0) => VALUE);
    Ok(())
}

fn of_a_null_function(b: &Bench) -> Outcome {
    let mut blocks = 0;
    expect!(b, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, null_mut(), 64, 0) => HANDLE);
    Ok(())
}

fn potential(b: &Bench, limit: c_int) -> Result<(c_int, c_int), Failure> {
    let (function, mut grid, mut block) = (b.function("basic", "add")?, -7, -7);
    ok!(b, hipModuleOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function.raw, 0, limit));
    Ok((grid, block))
}

fn a_whole_number_of_waves(b: &Bench) -> Outcome {
    let (grid, block) = potential(b, 0)?;
    let whole = (1..=1024).contains(&block) && (block as u32).is_multiple_of(b.wave());
    ensure(grid >= 1 && whole, format!("{grid} blocks of {block} threads"))
}

fn limited(b: &Bench) -> Outcome {
    let (grid, block) = potential(b, 128)?;
    ensure(grid >= 1 && (1..=128).contains(&block), format!("{grid} blocks of {block} threads"))
}

fn null_grid_output(b: &Bench) -> Outcome {
    let (f, mut block) = (b.function("basic", "add")?, 0);
    expect!(b, hipModuleOccupancyMaxPotentialBlockSize(null_mut(), &mut block, f.raw, 0, 0) => VALUE);
    Ok(())
}

fn null_block_output(b: &Bench) -> Outcome {
    let (f, mut grid) = (b.function("basic", "add")?, 0);
    expect!(b, hipModuleOccupancyMaxPotentialBlockSize(&mut grid, null_mut(), f.raw, 0, 0) => VALUE);
    Ok(())
}

fn of_a_null_function_too(b: &Bench) -> Outcome {
    let (mut grid, mut block) = (0, 0);
    expect!(b, hipModuleOccupancyMaxPotentialBlockSize(&mut grid, &mut block, null_mut(), 0, 0) => HANDLE);
    Ok(())
}

fn the_answer_can_be_launched(b: &Bench) -> Outcome {
    let ((blocks, threads), counter) = (potential(b, 0)?, b.zeros::<u32>(1)?);
    b.launch(&b.function("basic", "count")?, grid(blocks as u32, threads as u32), args![&counter])?;
    same_all("threads that ran", &counter.read()?, &[(blocks * threads) as u32])
}
