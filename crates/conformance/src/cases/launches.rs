//! Launches: both forms of arguments, shapes, every limit, dynamic shared memory.

use super::prelude::*;
use bytemuck::{Pod, Zeroable};
use hip_sys::{HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_END};

pub(crate) const CASES: &[Case] = cases!(
    "launch/arguments": by_parameters, of_every_size, packed_in_a_buffer, packed_the_other_way_round,
    packed_of_every_size, none, read_before_the_call_returns, a_pointer_into_a_buffer, pinned_memory_directly,
    managed_memory_directly
);
pub(crate) const REFUSED: &[Case] = cases!(
    "launch/refused": null_function, both_forms, unknown_tag, no_end, no_size, refused_launches_do_not_run
);
pub(crate) const LIMITS: &[Case] = cases!(
    "launch/limit": no_blocks_x, no_blocks_y, no_blocks_z, no_threads_x, no_threads_y, no_threads_z, block_of_1024,
    block_of_1025, block_of_1025_along_y, block_of_1025_along_z, block_whose_product_is_too_large,
    block_whose_product_overflows, grid_too_long_x, grid_too_long_y, grid_too_long_z, grid_longest_y,
    grid_longest_z, threads_of_2_to_the_32, shared_65536, shared_65537, shared_of_all_ones
);
pub(crate) const SHAPES: &[Case] = cases!(
    "launch/shape": one_dimension, three_dimensions, blocks_in_three_dimensions, all_six, many_blocks,
    block_of_1024_along_each_axis
);
pub(crate) const SHARED: &[Case] = cases!(
    "launch/shared": dynamic_is_the_blocks_own, both_ends_of_64_kib, several_sizes_in_a_row, static_shared_memory
);

fn by_parameters(b: &Bench) -> Outcome {
    let (x, y, sum) = (b.buffer(&[1, 2, 3, 4])?, b.buffer(&[10, 20, 30, 40])?, b.filled(4, -1)?);
    b.launch(&b.function("basic", "add")?, grid(1, 64), args![&x, &y, &sum, 3_u32])?;
    same_all("the sum", &sum.read()?, &[11, 22, 33, -1])
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Mixed {
    d: [f64; 3],
    c: i8,
    padding: [u8; 7],
}

/// The arguments of the kernel `mixed`, and its results for them.
fn mixed_arguments(out: &Buffer<'_, f64>) -> [Arg; 7] {
    let structure = Mixed { d: [1.25, 9.0, -2.5], c: -100, padding: [0; 7] };
    [
        Arg::from(-7_i8),
        Arg::from(0.125_f64),
        Arg::from(-30_000_i16),
        Arg::of(structure),
        Arg::from(2.75_f32),
        Arg::from(out),
        Arg::from(250_u8),
    ]
}
const MIXED: [f64; 8] = [-7.0, 0.125, -30_000.0, 1.25, -2.5, -100.0, 2.75, 250.0];

fn of_every_size(b: &Bench) -> Outcome {
    let out = b.zeros::<f64>(8)?;
    b.launch(&b.function("basic", "mixed")?, grid(1, 1), &mut mixed_arguments(&out))?;
    same_all("what the kernel saw", &out.read()?, &MIXED)
}

/// Launches one thread with packed arguments and returns the code.
fn launch_packed(b: &Bench, function: &Function, bytes: &mut [u8], size_first: bool) -> Result<u32, Failure> {
    let mut size = bytes.len();
    let (at, size_at) = (bytes.as_mut_ptr().cast(), (&raw mut size).cast());
    let pointer = [HIP_LAUNCH_PARAM_BUFFER_POINTER, at];
    let bytes = [HIP_LAUNCH_PARAM_BUFFER_SIZE, size_at];
    let [first, second] = if size_first { [bytes, pointer] } else { [pointer, bytes] };
    let mut extra = [first[0], first[1], second[0], second[1], HIP_LAUNCH_PARAM_END];
    Ok(launch_extra(b, function, &mut extra))
}

/// Launches one thread with a list of `extra` and returns the code.
fn launch_extra(b: &Bench, function: &Function, extra: &mut [*mut c_void]) -> u32 {
    let launch = b.hip().hipModuleLaunchKernel;
    // SAFETY: S9: the case passes what the kernel declares, or what has to be refused.
    unsafe { launch(function.raw, 1, 1, 1, 1, 1, 1, 0, NULL, null_mut(), extra.as_mut_ptr()) }.0
}

fn packed_in_a_buffer(b: &Bench) -> Outcome {
    let (write, out) = (b.function("basic", "write_one")?, b.zeros::<i32>(1)?);
    let mut bytes = packed(&[Arg::from(&out), Arg::from(77)]);
    let code = launch_packed(b, &write, &mut bytes, false)?;
    b.expect(code, SUCCESS, "the launch")?;
    same_all("the value", &out.read()?, &[77])
}

fn packed_the_other_way_round(b: &Bench) -> Outcome {
    let (write, out) = (b.function("basic", "write_one")?, b.zeros::<i32>(1)?);
    let mut bytes = packed(&[Arg::from(&out), Arg::from(78)]);
    let code = launch_packed(b, &write, &mut bytes, true)?;
    b.expect(code, SUCCESS, "the launch")?;
    same_all("the value", &out.read()?, &[78])
}

fn packed_of_every_size(b: &Bench) -> Outcome {
    let (mixed, out) = (b.function("basic", "mixed")?, b.zeros::<f64>(8)?);
    let mut bytes = packed(&mixed_arguments(&out));
    let code = launch_packed(b, &mixed, &mut bytes, false)?;
    b.expect(code, SUCCESS, "the launch")?;
    same_all("what the kernel saw", &out.read()?, &MIXED)
}

fn none(b: &Bench) -> Outcome {
    b.launch(&b.function("basic", "nothing")?, grid(3, 5), args![])?;
    b.sync()
}

/// The memory of the arguments may be reused as soon as the launch returns.
fn read_before_the_call_returns(b: &Bench) -> Outcome {
    let (write, out) = (b.function("basic", "write_one")?, b.zeros::<i32>(100)?);
    let (stream, gate) = (b.stream_with(hipStreamNonBlocking)?, Gate::new());
    gate.hold(b, stream.raw)?;
    for index in 0..100 {
        // The arguments are dropped at the end of each round, while the stream is held.
        b.launch_on(stream.raw, &write, grid(1, 1), args![out.at(index), index as i32])?;
    }
    gate.open();
    ok!(b, hipStreamSynchronize(stream.raw));
    same_all("the values", &out.read()?, &(0..100).collect::<Vec<_>>())
}

fn a_pointer_into_a_buffer(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(3)?;
    b.launch(&b.function("basic", "write_one")?, grid(1, 1), args![out.at(1), 5])?;
    same_all("the buffer", &out.read()?, &[0, 5, 0])
}

fn pinned_memory_directly(b: &Bench) -> Outcome {
    let (pinned, mut address) = (b.pinned::<i32>(2)?, null_mut());
    ok!(b, hipHostGetDevicePointer(&mut address, pinned.pointer, 0));
    b.launch(&b.function("basic", "write_one")?, grid(1, 1), args![address, 5])?;
    b.sync()?;
    same_all("the memory", &pinned.read(), &[5, 0])
}

fn managed_memory_directly(b: &Bench) -> Outcome {
    let mut pointer = null_mut();
    ok!(b, hipMallocManaged(&mut pointer, 64, hipMemAttachGlobal));
    b.launch(&b.function("basic", "write_one")?, grid(1, 1), args![pointer, 6])?;
    b.sync()?;
    // SAFETY: S2: managed memory of 64 bytes; the device is idle.
    let value = unsafe { pointer.cast::<i32>().read() };
    ok!(b, hipFree(pointer));
    same("the value", value, 6)
}

fn null_function(b: &Bench) -> Outcome {
    let (function, list, extra) = (null_mut(), null_mut(), null_mut());
    expect!(b, hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, list, extra) => HANDLE);
    Ok(())
}

fn both_forms(b: &Bench) -> Outcome {
    let (write, out) = (b.function("basic", "write_one")?, b.zeros::<i32>(1)?);
    let arguments: &mut [Arg] = args![&out, 1];
    let mut bytes = packed(arguments);
    let mut size = bytes.len();
    let mut list: Vec<*mut c_void> = arguments.iter_mut().map(Arg::address).collect();
    let mut extra = [
        HIP_LAUNCH_PARAM_BUFFER_POINTER,
        bytes.as_mut_ptr().cast(),
        HIP_LAUNCH_PARAM_BUFFER_SIZE,
        (&raw mut size).cast(),
        HIP_LAUNCH_PARAM_END,
    ];
    let (list, extra, f) = (list.as_mut_ptr(), extra.as_mut_ptr(), write.raw);
    expect!(b, hipModuleLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, list, extra) => VALUE);
    Ok(())
}

/// A list for `write_one` whose entries the case changes.
fn refused(b: &Bench, change: impl FnOnce(&mut [*mut c_void; 5])) -> Outcome {
    let (write, out) = (b.function("basic", "write_one")?, b.zeros::<i32>(1)?);
    let mut bytes = packed(&[Arg::from(&out), Arg::from(77)]);
    let mut size = bytes.len();
    let mut extra = [
        HIP_LAUNCH_PARAM_BUFFER_POINTER,
        bytes.as_mut_ptr().cast(),
        HIP_LAUNCH_PARAM_BUFFER_SIZE,
        (&raw mut size).cast(),
        HIP_LAUNCH_PARAM_END,
    ];
    change(&mut extra);
    let code = launch_extra(b, &write, &mut extra);
    b.expect(code, VALUE, "the launch")?;
    same_all("what the kernel did", &out.read()?, &[0])
}

fn unknown_tag(b: &Bench) -> Outcome {
    refused(b, |extra| extra[0] = 9 as *mut c_void)
}

fn no_end(b: &Bench) -> Outcome {
    refused(b, |extra| extra[4] = null_mut())
}

/// The end marker is where the size should be.
fn no_size(b: &Bench) -> Outcome {
    refused(b, |extra| extra[2] = HIP_LAUNCH_PARAM_END)
}

fn refused_launches_do_not_run(b: &Bench) -> Outcome {
    let (write, out) = (b.function("basic", "write_one")?, b.zeros::<i32>(1)?);
    let code = b.launch_code(NULL, &write, grid(1, 1025), args![&out, 5]);
    b.expect(code, VALUE, "the launch")?;
    same_all("the value", &out.read()?, &[0])
}

/// Checks the code of a launch of a kernel that does nothing.
fn shape(b: &Bench, grid: [u32; 3], block: [u32; 3], shared: u32, expected: u32) -> Outcome {
    let code =
        b.launch_code(NULL, &b.function("basic", "nothing")?, Shape::of(grid, block).shared(shared), args![]);
    b.expect(code, expected, &format!("grid {grid:?}, block {block:?}, {shared} shared bytes"))?;
    b.sync()
}

const ONE: [u32; 3] = [1; 3];

fn no_blocks_x(b: &Bench) -> Outcome {
    shape(b, [0, 1, 1], ONE, 0, VALUE)
}

fn no_blocks_y(b: &Bench) -> Outcome {
    shape(b, [1, 0, 1], ONE, 0, VALUE)
}

fn no_blocks_z(b: &Bench) -> Outcome {
    shape(b, [1, 1, 0], ONE, 0, VALUE)
}

fn no_threads_x(b: &Bench) -> Outcome {
    shape(b, ONE, [0, 1, 1], 0, VALUE)
}

fn no_threads_y(b: &Bench) -> Outcome {
    shape(b, ONE, [1, 0, 1], 0, VALUE)
}

fn no_threads_z(b: &Bench) -> Outcome {
    shape(b, ONE, [1, 1, 0], 0, VALUE)
}

fn block_of_1024(b: &Bench) -> Outcome {
    shape(b, ONE, [1024, 1, 1], 0, SUCCESS)?;
    shape(b, ONE, [2, 8, 64], 0, SUCCESS)
}

fn block_of_1025(b: &Bench) -> Outcome {
    shape(b, ONE, [1025, 1, 1], 0, VALUE)
}

fn block_of_1025_along_y(b: &Bench) -> Outcome {
    shape(b, ONE, [1, 1025, 1], 0, VALUE)
}

fn block_of_1025_along_z(b: &Bench) -> Outcome {
    shape(b, ONE, [1, 1, 1025], 0, VALUE)
}

fn block_whose_product_is_too_large(b: &Bench) -> Outcome {
    shape(b, ONE, [32, 33, 1], 0, VALUE)
}

/// 65536³ and (2³²−1)³ in 32 bits are 0 and −1.
fn block_whose_product_overflows(b: &Bench) -> Outcome {
    shape(b, ONE, [65_536, 65_536, 65_536], 0, VALUE)?;
    shape(b, ONE, [u32::MAX, u32::MAX, u32::MAX], 0, VALUE)
}

fn grid_too_long_x(b: &Bench) -> Outcome {
    shape(b, [1 << 31, 1, 1], ONE, 0, VALUE)
}

fn grid_too_long_y(b: &Bench) -> Outcome {
    shape(b, [1, 65_537, 1], ONE, 0, VALUE)
}

fn grid_too_long_z(b: &Bench) -> Outcome {
    shape(b, [1, 1, 65_537], ONE, 0, VALUE)
}

fn grid_longest_y(b: &Bench) -> Outcome {
    shape(b, [1, 65_536, 1], ONE, 0, SUCCESS)
}

fn grid_longest_z(b: &Bench) -> Outcome {
    shape(b, [1, 1, 65_536], ONE, 0, SUCCESS)
}

/// Blocks times threads along x must be below 2³².
fn threads_of_2_to_the_32(b: &Bench) -> Outcome {
    shape(b, [1 << 22, 1, 1], [1024, 1, 1], 0, VALUE)
}

fn shared_65536(b: &Bench) -> Outcome {
    shape(b, ONE, ONE, 65_536, SUCCESS)
}

fn shared_65537(b: &Bench) -> Outcome {
    shape(b, ONE, ONE, 65_537, VALUE)
}

fn shared_of_all_ones(b: &Bench) -> Outcome {
    shape(b, ONE, ONE, u32::MAX, VALUE)
}

/// Checks what the kernel `indices` writes for a shape: blocks and threads count with x fastest.
fn indices(b: &Bench, grid: [u32; 3], block: [u32; 3]) -> Outcome {
    let number = |[x, y, z]: [u32; 3]| x + 10 * y + 100 * z;
    let indices = |[x, y, z]: [u32; 3]| {
        (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])))
    };
    let expected: Vec<u32> = indices(grid)
        .flat_map(|at| indices(block).map(move |thread| number(thread) + 1000 * number(at)))
        .collect();
    let out = b.filled(expected.len(), u32::MAX)?;
    b.launch(&b.function("basic", "indices")?, Shape::of(grid, block), args![&out])?;
    same_all("the indices", &out.read()?, &expected)
}

fn one_dimension(b: &Bench) -> Outcome {
    indices(b, [3, 1, 1], [7, 1, 1])
}

fn three_dimensions(b: &Bench) -> Outcome {
    indices(b, ONE, [5, 4, 3])
}

fn blocks_in_three_dimensions(b: &Bench) -> Outcome {
    indices(b, [5, 4, 3], ONE)
}

fn all_six(b: &Bench) -> Outcome {
    indices(b, [2, 3, 4], [4, 3, 2])
}

fn many_blocks(b: &Bench) -> Outcome {
    let counter = b.zeros::<u32>(1)?;
    b.launch(&b.function("basic", "count")?, grid(2000, 64), args![&counter])?;
    same_all("threads that ran", &counter.read()?, &[128_000])
}

fn block_of_1024_along_each_axis(b: &Bench) -> Outcome {
    let (counter, count) = (b.zeros::<u32>(1)?, b.function("basic", "count")?);
    for axis in 0..3 {
        let mut block = ONE;
        block[axis] = 1024;
        b.launch(&count, Shape::of(ONE, block), args![&counter])?;
    }
    same_all("threads that ran", &counter.read()?, &[3072])
}

fn dynamic_is_the_blocks_own(b: &Bench) -> Outcome {
    let values: Vec<i32> = (0..512).collect();
    let data = b.buffer(&values)?;
    b.launch(&b.function("basic", "reverse")?, grid(4, 128).shared(512), args![&data])?;
    let expected: Vec<i32> = (0..512).map(|i| i / 128 * 128 + 127 - i % 128).collect();
    same_all("the blocks, each backwards", &data.read()?, &expected)
}

fn both_ends_of_64_kib(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(2)?;
    b.launch(&b.function("basic", "ends")?, grid(1, 256).shared(65_536), args![&out, 65_536_u32])?;
    same_all("the first and the last word", &out.read()?, &[11, 22])
}

fn several_sizes_in_a_row(b: &Bench) -> Outcome {
    let ends = b.function("basic", "ends")?;
    for bytes in [4, 16, 1000, 4096, 32_768, 65_532, 8] {
        let out = b.zeros::<i32>(2)?;
        b.launch(&ends, grid(3, 64).shared(bytes), args![&out, bytes])?;
        // In four bytes the last word is also the first.
        let first = if bytes == 4 { 22 } else { 11 };
        same_all(&format!("the ends of {bytes} bytes"), &out.read()?, &[first, 22])?;
    }
    Ok(())
}

fn static_shared_memory(b: &Bench) -> Outcome {
    let data = b.buffer(&(0..256).collect::<Vec<i32>>())?;
    b.launch(&b.function("basic", "static_shared")?, grid(1, 256), args![&data])?;
    same_all("the values, backwards", &data.read()?, &(0..256).rev().collect::<Vec<_>>())
}
