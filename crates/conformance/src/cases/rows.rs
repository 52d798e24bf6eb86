//! Copies of rows with pitches, and fills.

use super::prelude::*;

pub(crate) const CASES: &[Case] = cases!(
    "memory/rows": to_the_device, to_the_host, between_buffers, without_gaps, the_last_row_need_not_fill_its_pitch,
    no_width, no_height, pitch_of_the_destination, pitch_of_the_source, null_destination, null_source,
    past_the_end, bad_direction
);
pub(crate) const FILLS: &[Case] = cases!(
    "memory/fill": bytes, the_low_byte_counts, bytes_in_a_stream, width_8, width_16, width_32, a_part, nothing,
    null_output, null_output_in_a_stream, a_plain_host_pointer, a_plain_host_pointer_in_a_stream,
    past_the_end_of_a_fill, pinned_memory, a_large_fill, fills_are_ordered
);

/// Three rows of four bytes with a pitch of 10, in a host array of 30.
fn host() -> Vec<u8> {
    (0..30).collect()
}

/// Those rows with a pitch of `pitch`, among zeros.
fn rows(pitch: usize, total: usize) -> Vec<u8> {
    let mut out = vec![0; total];
    for row in 0..3 {
        for column in 0..4 {
            out[pitch * row + column] = (10 * row + column) as u8;
        }
    }
    out
}

fn to_the_device(b: &Bench) -> Outcome {
    let (buffer, host, s) = (b.zeros::<u8>(48)?, host(), b.stream()?);
    ok!(b, hipMemcpy2DAsync(buffer.pointer, 16, host.as_ptr().cast(), 10, 4, 3, H2D, s.raw));
    ok!(b, hipStreamSynchronize(s.raw));
    same_all("the buffer", &buffer.read()?, &rows(16, 48))
}

fn to_the_host(b: &Bench) -> Outcome {
    let (buffer, pinned, s) = (b.buffer(&host())?, b.pinned::<u8>(21)?, b.stream()?);
    ok!(b, hipMemcpy2DAsync(pinned.pointer, 7, buffer.pointer, 10, 4, 3, D2H, s.raw));
    ok!(b, hipStreamSynchronize(s.raw));
    same_all("the host's rows", &pinned.read(), &rows(7, 21))
}

fn between_buffers(b: &Bench) -> Outcome {
    let (from, to, s) = (b.buffer(&host())?, b.zeros::<u8>(18)?, b.stream()?);
    ok!(b, hipMemcpy2DAsync(to.pointer, 6, from.pointer, 10, 4, 3, D2D, s.raw); hipStreamSynchronize(s.raw));
    same_all("the destination", &to.read()?, &rows(6, 18))
}

fn without_gaps(b: &Bench) -> Outcome {
    let (from, to, s) = (b.buffer(&host())?, b.zeros::<u8>(30)?, b.stream()?);
    ok!(b, hipMemcpy2DAsync(to.pointer, 10, from.pointer, 10, 10, 3, ANY, s.raw); hipStreamSynchronize(s.raw));
    same_all("the destination", &to.read()?, &host())
}

fn the_last_row_need_not_fill_its_pitch(b: &Bench) -> Outcome {
    let (buffer, host, s) = (b.zeros::<u8>(36)?, host(), b.stream()?);
    ok!(b, hipMemcpy2DAsync(buffer.pointer, 16, host.as_ptr().cast(), 10, 4, 3, H2D, s.raw));
    ok!(b, hipStreamSynchronize(s.raw));
    same_all("the buffer", &buffer.read()?, &rows(16, 36))
}

fn no_width(b: &Bench) -> Outcome {
    let (buffer, host) = (b.zeros::<u8>(48)?, host());
    ok!(b, hipMemcpy2DAsync(buffer.pointer, 16, host.as_ptr().cast(), 10, 0, 3, H2D, NULL));
    same_all("the buffer", &buffer.read()?, &[0; 48])
}

fn no_height(b: &Bench) -> Outcome {
    let (buffer, host) = (b.zeros::<u8>(48)?, host());
    ok!(b, hipMemcpy2DAsync(buffer.pointer, 16, host.as_ptr().cast(), 10, 4, 0, H2D, NULL));
    same_all("the buffer", &buffer.read()?, &[0; 48])
}

fn pitch_of_the_destination(b: &Bench) -> Outcome {
    let (buffer, host) = (b.zeros::<u8>(48)?, host());
    expect!(b, hipMemcpy2DAsync(buffer.pointer, 3, host.as_ptr().cast(), 10, 4, 3, H2D, NULL) => PITCH);
    Ok(())
}

fn pitch_of_the_source(b: &Bench) -> Outcome {
    let (buffer, host) = (b.zeros::<u8>(48)?, host());
    expect!(b, hipMemcpy2DAsync(buffer.pointer, 16, host.as_ptr().cast(), 3, 4, 3, H2D, NULL) => PITCH);
    Ok(())
}

fn null_destination(b: &Bench) -> Outcome {
    let buffer = b.zeros::<u8>(48)?;
    expect!(b, hipMemcpy2DAsync(null_mut(), 16, buffer.pointer, 10, 4, 3, D2D, NULL) => VALUE);
    Ok(())
}

fn null_source(b: &Bench) -> Outcome {
    let buffer = b.zeros::<u8>(48)?;
    expect!(b, hipMemcpy2DAsync(buffer.pointer, 16, null(), 10, 4, 3, D2D, NULL) => VALUE);
    Ok(())
}

fn past_the_end(b: &Bench) -> Outcome {
    let (small, large) = (b.zeros::<u8>(4096)?, b.zeros::<u8>(8192)?);
    expect!(b, hipMemcpy2DAsync(small.pointer, 1024, large.pointer, 1024, 1000, 5, D2D, NULL) => VALUE);
    Ok(())
}

fn bad_direction(b: &Bench) -> Outcome {
    let (buffer, kind) = (b.zeros::<u8>(48)?, hipMemcpyKind(u32::MAX));
    expect!(b, hipMemcpy2DAsync(buffer.pointer, 16, buffer.pointer, 16, 4, 1, kind, NULL) => DIRECTION);
    Ok(())
}

fn bytes(b: &Bench) -> Outcome {
    let buffer = b.zeros::<u8>(100)?;
    ok!(b, hipMemset(buffer.pointer, 0xab, 100));
    same_all("the buffer", &buffer.read()?, &[0xab; 100])
}

fn the_low_byte_counts(b: &Bench) -> Outcome {
    let buffer = b.zeros::<u8>(12)?;
    ok!(b, hipMemset(buffer.pointer, 0x1234_56ff, 12));
    same_all("the buffer", &buffer.read()?, &[0xff; 12])
}

fn bytes_in_a_stream(b: &Bench) -> Outcome {
    let (buffer, stream) = (b.zeros::<u8>(100)?, b.stream_with(hipStreamNonBlocking)?);
    ok!(b, hipMemsetAsync(buffer.pointer, 9, 100, stream.raw); hipStreamSynchronize(stream.raw));
    same_all("the buffer", &buffer.read()?, &[9; 100])
}

fn width_8(b: &Bench) -> Outcome {
    let (buffer, stream) = (b.zeros::<u8>(5)?, b.stream()?);
    ok!(b, hipMemsetD8Async(buffer.at(1), 3, 3, stream.raw); hipStreamSynchronize(stream.raw));
    same_all("the buffer", &buffer.read()?, &[0, 3, 3, 3, 0])
}

fn width_16(b: &Bench) -> Outcome {
    let (buffer, stream) = (b.zeros::<u16>(5)?, b.stream()?);
    ok!(b, hipMemsetD16Async(buffer.at(1), 0x0102, 3, stream.raw); hipStreamSynchronize(stream.raw));
    same_all("the buffer", &buffer.read()?, &[0, 0x0102, 0x0102, 0x0102, 0])
}

fn width_32(b: &Bench) -> Outcome {
    let (buffer, stream) = (b.zeros::<i32>(5)?, b.stream()?);
    ok!(b, hipMemsetD32Async(buffer.at(1), 0x0403_0201, 3, stream.raw); hipStreamSynchronize(stream.raw));
    same_all("the buffer", &buffer.read()?, &[0, 0x0403_0201, 0x0403_0201, 0x0403_0201, 0])
}

fn a_part(b: &Bench) -> Outcome {
    let buffer = b.filled(10, 1_u8)?;
    ok!(b, hipMemset(buffer.at(3), 2, 4));
    same_all("the buffer", &buffer.read()?, &[1, 1, 1, 2, 2, 2, 2, 1, 1, 1])
}

fn nothing(b: &Bench) -> Outcome {
    let buffer = b.filled(4, 1_u8)?;
    ok!(b, hipMemset(buffer.pointer, 2, 0); hipMemsetD32Async(buffer.pointer, 2, 0, NULL));
    same_all("the buffer", &buffer.read()?, &[1; 4])
}

fn null_output(b: &Bench) -> Outcome {
    expect!(b, hipMemset(null_mut(), 0, 4) => VALUE);
    Ok(())
}

fn null_output_in_a_stream(b: &Bench) -> Outcome {
    expect!(b,
        hipMemsetAsync(null_mut(), 0, 4, NULL) => VALUE;
        hipMemsetD8Async(null_mut(), 0, 4, NULL) => VALUE;
        hipMemsetD16Async(null_mut(), 0, 4, NULL) => VALUE;
        hipMemsetD32Async(null_mut(), 0, 4, NULL) => VALUE;
    );
    Ok(())
}

fn a_plain_host_pointer(b: &Bench) -> Outcome {
    let mut own = 77_u64;
    expect!(b, hipMemset((&raw mut own).cast(), 0, 8) => VALUE);
    same("the memory", own, 77)
}

fn a_plain_host_pointer_in_a_stream(b: &Bench) -> Outcome {
    let mut own = 77_u64;
    expect!(b, hipMemsetAsync((&raw mut own).cast(), 0, 8, NULL) => VALUE);
    same("the memory", own, 77)
}

fn past_the_end_of_a_fill(b: &Bench) -> Outcome {
    let buffer = b.filled(4096, 1_u8)?;
    expect!(b, hipMemset(buffer.at(1), 0, 4096) => VALUE);
    same_all("the buffer", &buffer.read()?, &[1; 4096])
}

fn pinned_memory(b: &Bench) -> Outcome {
    let pinned = b.pinned::<u8>(8)?;
    ok!(b, hipMemset(pinned.pointer, 5, 8); hipDeviceSynchronize());
    same_all("the memory", &pinned.read(), &[5; 8])
}

fn a_large_fill(b: &Bench) -> Outcome {
    let buffer = b.zeros::<u16>(5_000_001)?;
    ok!(b, hipMemsetD16Async(buffer.pointer, 0xbeef, 5_000_001, NULL));
    ensure(buffer.read()?.iter().all(|value| *value == 0xbeef), "some value is another")
}

fn fills_are_ordered(b: &Bench) -> Outcome {
    let (buffer, stream) = (b.zeros::<i32>(8)?, b.stream()?);
    for value in 1..=200 {
        ok!(b, hipMemsetD32Async(buffer.pointer, value, 8, stream.raw));
    }
    ok!(b, hipStreamSynchronize(stream.raw));
    same_all("the buffer", &buffer.read()?, &[200; 8])
}
