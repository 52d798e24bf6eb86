//! Streams: creation and destruction, asynchrony, order, overlap, and special handles.

use super::prelude::*;

pub(crate) const CASES: &[Case] = cases!(
    "stream/create": null_output, unknown_flag, flags_are_told, flags_null_output, priority_is_0, priority_null_output,
    priorities_are_told, priorities_are_clamped, mask_of_no_words, mask_of_nothing, with_a_mask
);
pub(crate) const DESTROY: &[Case] = cases!(
    "stream/destroy": nothing, twice, then_synchronize, then_query, then_flags, then_record, its_work_is_finished
);
pub(crate) const BUSY: &[Case] = cases!(
    "stream/busy": query_says_so, query_of_an_idle_one, a_fill_returns_before_it_runs, a_copy_returns_before_it_runs,
    a_launch_returns_before_it_runs, synchronize_waits, synchronize_waits_for_its_own_alone,
    the_device_waits_for_all
);
pub(crate) const OVERLAP: &[Case] = cases!(
    "stream/overlap": two_host_functions, work_beside_a_held_stream, a_kernel_beside_a_held_stream
);
pub(crate) const NULL_STREAM: &[Case] = cases!(
    "stream/null": waits_for_blocking_streams, blocking_streams_wait_for_it, others_do_not_wait_for_it,
    it_does_not_wait_for_others, busy_with_a_blocking_stream, synchronize_includes_blocking_streams,
    legacy_is_another_name, the_threads_own_is_blocking
);

fn null_output(b: &Bench) -> Outcome {
    expect!(b, hipStreamCreateWithFlags(null_mut(), 0) => VALUE);
    Ok(())
}

fn unknown_flag(b: &Bench) -> Outcome {
    let mut stream = null_mut();
    expect!(b,
        hipStreamCreateWithFlags(&mut stream, 2) => VALUE;
        hipStreamCreateWithFlags(&mut stream, 0xff) => VALUE;
    );
    Ok(())
}

fn flags_are_told(b: &Bench) -> Outcome {
    for flags in [hipStreamDefault, hipStreamNonBlocking] {
        let (stream, mut reported) = (b.stream_with(flags)?, 77);
        ok!(b, hipStreamGetFlags(stream.raw, &mut reported));
        same("the flags", reported, flags)?;
    }
    Ok(())
}

fn flags_null_output(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    expect!(b, hipStreamGetFlags(stream.raw, null_mut()) => VALUE);
    Ok(())
}

fn priority_is_0(b: &Bench) -> Outcome {
    let (stream, mut priority) = (b.stream()?, 77);
    ok!(b, hipStreamGetPriority(stream.raw, &mut priority));
    same("the priority", priority, 0)
}

fn priority_null_output(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    expect!(b, hipStreamGetPriority(stream.raw, null_mut()) => VALUE);
    Ok(())
}

/// Requests a priority and returns the actual one.
fn priority_of(b: &Bench, asked: i32) -> Result<i32, Failure> {
    let (mut stream, mut given) = (null_mut(), 77);
    ok!(b, hipStreamCreateWithPriority(&mut stream, 0, asked); hipStreamGetPriority(stream, &mut given));
    ok!(b, hipStreamDestroy(stream));
    Ok(given)
}

fn priorities_are_told(b: &Bench) -> Outcome {
    let (mut least, mut greatest) = (0, 0);
    ok!(b, hipDeviceGetStreamPriorityRange(&mut least, &mut greatest));
    for priority in greatest..=least {
        same("the priority", priority_of(b, priority)?, priority)?;
    }
    Ok(())
}

fn priorities_are_clamped(b: &Bench) -> Outcome {
    let (mut least, mut greatest) = (0, 0);
    ok!(b, hipDeviceGetStreamPriorityRange(&mut least, &mut greatest));
    same("beyond the least", priority_of(b, least + 5)?, least)?;
    same("beyond the greatest", priority_of(b, greatest - 5)?, greatest)
}

fn mask_of_no_words(b: &Bench) -> Outcome {
    let (mut stream, mask) = (null_mut(), [1_u32]);
    expect!(b, hipExtStreamCreateWithCUMask(&mut stream, 0, mask.as_ptr()) => VALUE);
    Ok(())
}

fn mask_of_nothing(b: &Bench) -> Outcome {
    let mut stream = null_mut();
    expect!(b, hipExtStreamCreateWithCUMask(&mut stream, 1, null()) => VALUE);
    Ok(())
}

fn with_a_mask(b: &Bench) -> Outcome {
    let (mut stream, mask, buffer) = (null_mut(), [1_u32], b.zeros::<u8>(4)?);
    ok!(b, hipExtStreamCreateWithCUMask(&mut stream, 1, mask.as_ptr()));
    ok!(b, hipMemsetAsync(buffer.pointer, 5, 4, stream); hipStreamSynchronize(stream); hipStreamDestroy(stream));
    same_all("the buffer", &buffer.read()?, &[5; 4])
}

fn nothing(b: &Bench) -> Outcome {
    expect!(b, hipStreamDestroy(null_mut()) => HANDLE);
    Ok(())
}

/// A destroyed stream.
fn destroyed(b: &Bench) -> Result<hipStream_t, Failure> {
    let mut stream = null_mut();
    ok!(b, hipStreamCreateWithFlags(&mut stream, 0); hipStreamDestroy(stream));
    Ok(stream)
}

fn twice(b: &Bench) -> Outcome {
    let stream = destroyed(b)?;
    expect!(b, hipStreamDestroy(stream) => DESTROYED);
    Ok(())
}

fn then_synchronize(b: &Bench) -> Outcome {
    let stream = destroyed(b)?;
    expect!(b, hipStreamSynchronize(stream) => DESTROYED);
    Ok(())
}

fn then_query(b: &Bench) -> Outcome {
    let stream = destroyed(b)?;
    expect!(b, hipStreamQuery(stream) => DESTROYED);
    Ok(())
}

fn then_flags(b: &Bench) -> Outcome {
    let (stream, mut flags, mut priority) = (destroyed(b)?, 0, 0);
    expect!(b, hipStreamGetFlags(stream, &mut flags) => DESTROYED);
    expect!(b, hipStreamGetPriority(stream, &mut priority) => DESTROYED);
    Ok(())
}

fn then_record(b: &Bench) -> Outcome {
    let (stream, event) = (destroyed(b)?, b.event()?);
    expect!(b, hipEventRecord(event.raw, stream) => DESTROYED);
    expect!(b, hipStreamWaitEvent(stream, event.raw, 0) => DESTROYED);
    Ok(())
}

fn its_work_is_finished(b: &Bench) -> Outcome {
    let (mut stream, gate, pinned) = (null_mut(), Gate::new(), b.pinned::<i32>(1)?);
    ok!(b, hipStreamCreateWithFlags(&mut stream, hipStreamNonBlocking));
    gate.hold(b, stream)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 9, 1, stream));
    soon("the stream at the gate", || gate.arrived() == 1)?;
    // Destroying may wait or not, so another thread opens the gate.
    let door = std::thread::spawn(move || gate.open());
    ok!(b, hipStreamDestroy(stream));
    ensure(door.join().is_ok(), "the gate did not open")?;
    b.sync()?;
    same("the value", pinned.get(0), 9)
}

fn query_says_so(b: &Bench) -> Outcome {
    let (stream, gate) = (b.stream()?, Gate::new());
    gate.hold(b, stream.raw)?;
    expect!(b, hipStreamQuery(stream.raw) => NOT_READY);
    gate.open();
    ok!(b, hipStreamSynchronize(stream.raw); hipStreamQuery(stream.raw));
    Ok(())
}

fn query_of_an_idle_one(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    ok!(b, hipStreamQuery(stream.raw); hipStreamQuery(NULL));
    Ok(())
}

fn a_fill_returns_before_it_runs(b: &Bench) -> Outcome {
    let (stream, gate, pinned) = (b.stream()?, Gate::new(), b.pinned::<i32>(1)?);
    gate.hold(b, stream.raw)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 7, 1, stream.raw));
    same("the value while the stream is held", pinned.get(0), 0)?;
    gate.open();
    ok!(b, hipStreamSynchronize(stream.raw));
    same("the value afterwards", pinned.get(0), 7)
}

fn a_copy_returns_before_it_runs(b: &Bench) -> Outcome {
    let (stream, gate, pinned, from) = (b.stream()?, Gate::new(), b.pinned::<i32>(1)?, b.buffer(&[7])?);
    gate.hold(b, stream.raw)?;
    ok!(b, hipMemcpyAsync(pinned.pointer, from.pointer, 4, D2H, stream.raw));
    same("the value while the stream is held", pinned.get(0), 0)?;
    gate.open();
    ok!(b, hipStreamSynchronize(stream.raw));
    same("the value afterwards", pinned.get(0), 7)
}

fn a_launch_returns_before_it_runs(b: &Bench) -> Outcome {
    let (write, gate, pinned) = (b.function("basic", "write_one")?, Gate::new(), b.pinned::<i32>(1)?);
    for flags in [hipStreamDefault, hipStreamNonBlocking] {
        let (stream, gate) = (b.stream_with(flags)?, Gate::new());
        pinned.write(&[0]);
        gate.hold(b, stream.raw)?;
        b.launch_on(stream.raw, &write, grid(1, 1), args![&pinned, 7])?;
        same("the value while the stream is held", pinned.get(0), 0)?;
        expect!(b, hipStreamQuery(stream.raw) => NOT_READY);
        gate.open();
        ok!(b, hipStreamSynchronize(stream.raw));
        same("the value afterwards", pinned.get(0), 7)?;
    }
    drop(gate);
    Ok(())
}

/// Waits on another thread, so that this one can open the gate once the wait has begun.
fn wait_elsewhere(b: &Bench, stream: usize, gate: &Gate) -> Result<u32, Failure> {
    let hip = b.hip().clone();
    let wait = std::thread::spawn(move || {
        // SAFETY: S1: the stream lives until this thread has ended.
        unsafe { (hip.hipStreamSynchronize)(stream as hipStream_t) }.0
    });
    soon("the stream at the gate", || gate.arrived() == 1)?;
    gate.open();
    wait.join().map_err(|_| Failure::wrong("the waiting thread panicked"))
}

fn synchronize_waits(b: &Bench) -> Outcome {
    let (stream, gate, pinned) = (b.stream()?, Gate::new(), b.pinned::<i32>(1)?);
    gate.hold(b, stream.raw)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 7, 1, stream.raw));
    let code = wait_elsewhere(b, stream.raw as usize, &gate)?;
    b.expect(code, SUCCESS, "hipStreamSynchronize")?;
    same("the value", pinned.get(0), 7)
}

fn synchronize_waits_for_its_own_alone(b: &Bench) -> Outcome {
    let (held, free, gate) = (b.stream()?, b.stream()?, Gate::new());
    let pinned = b.pinned::<i32>(1)?;
    gate.hold(b, held.raw)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 3, 1, free.raw); hipStreamSynchronize(free.raw));
    same("the value", pinned.get(0), 3)?;
    expect!(b, hipStreamQuery(held.raw) => NOT_READY);
    Ok(())
}

fn the_device_waits_for_all(b: &Bench) -> Outcome {
    let (x, y, pinned) = (b.stream()?, b.stream_with(hipStreamNonBlocking)?, b.pinned::<i32>(3)?);
    for (index, stream) in [x.raw, y.raw, NULL].into_iter().enumerate() {
        let word = pinned.pointer.wrapping_byte_add(4 * index);
        ok!(b, hipMemsetD32Async(word, index as i32 + 1, 1, stream));
    }
    b.sync()?;
    same_all("the values", &pinned.read(), &[1, 2, 3])
}

/// Both functions are at the gate at once, which is impossible with one thread for all streams.
fn two_host_functions(b: &Bench) -> Outcome {
    let (x, y, gate) = (b.stream()?, b.stream()?, Gate::new());
    gate.hold(b, x.raw)?;
    gate.hold(b, y.raw)?;
    soon("two streams at the gate", || gate.arrived() == 2)?;
    same("streams through the gate", gate.passed(), 0)?;
    gate.open();
    b.sync()?;
    same("streams through the gate", gate.passed(), 2)
}

fn work_beside_a_held_stream(b: &Bench) -> Outcome {
    let (held, gate, pinned) = (b.stream()?, Gate::new(), b.pinned::<i32>(8)?);
    gate.hold(b, held.raw)?;
    for index in 0..8 {
        let (stream, word) = (b.stream()?, pinned.pointer.wrapping_byte_add(4 * index));
        ok!(b, hipMemsetD32Async(word, index as i32, 1, stream.raw); hipStreamSynchronize(stream.raw));
    }
    same_all("the values", &pinned.read(), &[0, 1, 2, 3, 4, 5, 6, 7])?;
    same("streams through the gate", gate.passed(), 0)
}

fn a_kernel_beside_a_held_stream(b: &Bench) -> Outcome {
    let write = b.function("basic", "write_one")?;
    let (held, free, gate, pinned) = (b.stream()?, b.stream()?, Gate::new(), b.pinned::<i32>(1)?);
    gate.hold(b, held.raw)?;
    b.launch_on(free.raw, &write, grid(1, 1), args![&pinned, 3])?;
    ok!(b, hipStreamSynchronize(free.raw));
    same("the value", pinned.get(0), 3)?;
    same("streams through the gate", gate.passed(), 0)
}

fn waits_for_blocking_streams(b: &Bench) -> Outcome {
    let (stream, gate, pinned) = (b.stream()?, Gate::new(), b.pinned::<i32>(1)?);
    gate.hold(b, stream.raw)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 1, 1, NULL));
    soon("the stream at the gate", || gate.arrived() == 1)?;
    same("the value while the stream is held", pinned.get(0), 0)?;
    gate.open();
    b.sync()?;
    same("the value afterwards", pinned.get(0), 1)
}

fn blocking_streams_wait_for_it(b: &Bench) -> Outcome {
    let (stream, gate, pinned) = (b.stream()?, Gate::new(), b.pinned::<i32>(1)?);
    gate.hold(b, NULL)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 1, 1, stream.raw));
    soon("the null stream at the gate", || gate.arrived() == 1)?;
    same("the value while the null stream is held", pinned.get(0), 0)?;
    expect!(b, hipStreamQuery(stream.raw) => NOT_READY);
    gate.open();
    ok!(b, hipStreamSynchronize(stream.raw));
    same("the value afterwards", pinned.get(0), 1)
}

fn others_do_not_wait_for_it(b: &Bench) -> Outcome {
    let (stream, gate, pinned) = (b.stream_with(hipStreamNonBlocking)?, Gate::new(), b.pinned::<i32>(1)?);
    gate.hold(b, NULL)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 1, 1, stream.raw); hipStreamSynchronize(stream.raw));
    same("the value, and streams through the gate", (pinned.get(0), gate.passed()), (1, 0))
}

fn it_does_not_wait_for_others(b: &Bench) -> Outcome {
    let (stream, gate, pinned) = (b.stream_with(hipStreamNonBlocking)?, Gate::new(), b.pinned::<i32>(1)?);
    gate.hold(b, stream.raw)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 1, 1, NULL); hipStreamSynchronize(NULL));
    same("the value, and streams through the gate", (pinned.get(0), gate.passed()), (1, 0))
}

/// The null stream is busy while it would have to wait for a blocking stream.
fn busy_with_a_blocking_stream(b: &Bench) -> Outcome {
    let (stream, gate, pinned) = (b.stream()?, Gate::new(), b.pinned::<i32>(1)?);
    gate.hold(b, stream.raw)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 1, 1, NULL));
    expect!(b, hipStreamQuery(NULL) => NOT_READY);
    Ok(())
}

fn synchronize_includes_blocking_streams(b: &Bench) -> Outcome {
    let (stream, gate, pinned) = (b.stream()?, Gate::new(), b.pinned::<i32>(1)?);
    gate.hold(b, stream.raw)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 6, 1, stream.raw));
    let code = wait_elsewhere_on_this_device(b, &gate)?;
    b.expect(code, SUCCESS, "hipStreamSynchronize of the null stream")?;
    same("the value", pinned.get(0), 6)
}

/// Waits for the null stream of the device under test on another thread; opens the gate meanwhile.
fn wait_elsewhere_on_this_device(b: &Bench, gate: &Gate) -> Result<u32, Failure> {
    let (hip, device) = (b.hip().clone(), b.device());
    let wait = std::thread::spawn(move || {
        // SAFETY: S1: the null stream is always there.
        unsafe {
            (hip.hipSetDevice)(device);
            (hip.hipStreamSynchronize)(NULL).0
        }
    });
    soon("the stream at the gate", || gate.arrived() == 1)?;
    gate.open();
    wait.join().map_err(|_| Failure::wrong("the waiting thread panicked"))
}

/// Handle 1 is the null stream with legacy semantics.
fn legacy_is_another_name(b: &Bench) -> Outcome {
    let (gate, pinned, legacy) = (Gate::new(), b.pinned::<i32>(1)?, 1 as hipStream_t);
    gate.hold(b, legacy)?;
    expect!(b, hipStreamQuery(NULL) => NOT_READY);
    ok!(b, hipMemsetD32Async(pinned.pointer, 1, 1, NULL));
    same("the value while it is held", pinned.get(0), 0)?;
    gate.open();
    ok!(b, hipStreamSynchronize(NULL));
    same("the value afterwards", pinned.get(0), 1)
}

/// Handle 2 is the per-thread stream, which synchronises with the null stream like other blocking streams.
fn the_threads_own_is_blocking(b: &Bench) -> Outcome {
    let (gate, pinned, own) = (Gate::new(), b.pinned::<i32>(1)?, 2 as hipStream_t);
    gate.hold(b, NULL)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 5, 1, own));
    expect!(b, hipStreamQuery(own) => NOT_READY);
    same("the value while the null stream is held", pinned.get(0), 0)?;
    gate.open();
    ok!(b, hipStreamSynchronize(own));
    same("the value afterwards", pinned.get(0), 5)
}
