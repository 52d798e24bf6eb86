//! Events: flags, recording, waiting, order between streams, and time.

use super::prelude::*;

pub(crate) const CASES: &[Case] = cases!(
    "event/create": null_output, unknown_flag, between_processes_with_timing, both_releases, with_blocking_sync,
    destroy_nothing, destroy_twice, after_destruction, destroyed_while_pending
);
pub(crate) const RECORD: &[Case] = cases!(
    "event/record": nothing, query_nothing, synchronize_nothing, never_recorded_is_ready, pending_until_reached,
    synchronize_waits, again_moves_it, on_another_devices_stream, outlives_its_stream
);
pub(crate) const WAIT: &[Case] = cases!(
    "event/wait": for_nothing, unknown_flags, never_recorded_is_no_wait, orders_two_streams,
    what_was_recorded_then_counts, does_not_hold_the_caller, across_devices, a_chain_through_streams
);
pub(crate) const TIME: &[Case] = cases!(
    "event/elapsed": null_result, null_start, null_stop, without_timing, pending, never_recorded, of_itself,
    backwards_is_negative, grows_with_the_work, holds_what_happened_between
);

fn null_output(b: &Bench) -> Outcome {
    expect!(b, hipEventCreateWithFlags(null_mut(), 0) => VALUE);
    Ok(())
}

fn unknown_flag(b: &Bench) -> Outcome {
    let mut event = null_mut();
    expect!(b, hipEventCreateWithFlags(&mut event, 0x0800_0000) => VALUE);
    Ok(())
}

fn between_processes_with_timing(b: &Bench) -> Outcome {
    let mut event = null_mut();
    expect!(b, hipEventCreateWithFlags(&mut event, hipEventInterprocess) => VALUE);
    Ok(())
}

fn both_releases(b: &Bench) -> Outcome {
    let mut event = null_mut();
    expect!(b, hipEventCreateWithFlags(&mut event, 0xc000_0000) => VALUE);
    Ok(())
}

fn with_blocking_sync(b: &Bench) -> Outcome {
    let (event, stream) = (b.event_with(hipEventBlockingSync)?, b.stream()?);
    ok!(b, hipEventRecord(event.raw, stream.raw); hipEventSynchronize(event.raw); hipEventQuery(event.raw));
    Ok(())
}

fn destroy_nothing(b: &Bench) -> Outcome {
    expect!(b, hipEventDestroy(null_mut()) => HANDLE);
    Ok(())
}

/// A destroyed event.
fn destroyed(b: &Bench) -> Result<hipEvent_t, Failure> {
    let mut event = null_mut();
    ok!(b, hipEventCreateWithFlags(&mut event, 0); hipEventDestroy(event));
    Ok(event)
}

fn destroy_twice(b: &Bench) -> Outcome {
    let event = destroyed(b)?;
    expect!(b, hipEventDestroy(event) => DESTROYED);
    Ok(())
}

fn after_destruction(b: &Bench) -> Outcome {
    let event = destroyed(b)?;
    expect!(b, hipEventQuery(event) => DESTROYED; hipEventRecord(event, NULL) => DESTROYED);
    Ok(())
}

fn destroyed_while_pending(b: &Bench) -> Outcome {
    let (stream, gate, pinned, mut event) = (b.stream()?, Gate::new(), b.pinned::<i32>(1)?, null_mut());
    ok!(b, hipEventCreateWithFlags(&mut event, 0));
    gate.hold(b, stream.raw)?;
    ok!(b, hipEventRecord(event, stream.raw); hipMemsetD32Async(pinned.pointer, 4, 1, stream.raw));
    soon("the stream at the gate", || gate.arrived() == 1)?;
    // Destroying may wait or not, so another thread opens the gate.
    let door = std::thread::spawn(move || gate.open());
    ok!(b, hipEventDestroy(event); hipStreamSynchronize(stream.raw));
    ensure(door.join().is_ok(), "the gate did not open")?;
    same("the value", pinned.get(0), 4)
}

fn nothing(b: &Bench) -> Outcome {
    expect!(b, hipEventRecord(null_mut(), NULL) => HANDLE);
    Ok(())
}

fn query_nothing(b: &Bench) -> Outcome {
    expect!(b, hipEventQuery(null_mut()) => HANDLE);
    Ok(())
}

fn synchronize_nothing(b: &Bench) -> Outcome {
    expect!(b, hipEventSynchronize(null_mut()) => HANDLE);
    Ok(())
}

fn never_recorded_is_ready(b: &Bench) -> Outcome {
    let event = b.event()?;
    ok!(b, hipEventQuery(event.raw); hipEventSynchronize(event.raw));
    Ok(())
}

fn pending_until_reached(b: &Bench) -> Outcome {
    let (event, stream, gate) = (b.event()?, b.stream()?, Gate::new());
    gate.hold(b, stream.raw)?;
    ok!(b, hipEventRecord(event.raw, stream.raw));
    expect!(b, hipEventQuery(event.raw) => NOT_READY);
    gate.open();
    ok!(b, hipStreamSynchronize(stream.raw); hipEventQuery(event.raw));
    Ok(())
}

fn synchronize_waits(b: &Bench) -> Outcome {
    let (event, stream, gate, pinned) = (b.event()?, b.stream()?, Gate::new(), b.pinned::<i32>(1)?);
    gate.hold(b, stream.raw)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 7, 1, stream.raw); hipEventRecord(event.raw, stream.raw));
    let (hip, raw) = (b.hip().clone(), event.raw as usize);
    let wait = std::thread::spawn(move || {
        // SAFETY: S1: the event lives until this thread has ended.
        unsafe { (hip.hipEventSynchronize)(raw as hipEvent_t) }.0
    });
    soon("the stream at the gate", || gate.arrived() == 1)?;
    gate.open();
    let code = wait.join().map_err(|_| Failure::wrong("the waiting thread panicked"))?;
    b.expect(code, SUCCESS, "hipEventSynchronize")?;
    same("the value", pinned.get(0), 7)
}

/// Recording an event again makes it pending again.
fn again_moves_it(b: &Bench) -> Outcome {
    let (event, stream, gate) = (b.event()?, b.stream()?, Gate::new());
    ok!(b, hipEventRecord(event.raw, stream.raw); hipEventSynchronize(event.raw));
    gate.hold(b, stream.raw)?;
    ok!(b, hipEventRecord(event.raw, stream.raw));
    expect!(b, hipEventQuery(event.raw) => NOT_READY);
    gate.open();
    ok!(b, hipEventSynchronize(event.raw));
    Ok(())
}

fn on_another_devices_stream(b: &Bench) -> Outcome {
    let (other, event) = (b.other_device()?, b.event()?);
    b.set_device(other)?;
    expect!(b, hipEventRecord(event.raw, NULL) => HANDLE);
    Ok(())
}

fn outlives_its_stream(b: &Bench) -> Outcome {
    let event = b.event()?;
    let stream = b.stream()?;
    ok!(b, hipEventRecord(event.raw, stream.raw));
    drop(stream);
    ok!(b, hipEventSynchronize(event.raw); hipEventQuery(event.raw));
    Ok(())
}

fn for_nothing(b: &Bench) -> Outcome {
    expect!(b, hipStreamWaitEvent(NULL, null_mut(), 0) => HANDLE);
    Ok(())
}

fn unknown_flags(b: &Bench) -> Outcome {
    let event = b.event()?;
    expect!(b, hipStreamWaitEvent(NULL, event.raw, 77) => VALUE);
    Ok(())
}

fn never_recorded_is_no_wait(b: &Bench) -> Outcome {
    let (event, stream) = (b.event()?, b.stream()?);
    ok!(b, hipStreamWaitEvent(stream.raw, event.raw, 0); hipStreamSynchronize(stream.raw));
    Ok(())
}

fn orders_two_streams(b: &Bench) -> Outcome {
    let (x, y) = (b.stream_with(hipStreamNonBlocking)?, b.stream_with(hipStreamNonBlocking)?);
    let (event, gate, pinned) = (b.event()?, Gate::new(), b.pinned::<i32>(1)?);
    gate.hold(b, x.raw)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 1, 1, x.raw); hipEventRecord(event.raw, x.raw));
    ok!(b, hipStreamWaitEvent(y.raw, event.raw, 0); hipMemsetD32Async(pinned.pointer, 2, 1, y.raw));
    soon("the stream at the gate", || gate.arrived() == 1)?;
    expect!(b, hipStreamQuery(y.raw) => NOT_READY);
    same("the value while the first is held", pinned.get(0), 0)?;
    gate.open();
    ok!(b, hipStreamSynchronize(y.raw));
    same("the value afterwards", pinned.get(0), 2)
}

/// A wait refers to the recording at the time of the call: recording the event elsewhere afterwards does not
/// change it.
fn what_was_recorded_then_counts(b: &Bench) -> Outcome {
    let (x, y) = (b.stream_with(hipStreamNonBlocking)?, b.stream_with(hipStreamNonBlocking)?);
    let (free, event, gate) = (b.stream_with(hipStreamNonBlocking)?, b.event()?, Gate::new());
    gate.hold(b, x.raw)?;
    ok!(b, hipEventRecord(event.raw, x.raw); hipStreamWaitEvent(y.raw, event.raw, 0));
    ok!(b, hipEventRecord(event.raw, free.raw); hipEventSynchronize(event.raw));
    expect!(b, hipStreamQuery(y.raw) => NOT_READY);
    gate.open();
    ok!(b, hipStreamSynchronize(y.raw));
    same("streams through the gate", gate.passed(), 1)
}

fn does_not_hold_the_caller(b: &Bench) -> Outcome {
    let (x, y) = (b.stream_with(hipStreamNonBlocking)?, b.stream_with(hipStreamNonBlocking)?);
    let (event, gate) = (b.event()?, Gate::new());
    gate.hold(b, x.raw)?;
    ok!(b, hipEventRecord(event.raw, x.raw); hipStreamWaitEvent(y.raw, event.raw, 0));
    same("streams through the gate", gate.passed(), 0)
}

fn across_devices(b: &Bench) -> Outcome {
    let other = b.other_device()?;
    let (near, event, gate) = (b.stream_with(hipStreamNonBlocking)?, b.event()?, Gate::new());
    let pinned = b.pinned::<i32>(1)?;
    b.set_device(other)?;
    let far = b.stream_with(hipStreamNonBlocking)?;
    gate.hold(b, near.raw)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 1, 1, near.raw); hipEventRecord(event.raw, near.raw));
    ok!(b, hipStreamWaitEvent(far.raw, event.raw, 0); hipMemsetD32Async(pinned.pointer, 2, 1, far.raw));
    soon("the stream at the gate", || gate.arrived() == 1)?;
    same("the value while the first is held", pinned.get(0), 0)?;
    gate.open();
    ok!(b, hipStreamSynchronize(far.raw));
    same("the value afterwards", pinned.get(0), 2)
}

/// Each stream copies what the previous one wrote; only events order them.
fn a_chain_through_streams(b: &Bench) -> Outcome {
    let streams =
        (0..4).map(|_| b.stream_with(hipStreamNonBlocking)).collect::<Result<Vec<Stream<'_>>, Failure>>()?;
    let buffer = b.zeros::<i32>(200)?;
    ok!(b, hipMemsetD32Async(buffer.pointer, 7, 1, streams[0].raw));
    for index in 1..200 {
        let (before, now, event) = (&streams[(index - 1) * 3 % 4], &streams[index * 3 % 4], b.event()?);
        ok!(b, hipEventRecord(event.raw, before.raw); hipStreamWaitEvent(now.raw, event.raw, 0));
        ok!(b, hipMemcpyDtoDAsync(buffer.at(index), buffer.at(index - 1), 4, now.raw));
    }
    b.sync()?;
    same_all("the chain", &buffer.read()?, &[7; 200])
}

fn null_result(b: &Bench) -> Outcome {
    let event = b.event()?;
    ok!(b, hipEventRecord(event.raw, NULL); hipEventSynchronize(event.raw));
    expect!(b, hipEventElapsedTime(null_mut(), event.raw, event.raw) => VALUE);
    Ok(())
}

fn null_start(b: &Bench) -> Outcome {
    let (event, mut time) = (b.event()?, 0.0);
    ok!(b, hipEventRecord(event.raw, NULL); hipEventSynchronize(event.raw));
    expect!(b, hipEventElapsedTime(&mut time, null_mut(), event.raw) => HANDLE);
    Ok(())
}

fn null_stop(b: &Bench) -> Outcome {
    let (event, mut time) = (b.event()?, 0.0);
    ok!(b, hipEventRecord(event.raw, NULL); hipEventSynchronize(event.raw));
    expect!(b, hipEventElapsedTime(&mut time, event.raw, null_mut()) => HANDLE);
    Ok(())
}

fn without_timing(b: &Bench) -> Outcome {
    let (timed, untimed, mut time) = (b.event()?, b.event_with(hipEventDisableTiming)?, 0.0);
    for event in [&timed, &untimed] {
        ok!(b, hipEventRecord(event.raw, NULL); hipEventSynchronize(event.raw));
    }
    expect!(b,
        hipEventElapsedTime(&mut time, timed.raw, untimed.raw) => HANDLE;
        hipEventElapsedTime(&mut time, untimed.raw, timed.raw) => HANDLE;
    );
    Ok(())
}

fn pending(b: &Bench) -> Outcome {
    let (start, stop, stream, gate, mut time) = (b.event()?, b.event()?, b.stream()?, Gate::new(), 0.0);
    ok!(b, hipEventRecord(start.raw, stream.raw));
    gate.hold(b, stream.raw)?;
    ok!(b, hipEventRecord(stop.raw, stream.raw));
    expect!(b, hipEventElapsedTime(&mut time, start.raw, stop.raw) => NOT_READY);
    gate.open();
    ok!(b, hipEventSynchronize(stop.raw); hipEventElapsedTime(&mut time, start.raw, stop.raw));
    Ok(())
}

fn never_recorded(b: &Bench) -> Outcome {
    let (start, stop, mut time) = (b.event()?, b.event()?, 0.0);
    expect!(b, hipEventElapsedTime(&mut time, start.raw, stop.raw) => HANDLE);
    ok!(b, hipEventRecord(start.raw, NULL); hipEventSynchronize(start.raw));
    expect!(b, hipEventElapsedTime(&mut time, start.raw, stop.raw) => HANDLE);
    Ok(())
}

fn of_itself(b: &Bench) -> Outcome {
    let (event, mut time) = (b.event()?, 77.0);
    ok!(b, hipEventRecord(event.raw, NULL); hipEventSynchronize(event.raw));
    ok!(b, hipEventElapsedTime(&mut time, event.raw, event.raw));
    same("the time", time, 0.0)
}

/// Milliseconds between two events around a host function that sleeps.
fn around_a_sleep(b: &Bench, milliseconds: u64) -> Result<(f32, f32), Failure> {
    unsafe extern "C" fn sleep(milliseconds: *mut c_void) {
        std::thread::sleep(std::time::Duration::from_millis(milliseconds as u64));
    }
    let (start, stop, stream) = (b.event()?, b.event()?, b.stream_with(hipStreamNonBlocking)?);
    let (mut forth, mut back) = (0.0, 0.0);
    ok!(b, hipEventRecord(start.raw, stream.raw));
    ok!(b, hipLaunchHostFunc(stream.raw, Some(sleep), milliseconds as *mut c_void));
    ok!(b, hipEventRecord(stop.raw, stream.raw); hipEventSynchronize(stop.raw));
    ok!(b, hipEventElapsedTime(&mut forth, start.raw, stop.raw));
    ok!(b, hipEventElapsedTime(&mut back, stop.raw, start.raw));
    Ok((forth, back))
}

fn backwards_is_negative(b: &Bench) -> Outcome {
    let (forth, back) = around_a_sleep(b, 5)?;
    ensure(forth > 0.0 && back == -forth, format!("{forth} ms there, {back} ms back"))
}

/// The time is at least as long as the work took, and at most what the host's clock measured. The work is a
/// host function.
fn grows_with_the_work(b: &Bench) -> Outcome {
    let start = std::time::Instant::now();
    let (short, _) = around_a_sleep(b, 2)?;
    let outside = start.elapsed().as_secs_f32() * 1e3;
    let (long, _) = around_a_sleep(b, 200)?;
    ensure(short >= 2.0 && long >= 200.0, format!("{short} ms for 2 ms of sleep, {long} ms for 200 ms"))?;
    ensure(short <= outside * 1.01 + 1.0, format!("{short} ms, {outside} ms by the host's clock"))
}

/// The time is in milliseconds, and at most what the host's clock measured.
fn holds_what_happened_between(b: &Bench) -> Outcome {
    let start = std::time::Instant::now();
    let (time, _) = around_a_sleep(b, 20)?;
    let outside = start.elapsed().as_secs_f32() * 1e3;
    ensure(
        (20.0..=outside * 1.01 + 1.0).contains(&time),
        format!("{time} ms, {outside} ms by the host's clock"),
    )
}
