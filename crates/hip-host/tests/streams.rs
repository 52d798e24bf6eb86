//! Streams under load: more streams than threads, and several threads that submit and wait at once.

#[macro_use]
mod common;

use common::gate::{gate, pinned, read_host, soon, write};
use common::{hip, shape};
use hip_sys::hip::*;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn many_streams_at_once() {
    let hip = hip();
    let streams: Vec<hipStream_t> = (0..64).map(|_| hip.stream(hipStreamNonBlocking)).collect();
    let words: Vec<_> = streams.iter().map(|_| pinned(&hip)).collect();
    let gate = gate();
    for (stream, word) in streams.iter().zip(&words) {
        gate.hold(&hip, *stream);
        write(&hip, *stream, *word, 11);
    }
    assert!(soon(|| gate.reached.load(Ordering::SeqCst) == 64));
    gate.release();
    ok!(hip, hipDeviceSynchronize());
    assert!(words.iter().all(|word| read_host(*word) == 11));
    for word in words {
        ok!(hip, hipHostFree(word));
    }
}

#[test]
fn waiting_from_several_threads_sees_the_work_done() {
    let hip = hip();
    let function = hip.function("test_plain", "write_one") as usize;
    let (shared, hip) = (hip.stream(hipStreamDefault) as usize, &hip);
    std::thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                let (own, mut word) = (hip.stream(hipStreamNonBlocking), pinned(hip));
                let streams = [null_mut(), 2 as hipStream_t, own, shared as hipStream_t];
                for round in 0..1000 {
                    let stream = streams[(round + number) % 4];
                    let mut value = round as i32 + 1;
                    hip.launch(function as hipFunction_t, shape(1, 1), stream, arguments![word, value]);
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
                    assert_eq!(read_host(word), value);
                }
                ok!(hip, hipHostFree(word));
            });
        }
    });
}

/// Counts its calls separately for the thread that waits, whose flag is set.
unsafe extern "C" fn note_thread(calls: *mut c_void) {
    // SAFETY: S11: the counters outlive the stream's work.
    let [elsewhere, here] = unsafe { &*calls.cast::<[AtomicU32; 2]>() };
    let counter = if WAITS.get() { here } else { elsewhere };
    counter.fetch_add(1, Ordering::SeqCst);
}

thread_local!(static WAITS: Cell<bool> = const { Cell::new(false) });

/// As with a driver: the waiting thread may hold a lock that the function needs, or depend on thread-local
/// state.
#[test]
fn functions_are_not_called_on_a_thread_of_the_program_that_waits() {
    let hip = hip();
    let streams = [(); 8].map(|()| hip.stream(hipStreamNonBlocking));
    let calls = [const { AtomicU32::new(0) }; 2];
    let pointer = std::ptr::from_ref(&calls).cast_mut().cast();
    WAITS.set(true);
    for round in 0..500 {
        for stream in streams {
            assert_eq!(call_optional!(hip, hipLaunchHostFunc(stream, Some(note_thread), pointer)), 0);
        }
        if round % 2 == 0 {
            ok!(hip, hipDeviceSynchronize());
        } else {
            streams.iter().for_each(|stream| ok!(hip, hipStreamSynchronize(*stream)));
        }
    }
    assert_eq!(calls.map(AtomicU32::into_inner), [4000, 0], "elsewhere, here");
}

/// Destructors of a graph's user objects are such functions too: they run when the last run of the graph has
/// ended.
#[test]
fn objects_of_a_graph_are_not_dropped_on_a_waiting_thread() {
    let hip = hip();
    let (stream, word) = (hip.stream(hipStreamNonBlocking), pinned(&hip));
    let calls = [const { AtomicU32::new(0) }; 2];
    let pointer = std::ptr::from_ref(&calls).cast_mut().cast();
    let (no_wait, take_over) = (1, 1);
    for _ in 0..300 {
        let (mut object, mut graph, mut exec) = (null_mut(), null_mut(), null_mut());
        ok!(hip, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeRelaxed));
        write(&hip, stream, word, 1);
        ok!(hip, hipStreamEndCapture(stream, &mut graph));
        let made =
            call_optional!(hip, hipUserObjectCreate(&mut object, pointer, Some(note_thread), 1, no_wait));
        let kept = call_optional!(hip, hipGraphRetainUserObject(graph, object, 1, take_over));
        assert_eq!((made, kept), (0, 0));
        ok!(hip, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
        ok!(hip, hipGraphLaunch(exec, stream));
        ok!(hip, hipGraphDestroy(graph));
        ok!(hip, hipGraphExecDestroy(exec));
        // If the run has already ended, the previous call released the objects.
        WAITS.set(true);
        ok!(hip, hipStreamSynchronize(stream));
        WAITS.set(false);
    }
    ok!(hip, hipHostFree(word));
    assert_eq!(calls.map(AtomicU32::into_inner), [300, 0], "elsewhere, in the wait");
}
