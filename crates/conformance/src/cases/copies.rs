//! Copies of bytes: every direction, every function, their timing, and errors.

use super::prelude::*;

pub(crate) const CASES: &[Case] = cases!(
    "memory/copy": host_to_device, device_to_host, device_to_device, host_to_host, direction_from_the_pointers,
    parts_of_buffers, a_large_one, null_destination, null_source, direction_minus_one, past_the_end,
    past_the_end_of_the_source, no_bytes, a_pinned_source_and_a_pinned_destination
);
pub(crate) const ASYNC: &[Case] = cases!(
    "memory/copy_async": host_to_device_in_a_stream, device_to_host_in_a_stream, device_to_device_in_a_stream,
    host_to_host_in_a_stream, by_direction, by_the_pointers, with_stream_waits, null_destination_in_a_stream,
    null_source_in_a_stream, bad_direction_in_a_stream, no_bytes_in_a_stream, past_the_end_in_a_stream,
    pageable_memory_may_change_after_the_call, pinned_memory_is_read_when_the_stream_gets_there,
    a_large_pageable_one, follows_the_work_before_it
);
pub(crate) const ORDER: &[Case] = cases!(
    "memory/copy_order": a_plain_copy_waits_for_the_null_stream, a_plain_copy_waits_for_blocking_streams
);

fn address<T>(values: &mut [T]) -> *mut c_void {
    values.as_mut_ptr().cast()
}

fn host_to_device(b: &Bench) -> Outcome {
    let (buffer, values) = (b.zeros::<i32>(4)?, [1, -2, 3, i32::MIN]);
    ok!(b, hipMemcpy(buffer.pointer, values.as_ptr().cast(), 16, H2D));
    same_all("the buffer", &buffer.read()?, &values)
}

fn device_to_host(b: &Bench) -> Outcome {
    let (buffer, mut values) = (b.buffer(&[4_u64, 5, 6])?, [0_u64; 3]);
    ok!(b, hipMemcpy(address(&mut values), buffer.pointer, 24, D2H));
    same_all("the values", &values, &[4, 5, 6])
}

fn device_to_device(b: &Bench) -> Outcome {
    let (from, to) = (b.buffer(&[1.5_f64, -0.0])?, b.zeros::<f64>(2)?);
    ok!(b, hipMemcpy(to.pointer, from.pointer, 16, D2D));
    same_all(
        "the bits",
        &to.read()?.iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
        &[0x3ff8_0000_0000_0000, 0x8000_0000_0000_0000],
    )
}

fn host_to_host(b: &Bench) -> Outcome {
    let (from, mut to) = ([7_u8, 8, 9], [0_u8; 3]);
    ok!(b, hipMemcpy(address(&mut to), from.as_ptr().cast(), 3, H2H));
    same_all("the values", &to, &from)
}

/// `hipMemcpyDefault` determines the direction, for all four directions.
fn direction_from_the_pointers(b: &Bench) -> Outcome {
    let (a, c, values) = (b.zeros::<i32>(4)?, b.zeros::<i32>(4)?, [11, 12, 13, 14]);
    let (mut back, mut copy) = ([0_i32; 4], [0_i32; 4]);
    ok!(b, hipMemcpy(a.pointer, values.as_ptr().cast(), 16, ANY));
    ok!(b, hipMemcpy(c.pointer, a.pointer, 16, ANY));
    ok!(b, hipMemcpy(address(&mut back), c.pointer, 16, ANY));
    ok!(b, hipMemcpy(address(&mut copy), address(&mut back), 16, ANY));
    same_all("the values", &copy, &values)
}

fn parts_of_buffers(b: &Bench) -> Outcome {
    let (a, c) = (b.buffer(&[0_i32, 1, 2, 3])?, b.buffer(&[10_i32, 11, 12, 13])?);
    ok!(b, hipMemcpy(c.at(2), a.at(1), 8, D2D));
    same_all("the destination", &c.read()?, &[10, 11, 1, 2])?;
    same_all("the source", &a.read()?, &[0, 1, 2, 3])
}

fn a_large_one(b: &Bench) -> Outcome {
    let values: Vec<u32> = (0..6_000_000).collect();
    let (buffer, copy) = (b.buffer(&values)?, b.zeros::<u32>(values.len())?);
    ok!(b, hipMemcpy(copy.pointer, buffer.pointer, buffer.bytes(), D2D));
    same_all("the values", &copy.read()?, &values)
}

fn null_destination(b: &Bench) -> Outcome {
    let buffer = b.zeros::<u8>(8)?;
    expect!(b, hipMemcpy(null_mut(), buffer.pointer, 4, D2H) => VALUE);
    Ok(())
}

fn null_source(b: &Bench) -> Outcome {
    let buffer = b.zeros::<u8>(8)?;
    expect!(b, hipMemcpy(buffer.pointer, null(), 4, H2D) => VALUE);
    Ok(())
}

fn direction_minus_one(b: &Bench) -> Outcome {
    let (buffer, values) = (b.zeros::<u8>(8)?, [0_u8; 8]);
    expect!(b, hipMemcpy(buffer.pointer, values.as_ptr().cast(), 4, hipMemcpyKind(u32::MAX)) => DIRECTION);
    Ok(())
}

fn past_the_end(b: &Bench) -> Outcome {
    let (buffer, values) = (b.zeros::<u8>(4096)?, [0_u8; 8192]);
    expect!(b, hipMemcpy(buffer.pointer, values.as_ptr().cast(), 4097, H2D) => VALUE);
    expect!(b, hipMemcpy(buffer.at(4000), values.as_ptr().cast(), 97, H2D) => VALUE);
    Ok(())
}

fn past_the_end_of_the_source(b: &Bench) -> Outcome {
    let (buffer, mut values) = (b.zeros::<u8>(4096)?, [5_u8; 8192]);
    expect!(b, hipMemcpy(address(&mut values), buffer.at(4095), 2, D2H) => VALUE);
    same("the destination", values[0], 5)
}

fn no_bytes(b: &Bench) -> Outcome {
    let buffer = b.zeros::<u8>(8)?;
    ok!(b, hipMemcpy(buffer.pointer, buffer.pointer, 0, D2D));
    Ok(())
}

fn a_pinned_source_and_a_pinned_destination(b: &Bench) -> Outcome {
    let (from, to) = (b.pinned::<i32>(3)?, b.pinned::<i32>(3)?);
    from.write(&[1, 2, 3]);
    ok!(b, hipMemcpy(to.pointer, from.pointer, 12, H2H));
    same_all("the destination", &to.read(), &[1, 2, 3])
}

fn host_to_device_in_a_stream(b: &Bench) -> Outcome {
    let (buffer, stream, mut values) = (b.zeros::<i32>(3)?, b.stream()?, [1, 2, 3]);
    ok!(b, hipMemcpyHtoDAsync(buffer.pointer, address(&mut values), 12, stream.raw));
    ok!(b, hipStreamSynchronize(stream.raw));
    same_all("the buffer", &buffer.read()?, &[1, 2, 3])
}

fn device_to_host_in_a_stream(b: &Bench) -> Outcome {
    let (buffer, stream, pinned) = (b.buffer(&[4_i32, 5, 6])?, b.stream()?, b.pinned::<i32>(3)?);
    ok!(b, hipMemcpyDtoHAsync(pinned.pointer, buffer.pointer, 12, stream.raw));
    ok!(b, hipStreamSynchronize(stream.raw));
    same_all("the values", &pinned.read(), &[4, 5, 6])
}

fn device_to_device_in_a_stream(b: &Bench) -> Outcome {
    let (from, to, stream) = (b.buffer(&[4_i32, 5, 6])?, b.zeros::<i32>(3)?, b.stream()?);
    ok!(b, hipMemcpyDtoDAsync(to.pointer, from.pointer, 12, stream.raw); hipStreamSynchronize(stream.raw));
    same_all("the destination", &to.read()?, &[4, 5, 6])
}

fn host_to_host_in_a_stream(b: &Bench) -> Outcome {
    let (from, to, stream) = (b.pinned::<i32>(2)?, b.pinned::<i32>(2)?, b.stream()?);
    from.write(&[8, 9]);
    ok!(b, hipMemcpyAsync(to.pointer, from.pointer, 8, H2H, stream.raw); hipStreamSynchronize(stream.raw));
    same_all("the destination", &to.read(), &[8, 9])
}

/// To the device and back through hipMemcpyAsync with an explicit direction.
fn by_direction(b: &Bench) -> Outcome {
    let (a, c, stream) = (b.zeros::<i32>(2)?, b.zeros::<i32>(2)?, b.stream()?);
    let (from, to) = (b.pinned::<i32>(2)?, b.pinned::<i32>(2)?);
    from.write(&[21, 22]);
    ok!(b, hipMemcpyAsync(a.pointer, from.pointer, 8, H2D, stream.raw));
    ok!(b, hipMemcpyAsync(c.pointer, a.pointer, 8, D2D, stream.raw));
    ok!(b, hipMemcpyAsync(to.pointer, c.pointer, 8, D2H, stream.raw); hipStreamSynchronize(stream.raw));
    same_all("the values", &to.read(), &[21, 22])
}

fn by_the_pointers(b: &Bench) -> Outcome {
    let (a, c, stream) = (b.zeros::<i32>(2)?, b.zeros::<i32>(2)?, b.stream()?);
    let (from, to) = (b.pinned::<i32>(2)?, b.pinned::<i32>(2)?);
    from.write(&[31, 32]);
    ok!(b, hipMemcpyAsync(a.pointer, from.pointer, 8, ANY, stream.raw));
    ok!(b, hipMemcpyAsync(c.pointer, a.pointer, 8, ANY, stream.raw));
    ok!(b, hipMemcpyAsync(to.pointer, c.pointer, 8, ANY, stream.raw); hipStreamSynchronize(stream.raw));
    same_all("the values", &to.read(), &[31, 32])
}

fn with_stream_waits(b: &Bench) -> Outcome {
    let (buffer, stream, mut values) =
        (b.buffer(&[1_i32, 2])?, b.stream_with(hipStreamNonBlocking)?, [0_i32; 2]);
    ok!(b, hipMemsetD32Async(buffer.pointer, 77, 1, stream.raw));
    ok!(b, hipMemcpyWithStream(address(&mut values), buffer.pointer, 8, D2H, stream.raw));
    same_all("the values", &values, &[77, 2])
}

fn null_destination_in_a_stream(b: &Bench) -> Outcome {
    let (buffer, stream) = (b.zeros::<u8>(8)?, b.stream()?);
    expect!(b, hipMemcpyAsync(null_mut(), buffer.pointer, 4, D2D, stream.raw) => VALUE);
    Ok(())
}

fn null_source_in_a_stream(b: &Bench) -> Outcome {
    let (buffer, stream) = (b.zeros::<u8>(8)?, b.stream()?);
    expect!(b, hipMemcpyAsync(buffer.pointer, null(), 4, D2D, stream.raw) => VALUE);
    Ok(())
}

fn bad_direction_in_a_stream(b: &Bench) -> Outcome {
    let (buffer, stream) = (b.zeros::<u8>(8)?, b.stream()?);
    let kind = hipMemcpyKind(u32::MAX);
    expect!(b, hipMemcpyAsync(buffer.pointer, buffer.at(4), 4, kind, stream.raw) => DIRECTION);
    Ok(())
}

fn no_bytes_in_a_stream(b: &Bench) -> Outcome {
    let (buffer, stream) = (b.zeros::<u8>(8)?, b.stream()?);
    ok!(b, hipMemcpyAsync(buffer.pointer, buffer.pointer, 0, D2D, stream.raw));
    Ok(())
}

fn past_the_end_in_a_stream(b: &Bench) -> Outcome {
    let (a, c, stream) = (b.zeros::<u8>(4096)?, b.zeros::<u8>(8192)?, b.stream()?);
    expect!(b, hipMemcpyAsync(a.pointer, c.pointer, 4097, D2D, stream.raw) => VALUE);
    Ok(())
}

/// The call may read the values at once, or wait until the stream reaches the copy, so another thread opens
/// the gate.
fn pageable_memory_may_change_after_the_call(b: &Bench) -> Outcome {
    let (buffer, stream, gate) = (b.zeros::<i32>(4)?, b.stream_with(hipStreamNonBlocking)?, Gate::new());
    let mut values = [1, 2, 3, 4];
    gate.hold(b, stream.raw)?;
    let copy = || {
        ok!(b, hipMemcpyAsync(buffer.pointer, values.as_ptr().cast(), 16, H2D, stream.raw));
        values.fill(-1);
        std::hint::black_box(&values);
        Ok(())
    };
    gate.open_after(copy, || ()).0?;
    ok!(b, hipStreamSynchronize(stream.raw));
    same_all("the buffer", &buffer.read()?, &[1, 2, 3, 4])
}

fn pinned_memory_is_read_when_the_stream_gets_there(b: &Bench) -> Outcome {
    let (buffer, stream, gate) = (b.zeros::<i32>(1)?, b.stream_with(hipStreamNonBlocking)?, Gate::new());
    let pinned = b.pinned::<i32>(1)?;
    gate.hold(b, stream.raw)?;
    ok!(b, hipMemcpyAsync(buffer.pointer, pinned.pointer, 4, H2D, stream.raw));
    pinned.write(&[42]);
    gate.open();
    ok!(b, hipStreamSynchronize(stream.raw));
    same_all("the buffer", &buffer.read()?, &[42])
}

fn a_large_pageable_one(b: &Bench) -> Outcome {
    let values: Vec<i32> = (0..6_000_000).collect();
    let (buffer, stream) = (b.zeros::<i32>(values.len())?, b.stream_with(hipStreamNonBlocking)?);
    ok!(b, hipMemcpyAsync(buffer.pointer, values.as_ptr().cast(), buffer.bytes(), H2D, stream.raw));
    ok!(b, hipStreamSynchronize(stream.raw));
    same_all("the buffer", &buffer.read()?, &values)
}

fn follows_the_work_before_it(b: &Bench) -> Outcome {
    let (a, c, stream) = (b.zeros::<i32>(2)?, b.zeros::<i32>(2)?, b.stream()?);
    ok!(b, hipMemsetD32Async(a.pointer, 5, 2, stream.raw));
    ok!(b, hipMemcpyDtoDAsync(c.pointer, a.pointer, 8, stream.raw));
    ok!(b, hipMemsetD32Async(a.pointer, 6, 2, stream.raw); hipStreamSynchronize(stream.raw));
    same_all("the copy", &c.read()?, &[5, 5])?;
    same_all("the source", &a.read()?, &[6, 6])
}

fn a_plain_copy_waits_for_the_null_stream(b: &Bench) -> Outcome {
    let (buffer, mut values) = (b.zeros::<i32>(1000)?, [0_i32; 1000]);
    ok!(b, hipMemsetD32Async(buffer.pointer, 3, 1000, NULL));
    ok!(b, hipMemcpy(address(&mut values), buffer.pointer, 4000, D2H));
    same_all("the values", &values, &[3; 1000])
}

fn a_plain_copy_waits_for_blocking_streams(b: &Bench) -> Outcome {
    let (buffer, stream, mut values) = (b.zeros::<i32>(1000)?, b.stream()?, [0_i32; 1000]);
    ok!(b, hipMemsetD32Async(buffer.pointer, 4, 1000, stream.raw));
    ok!(b, hipMemcpy(address(&mut values), buffer.pointer, 4000, D2H));
    same_all("the values", &values, &[4; 1000])
}
