//! Streams and events: asynchrony, order, the null stream's meaning, time.

#[macro_use]
mod common;

use common::gate::{gate, pinned, read_host, soon, write};
use common::{hip, shape};
use hip_sys::hip::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::time::Duration;

const NOT_READY: u32 = 600;

#[test]
fn a_launch_returns_before_its_kernel_starts() {
    let hip = hip();
    for flags in [hipStreamDefault, hipStreamNonBlocking] {
        let (stream, gate, place) = (hip.stream(flags), gate(), pinned(&hip));
        gate.hold(&hip, stream);
        write(&hip, stream, place, 7);
        assert_eq!(read_host(place), 0);
        assert_eq!(call!(hip, hipStreamQuery(stream)), NOT_READY);
        // "Not ready" is no error to remember.
        assert_eq!(call!(hip, hipGetLastError()), 0);
        gate.release();
        ok!(hip, hipStreamSynchronize(stream));
        assert_eq!(read_host(place), 7);
        ok!(hip, hipStreamQuery(stream));
        ok!(hip, hipStreamDestroy(stream));
        ok!(hip, hipHostFree(place));
    }
}

#[test]
fn two_streams_overlap() {
    let hip = hip();
    let (a, b, gate) = (hip.stream(hipStreamDefault), hip.stream(hipStreamDefault), gate());
    gate.hold(&hip, a);
    gate.hold(&hip, b);
    // Both are at the gate at once, which one thread for all streams could not do.
    assert!(soon(|| gate.reached.load(Ordering::SeqCst) == 2));
    gate.release();
    ok!(hip, hipDeviceSynchronize());
}

#[test]
fn kernels_of_two_streams_overlap() {
    let hip = hip();
    let (a, b, gate, place) =
        (hip.stream(hipStreamDefault), hip.stream(hipStreamDefault), gate(), pinned(&hip));
    gate.hold(&hip, a);
    write(&hip, b, place, 3);
    ok!(hip, hipStreamSynchronize(b));
    assert_eq!(read_host(place), 3);
    assert_eq!(call!(hip, hipStreamQuery(a)), NOT_READY);
    gate.release();
    ok!(hip, hipStreamSynchronize(a));
    ok!(hip, hipHostFree(place));
}

#[test]
fn a_stream_runs_in_order() {
    let hip = hip();
    let (stream, place) = (hip.stream(hipStreamNonBlocking), pinned(&hip));
    for value in 1..=500 {
        write(&hip, stream, place, value);
        ok!(hip, hipMemsetD32Async(place.wrapping_byte_add(4), value, 1, stream));
    }
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!((read_host(place), read_host(place.wrapping_byte_add(4))), (500, 500));
    ok!(hip, hipHostFree(place));
}

#[test]
fn the_null_stream_waits_for_blocking_streams_and_they_for_it() {
    let hip = hip();
    let (blocking, free) = (hip.stream(hipStreamDefault), hip.stream(hipStreamNonBlocking));
    let (place, gate) = (pinned(&hip), gate());
    gate.hold(&hip, blocking);
    write(&hip, null_mut(), place, 1);
    write(&hip, free, place.wrapping_byte_add(4), 2);
    ok!(hip, hipStreamSynchronize(free));
    assert_eq!((read_host(place), read_host(place.wrapping_byte_add(4))), (0, 2));
    assert_eq!(call!(hip, hipStreamQuery(null_mut())), NOT_READY);
    // Another blocking stream waits for the null stream, which waits at the gate.
    let other = hip.stream(hipStreamDefault);
    write(&hip, other, place.wrapping_byte_add(8), 3);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(read_host(place.wrapping_byte_add(8)), 0);
    gate.release();
    ok!(hip, hipStreamSynchronize(other));
    assert_eq!((read_host(place), read_host(place.wrapping_byte_add(8))), (1, 3));
    ok!(hip, hipHostFree(place));
}

#[test]
fn the_handles_1_and_2_are_the_legacy_and_the_threads_own_stream() {
    let hip = hip();
    let (place, gate) = (pinned(&hip), gate());
    let (legacy, per_thread) = (1 as hipStream_t, 2 as hipStream_t);
    gate.hold(&hip, legacy);
    assert_eq!(call!(hip, hipStreamQuery(null_mut())), NOT_READY);
    write(&hip, per_thread, place, 5);
    // The thread's own stream is a blocking one.
    assert_eq!(call!(hip, hipStreamQuery(per_thread)), NOT_READY);
    assert_eq!(read_host(place), 0);
    gate.release();
    ok!(hip, hipStreamSynchronize(per_thread));
    assert_eq!(read_host(place), 5);
    ok!(hip, hipHostFree(place));
}

#[test]
fn a_destroyed_stream_finishes_its_work() {
    let hip = hip();
    let (stream, gate, place) = (hip.stream(hipStreamNonBlocking), gate(), pinned(&hip));
    gate.hold(&hip, stream);
    write(&hip, stream, place, 9);
    ok!(hip, hipStreamDestroy(stream));
    assert_eq!(call!(hip, hipStreamQuery(stream)), 709);
    gate.release();
    ok!(hip, hipDeviceSynchronize());
    assert_eq!(read_host(place), 9);
    ok!(hip, hipHostFree(place));
}

#[test]
fn an_event_orders_two_streams() {
    let hip = hip();
    let (a, b) = (hip.stream(hipStreamNonBlocking), hip.stream(hipStreamNonBlocking));
    let (event, gate, place) = (hip.event(), gate(), pinned(&hip));
    // Never recorded: nothing to wait for.
    ok!(hip, hipStreamWaitEvent(b, event, 0));
    ok!(hip, hipEventQuery(event));
    ok!(hip, hipEventSynchronize(event));
    gate.hold(&hip, a);
    write(&hip, a, place, 1);
    ok!(hip, hipEventRecord(event, a));
    ok!(hip, hipStreamWaitEvent(b, event, 0));
    write(&hip, b, place, 2);
    assert_eq!(call!(hip, hipEventQuery(event)), NOT_READY);
    assert_eq!(call!(hip, hipStreamQuery(b)), NOT_READY);
    // The wait is for what was recorded then: recording again elsewhere does not change it.
    ok!(hip, hipEventRecord(event, null_mut()));
    ok!(hip, hipEventSynchronize(event));
    assert_eq!(call!(hip, hipStreamQuery(b)), NOT_READY);
    gate.release();
    ok!(hip, hipStreamSynchronize(b));
    assert_eq!(read_host(place), 2);
    ok!(hip, hipEventDestroy(event));
    ok!(hip, hipHostFree(place));
}

#[test]
fn time_between_events_grows_with_the_work() {
    let hip = hip();
    let stream = hip.stream(hipStreamNonBlocking);
    let function = hip.function("test_plain", "spin");
    let elapsed = |milliseconds: u64| {
        let (start, stop, mut nanoseconds) = (hip.event(), hip.event(), milliseconds * 1_000_000);
        ok!(hip, hipEventRecord(start, stream));
        hip.launch(function, shape(1, 1), stream, arguments![nanoseconds]);
        ok!(hip, hipEventRecord(stop, stream));
        let mut time = 0.0;
        ok!(hip, hipEventSynchronize(stop));
        ok!(hip, hipEventElapsedTime(&mut time, start, stop));
        let mut back = 0.0;
        ok!(hip, hipEventElapsedTime(&mut back, stop, start));
        assert_eq!(back, -time);
        time
    };
    let (short, long) = (elapsed(5), elapsed(40));
    assert!((5.0..1000.0).contains(&short), "{short}");
    assert!(long >= 40.0 && long > short, "{short} {long}");
}

#[test]
fn elapsed_time_of_pending_and_unrecorded_events() {
    let hip = hip();
    let (start, stop, stream, gate) = (hip.event(), hip.event(), hip.stream(hipStreamNonBlocking), gate());
    let mut time = 0.0;
    assert_eq!(call!(hip, hipEventElapsedTime(&mut time, start, stop)), 400);
    ok!(hip, hipEventRecord(start, stream));
    assert_eq!(call!(hip, hipEventElapsedTime(&mut time, start, stop)), 400);
    gate.hold(&hip, stream);
    ok!(hip, hipEventRecord(stop, stream));
    assert_eq!(call!(hip, hipEventElapsedTime(&mut time, start, stop)), NOT_READY);
    gate.release();
    ok!(hip, hipEventSynchronize(stop));
    ok!(hip, hipEventElapsedTime(&mut time, start, stop));
}

#[test]
fn pageable_memory_may_change_once_the_copy_call_returned() {
    let hip = hip();
    let (stream, gate) = (hip.stream(hipStreamNonBlocking), gate());
    let device = hip.zeros::<i32>(4);
    let mut values = vec![1, 2, 3, 4];
    gate.hold(&hip, stream);
    let kind = hipMemcpyKind::hipMemcpyHostToDevice;
    ok!(hip, hipMemcpyAsync(device.pointer, values.as_ptr().cast(), 16, kind, stream));
    values.fill(-1);
    drop(values);
    gate.release();
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!(device.read(), [1, 2, 3, 4]);
}

#[test]
fn pinned_memory_is_read_when_the_stream_gets_there() {
    let hip = hip();
    let (stream, gate, place) = (hip.stream(hipStreamNonBlocking), gate(), pinned(&hip));
    let device = hip.zeros::<i32>(1);
    gate.hold(&hip, stream);
    let kind = hipMemcpyKind::hipMemcpyHostToDevice;
    ok!(hip, hipMemcpyAsync(device.pointer, place, 4, kind, stream));
    // SAFETY: S2: ours, and the copy has not begun.
    unsafe { place.cast::<i32>().write_volatile(42) };
    gate.release();
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!(device.read(), [42]);
    ok!(hip, hipHostFree(place));
}

#[test]
fn many_streams_at_once() {
    let hip = hip();
    let streams: Vec<hipStream_t> = (0..64).map(|_| hip.stream(hipStreamNonBlocking)).collect();
    let places: Vec<_> = streams.iter().map(|_| pinned(&hip)).collect();
    let gate = gate();
    for (stream, place) in streams.iter().zip(&places) {
        gate.hold(&hip, *stream);
        write(&hip, *stream, *place, 11);
    }
    assert!(soon(|| gate.reached.load(Ordering::SeqCst) == 64));
    gate.release();
    ok!(hip, hipDeviceSynchronize());
    assert!(places.iter().all(|place| read_host(*place) == 11));
    for place in places {
        ok!(hip, hipHostFree(place));
    }
}

#[test]
fn streams_used_from_several_threads() {
    let hip = hip();
    let counter = hip.zeros::<u32>(1);
    let order = hip.zeros::<u32>(4000);
    let function = hip.function("test_plain", "block_order") as usize;
    let (counter_at, order_at, table) = (counter.pointer as usize, order.pointer as usize, &hip.table);
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                let launch = table.hipModuleLaunchKernel;
                let (mut pc, mut po) = (counter_at as *mut c_void, order_at as *mut c_void);
                for _ in 0..100 {
                    let stream = if number < 2 { null_mut() } else { 2 as hipStream_t };
                    let list = arguments![pc, po];
                    let f = function as hipFunction_t;
                    // SAFETY: S9: block_order takes a counter and room for as many numbers as blocks run.
                    let status =
                        unsafe { launch(f, 10, 1, 1, 1, 1, 1, 0, stream, list.as_mut_ptr(), null_mut()) };
                    assert_eq!(status.0, 0);
                }
            });
        }
    });
    hip.sync();
    assert_eq!(counter.read(), [4000]);
}

#[test]
fn a_new_thread_has_device_0_and_no_error() {
    let hip = hip();
    ok!(hip, hipSetDevice(1));
    assert_eq!(call!(hip, hipSetDevice(9)), 101);
    let (get, last) = (hip.table.hipGetDevice, hip.table.hipPeekAtLastError);
    let there = std::thread::spawn(move || {
        let mut device = -1;
        // SAFETY: S1: a live place for the result.
        unsafe { (get(&mut device).0, device, last().0) }
    });
    assert_eq!(there.join().expect("no panic"), (0, 0, 0));
    assert_eq!(call!(hip, hipGetLastError()), 101);
    assert_eq!(call!(hip, hipGetLastError()), 0);
}

#[test]
fn waiting_from_several_threads_sees_the_work_done() {
    let hip = hip();
    let function = hip.function("test_plain", "write_one") as usize;
    let (shared, hip) = (hip.stream(hipStreamDefault) as usize, &hip);
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                let (own, mut place) = (hip.stream(hipStreamNonBlocking), pinned(hip));
                let streams = [null_mut(), 2 as hipStream_t, own, shared as hipStream_t];
                for round in 0..1000 {
                    let stream = streams[(round + number) % 4];
                    let mut value = round as i32 + 1;
                    hip.launch(function as hipFunction_t, shape(1, 1), stream, arguments![place, value]);
                    match round % 3 {
                        0 => ok!(hip, hipStreamSynchronize(stream)),
                        1 => ok!(hip, hipDeviceSynchronize()),
                        _ => {
                            let event = hip.event();
                            ok!(hip, hipEventRecord(event, stream));
                            ok!(hip, hipEventSynchronize(event));
                            ok!(hip, hipEventDestroy(event));
                        }
                    }
                    assert_eq!(read_host(place), value);
                }
                ok!(hip, hipHostFree(place));
            });
        }
    });
}

#[test]
fn a_chain_through_many_streams() {
    let hip = hip();
    let streams: Vec<hipStream_t> = (0..8).map(|_| hip.stream(hipStreamNonBlocking)).collect();
    let device = hip.zeros::<i32>(200);
    let at = |index: usize| device.pointer.wrapping_byte_add(4 * index);
    ok!(hip, hipMemsetD32Async(at(0), 7, 1, streams[0]));
    // Each copies what the one before it wrote, on another stream, ordered by events alone.
    for index in 1..200 {
        let (before, now, event) = (streams[(index - 1) * 5 % 8], streams[index * 5 % 8], hip.event());
        ok!(hip, hipEventRecord(event, before));
        ok!(hip, hipStreamWaitEvent(now, event, 0));
        ok!(hip, hipEventDestroy(event));
        ok!(hip, hipMemcpyDtoDAsync(at(index), at(index - 1), 4, now));
    }
    hip.sync();
    assert_eq!(device.read(), [7; 200]);
}
