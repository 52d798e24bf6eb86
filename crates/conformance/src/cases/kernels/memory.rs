//! Constant memory, variables, and arguments of every form.

use crate::cases::prelude::*;

pub(crate) const CASES: &[Case] = cases!("kernel/memory":
    constant_that_the_host_writes, constant_with_a_value, variable, variable_of_two_dimensions, mixed_arguments,
    structure_with_padding, structure_with_arrays, structures_are_copies, pointers_in_memory, many_arguments, vectors,
    array_of_a_thread,
);

/// Writes a variable of the module.
fn write(b: &Bench, name: &str, bytes: &[u8]) -> Outcome {
    let (pointer, size) = b.global(&*b.module("memory")?, name)?;
    same(&format!("size of {name}"), size, bytes.len())?;
    ok!(b, hipMemcpy(pointer, bytes.as_ptr().cast(), size, hipMemcpyKind::hipMemcpyHostToDevice));
    Ok(())
}

/// A variable of the module, as numbers.
fn read<T: bytemuck::Pod>(b: &Bench, name: &str) -> Result<Vec<T>, Failure> {
    let (pointer, size) = b.global(&*b.module("memory")?, name)?;
    let mut values = vec![T::zeroed(); size / size_of::<T>()];
    ok!(b, hipMemcpy(values.as_mut_ptr().cast(), pointer, size, hipMemcpyKind::hipMemcpyDeviceToHost));
    Ok(values)
}

/// A table that is written twice.
fn constant_that_the_host_writes(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(48)?;
    for factor in [3, -5] {
        let table: Vec<i32> = (0..16).map(|i| factor * i).collect();
        write(b, "table", bytemuck::cast_slice(&table))?;
        b.launch(&b.function("memory", "from_table")?, grid(1, 48), args![&out])?;
        let expected: Vec<i32> = (0..48).map(|t| factor * (t % 16) + 1).collect();
        same_all("out", &out.read()?, &expected)?;
    }
    Ok(())
}

/// A table whose values are in the source.
fn constant_with_a_value(b: &Bench) -> Outcome {
    let out = b.zeros::<f32>(8)?;
    b.launch(&b.function("memory", "weighted")?, grid(1, 8), args![&out])?;
    same_all("out", &out.read()?, &[0.0, 0.25, 0.25, 6.0, 2.0, 1.25, 0.75, 14.0])
}

/// A counter that persists between launches.
fn variable(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(64)?;
    write(b, "counter", &1000_i32.to_ne_bytes())?;
    for round in 0..2 {
        b.launch(&b.function("memory", "count_up")?, grid(1, 64), args![&out])?;
        let mut seen = out.read()?;
        seen.sort_unstable();
        let first = 1000 + 64 * round;
        same_all("out", &seen, &(first..first + 64).collect::<Vec<i32>>())?;
    }
    same_all("counter", &read::<i32>(b, "counter")?, &[1128])
}

/// Its initial values are those in the source; a kernel changes them in place.
fn variable_of_two_dimensions(b: &Bench) -> Outcome {
    same_all("at first", &read::<f64>(b, "grid")?, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    b.launch(&b.function("memory", "scale_grid")?, grid(1, 64), args![8.0])?;
    same_all("scaled", &read::<f64>(b, "grid")?, &[8.0, 16.0, 24.0, 32.0, 40.0, 48.0])?;
    b.launch(&b.function("memory", "scale_grid")?, grid(1, 64), args![0.125])?;
    same_all("scaled back", &read::<f64>(b, "grid")?, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
}

/// Sizes of 1, 8, 2, 32, 4, 8 and 1 bytes in sequence.
fn mixed_arguments(b: &Bench) -> Outcome {
    let out = b.zeros::<f64>(7)?;
    // Three doubles, then a char and seven bytes of padding.
    let mixed = Arg::of([1.0_f64.to_bits(), 2.0_f64.to_bits(), 7.25_f64.to_bits(), 0xffff_ff09]);
    let function = b.function("memory", "mixed_arguments")?;
    b.launch(&function, grid(1, 8), args![-3_i8, 2.5, -300_i16, mixed, 0.125_f32, &out, 200_u8])?;
    same_all("out", &out.read()?, &[-3.0, 2.5, -300.0, 7.25, 9.0, 0.125, 200.0])
}

/// A structure with padding: char at 0, double at 8, char at 16, short at 18, long long at 24, five bytes at
/// 32; 40 in all.
fn structure_with_padding(b: &Bench) -> Outcome {
    // As words of eight bytes, so that the argument has the structure's alignment.
    let mut words = [0xeeee_eeee_eeee_eeee_u64; 5];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    bytes[0] = -7_i8 as u8;
    bytes[8..16].copy_from_slice(&10.25_f64.to_ne_bytes());
    bytes[16] = 33;
    bytes[18..20].copy_from_slice(&(-1234_i16).to_ne_bytes());
    bytes[24..32].copy_from_slice(&(-(1_i64 << 40)).to_ne_bytes());
    bytes[32..37].copy_from_slice(&[4, 0, 0, 0, 5]);
    let padded = Arg::of(words);
    let out = b.zeros::<i64>(9)?;
    b.launch(&b.function("memory", "padded")?, grid(1, 1), args![11, padded, 22, &out])?;
    same_all("out", &out.read()?, &[11, -7, 41, 33, -1234, -(1 << 40), 54, 22, 40])
}

/// A tensor layout: eight extents of 64 bits, eight strides of 32 bits, a rank, and four bytes of padding.
fn layout(shape: [i64; 3], stride: [i32; 3]) -> Arg {
    let mut words = [0_u64; 13];
    for d in 0..3 {
        words[d] = shape[d] as u64;
    }
    let mut strides = [0_i32; 10];
    strides[..3].copy_from_slice(&stride);
    strides[8] = 3;
    words[8..].copy_from_slice(&bytemuck::cast::<[i32; 10], [u64; 5]>(strides));
    Arg::of(words)
}

/// Arrays inside of a structure.
fn structure_with_arrays(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(60)?;
    let view = layout([3, 4, 5], [100, -7, 1000]);
    b.launch(&b.function("memory", "strided")?, grid(1, 60), args![view, &out])?;
    let expected: Vec<i32> = (0..60).map(|t| t / 20 * 100 - t / 5 % 4 * 7 + t % 5 * 1000).collect();
    same_all("out", &out.read()?, &expected)
}

/// A thread that changes its argument does not change another thread's.
fn structures_are_copies(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(3 * 128)?;
    let view = layout([1, 1, 1], [5, 0, 0]);
    b.launch(&b.function("memory", "own_copy")?, grid(1, 128), args![view, &out])?;
    let expected: Vec<i32> = (0..3 * 128).map(|t| if t < 128 { 2 * (5 + t) } else { 0 }).collect();
    same_all("out", &out.read()?, &expected)
}

/// Pointers that a kernel stores and follows.
fn pointers_in_memory(b: &Bench) -> Outcome {
    let (nodes, out) = (b.zeros::<[u64; 2]>(60)?, b.zeros::<i32>(60)?);
    b.launch(&b.function("memory", "follow")?, grid(1, 60), args![&nodes, &out, 60])?;
    let expected: Vec<i32> = (0..60).map(|t| (t..60).step_by(3).map(|i| i * i).sum()).collect();
    same_all("out", &out.read()?, &expected)
}

/// Fourteen arguments, each with another alignment than the previous one.
fn many_arguments(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(13)?;
    let arguments =
        args![1, 2_i8, 3, 4_i16, 5_i64 << 32, 6_i8, 7.5_f32, 8_i8, 9.25, 10_i8, &out, 11_i16, 12, 13_i8];
    b.launch(&b.function("memory", "many_arguments")?, grid(1, 1), arguments)?;
    same_all("out", &out.read()?, &[1, 2, 3, 4, 5, 6, 15, 8, 37, 10, 11, 12, 13])
}

/// float4 and int2.
fn vectors(b: &Bench) -> Outcome {
    let fours: Vec<[f32; 4]> = (0..128_u16).map(|i| [0, 1, 2, 3].map(|j| f32::from(4 * i + j))).collect();
    let pairs: Vec<[i32; 2]> = (0..128).map(|i| [i, -i]).collect();
    let (input, out) = (b.buffer(&fours)?, b.zeros::<[f32; 4]>(128)?);
    let (couples, swapped) = (b.buffer(&pairs)?, b.zeros::<[i32; 2]>(128)?);
    b.launch(&b.function("memory", "vectors")?, grid(2, 64), args![&input, &out, &couples, &swapped])?;
    let expected: Vec<[f32; 4]> = fours.iter().map(|[x, y, z, w]| [*w, *z, *y, *x]).collect();
    same_all("fours", &out.read()?, &expected)?;
    same_all("pairs", &swapped.read()?, &pairs.iter().map(|[x, y]| [*y, *x]).collect::<Vec<_>>())
}

/// 800 bytes of private memory per thread.
fn array_of_a_thread(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(256)?;
    b.launch(&b.function("memory", "own_array")?, grid(1, 256), args![&out])?;
    let at = |t: i32| (0..200).step_by(t as usize % 3 + 1).map(|i| i * t).sum();
    same_all("out", &out.read()?, &(0..256).map(at).collect::<Vec<i32>>())
}
