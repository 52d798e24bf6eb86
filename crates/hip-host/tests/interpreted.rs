//! Streams, events, memory and graphs without kernels and foreign functions, so that Miri can interpret them
//! (`ci/miri.sh`). Copies, fills and functions access the bytes without atomics, so Miri reports an order
//! that the platform forgets as a data race.

use hip_sys::hip::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::thread;

const ANY: hipMemcpyKind = hipMemcpyKind::hipMemcpyDefault;
/// A capture in the global mode would make calls of other tests, on their own threads, fail.
const THREAD_LOCAL: hipStreamCaptureMode = hipStreamCaptureMode::hipStreamCaptureModeThreadLocal;

/// Calls a function of the platform and returns the code.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let function = hip_host::platform().hip().$name;
        // SAFETY: S1, S11: the test passes live pointers, or arguments that the function must refuse.
        unsafe { function($($argument),*) }.0
    }};
}

/// Calls and expects success.
macro_rules! ok {
    ($name:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(call!($name($($argument),*)), 0, stringify!($name))
    };
}

fn stream() -> hipStream_t {
    let mut stream = null_mut();
    ok!(hipStreamCreateWithFlags(&mut stream, hipStreamNonBlocking));
    stream
}

fn event() -> hipEvent_t {
    let mut event = null_mut();
    ok!(hipEventCreateWithFlags(&mut event, hipEventDisableTiming));
    event
}

fn device_memory(bytes: usize) -> *mut c_void {
    let mut memory = null_mut();
    ok!(hipMalloc(&mut memory, bytes));
    memory
}

/// Eight bytes of pinned memory.
fn pinned() -> *mut [u8; 8] {
    let mut memory = null_mut();
    ok!(hipHostMalloc(&mut memory, 8, 0));
    let word = memory.cast::<[u8; 8]>();
    // SAFETY: S2, S15: just allocated.
    unsafe { word.write([0; 8]) };
    word
}

/// The contents of pinned memory that no work writes now.
fn read(word: *mut [u8; 8]) -> [u8; 8] {
    // SAFETY: S2: the tests wait for the work that writes it.
    unsafe { word.read() }
}

/// Adds one to each byte.
unsafe extern "C" fn add_one(word: *mut c_void) {
    // SAFETY: S11: the tests pass eight bytes of pinned memory that only the stream uses now.
    unsafe { (*word.cast::<[u8; 8]>()).iter_mut().for_each(|byte| *byte += 1) };
}

fn call_on(stream: hipStream_t, word: *mut [u8; 8]) {
    let launch = hip_host::platform().hip().hipLaunchHostFunc.get().expect("hip-host has it");
    // SAFETY: S11: the memory outlives the stream's work.
    assert_eq!(unsafe { launch(stream, Some(add_one), word.cast()) }.0, 0);
}

#[test]
fn an_event_orders_the_work_of_two_streams() {
    let (first, second, event) = (stream(), stream(), event());
    let (memory, word) = (device_memory(8), pinned());
    for round in 1..4 {
        ok!(hipMemsetAsync(memory, round, 8, first));
        ok!(hipEventRecord(event, first));
        ok!(hipStreamWaitEvent(second, event, 0));
        ok!(hipMemcpyAsync(word.cast(), memory, 8, ANY, second));
        call_on(second, word);
        ok!(hipEventRecord(event, second));
        ok!(hipStreamWaitEvent(first, event, 0));
        ok!(hipMemcpyAsync(memory, word.cast(), 4, ANY, first));
        ok!(hipStreamSynchronize(first));
        assert_eq!(read(word), [round as u8 + 1; 8]);
    }
    let mut halves = [0_u8; 8];
    ok!(hipMemcpy(halves.as_mut_ptr().cast(), memory, 8, ANY));
    assert_eq!(halves, [4, 4, 4, 4, 3, 3, 3, 3]);
    ok!(hipEventSynchronize(event));
    assert_eq!(call!(hipStreamQuery(second)), 0);
    ok!(hipEventDestroy(event));
    assert_eq!(call!(hipEventRecord(event, first)), hipError_t::hipErrorContextIsDestroyed.0);
    // Queued work still runs.
    call_on(second, word);
    ok!(hipStreamDestroy(second));
    ok!(hipStreamDestroy(first));
    ok!(hipFree(memory));
    ok!(hipHostFree(word.cast()));
}

#[test]
fn memory_is_kept_until_the_work_before_its_release_is_done() {
    let (first, second, word) = (stream(), stream(), pinned());
    for round in 1..4 {
        let mut memory = null_mut();
        ok!(hipMallocAsync(&mut memory, 8, first));
        ok!(hipMemsetAsync(memory, round, 8, first));
        ok!(hipMemcpyAsync(word.cast(), memory, 8, ANY, first));
        ok!(hipFreeAsync(memory, first));
        assert_eq!(call!(hipMemsetAsync(memory, 0, 8, first)), hipError_t::hipErrorInvalidValue.0);
    }
    ok!(hipStreamSynchronize(first));
    assert_eq!(read(word), [3; 8]);

    let memory = device_memory(8);
    ok!(hipMemsetAsync(memory, 9, 8, second));
    ok!(hipMemcpyAsync(word.cast(), memory, 8, ANY, second));
    // Both frees wait for all of the device's work.
    ok!(hipFree(memory));
    assert_eq!(read(word), [9; 8]);
    call_on(first, word);
    ok!(hipHostFree(word.cast()));
    ok!(hipStreamDestroy(first));
    ok!(hipStreamDestroy(second));
}

/// Two branches that join again, launched on two streams. The handles are destroyed before the last run has
/// ended.
#[test]
fn a_graph_is_run_as_often_as_it_is_launched() {
    let (first, second, fork, join) = (stream(), stream(), event(), event());
    let (memory, word, counter) = (device_memory(8), pinned(), pinned());
    let (mut graph, mut exec) = (null_mut(), null_mut());
    ok!(hipStreamBeginCapture(first, THREAD_LOCAL));
    ok!(hipMemsetAsync(memory, 5, 8, first));
    ok!(hipEventRecord(fork, first));
    ok!(hipStreamWaitEvent(second, fork, 0));
    call_on(second, counter);
    ok!(hipEventRecord(join, second));
    ok!(hipMemcpyAsync(word.cast(), memory, 8, ANY, first));
    ok!(hipStreamWaitEvent(first, join, 0));
    ok!(hipMemcpyAsync(word.cast(), counter.cast(), 4, ANY, first));
    call_on(first, word);
    ok!(hipStreamEndCapture(first, &mut graph));
    ok!(hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(hipGraphDestroy(graph));
    assert_eq!((read(word), read(counter)), ([0; 8], [0; 8]), "nothing ran yet");
    ok!(hipGraphLaunch(exec, first));
    ok!(hipGraphLaunch(exec, second));
    ok!(hipGraphLaunch(exec, first));
    ok!(hipGraphExecDestroy(exec));
    ok!(hipDeviceSynchronize());
    assert_eq!((read(word), read(counter)), ([4, 4, 4, 4, 6, 6, 6, 6], [3; 8]));
    for stream in [first, second] {
        ok!(hipStreamDestroy(stream));
    }
    for event in [fork, join] {
        ok!(hipEventDestroy(event));
    }
    ok!(hipFree(memory));
    for word in [word, counter] {
        ok!(hipHostFree(word.cast()));
    }
}

#[test]
fn threads_submit_to_one_stream_and_to_the_null_stream() {
    let shared = stream() as usize;
    thread::scope(|scope| {
        for number in 1..4 {
            scope.spawn(move || {
                let memory = device_memory(8);
                for stream in [shared as hipStream_t, null_mut(), 2 as hipStream_t] {
                    ok!(hipMemsetAsync(memory, number, 8, stream));
                    ok!(hipStreamSynchronize(stream));
                    let mut read = [0_u8; 8];
                    ok!(hipMemcpy(read.as_mut_ptr().cast(), memory, 8, ANY));
                    assert_eq!(read, [number as u8; 8]);
                }
                ok!(hipFree(memory));
            });
        }
    });
    ok!(hipStreamDestroy(shared as hipStream_t));
}

#[test]
fn ranges_are_known_from_their_first_byte_to_their_last() {
    let (memory, mut own) = (device_memory(24), [1_u8, 2, 3, 4, 5, 6, 7, 8]);
    let (mut base, mut bytes) = (null_mut(), 0);
    ok!(hipMemGetAddressRange(&mut base, &mut bytes, memory.wrapping_byte_add(23)));
    assert_eq!((base, bytes), (memory, 24));
    let past = memory.wrapping_byte_add(24);
    assert_ne!(call!(hipMemGetAddressRange(&mut base, &mut bytes, past)), 0);
    let registered = own.as_mut_ptr().cast();
    ok!(hipHostRegister(registered, 8, 0));
    // Two rows of three bytes, each in a row of five on the device.
    ok!(hipMemcpy2DAsync(memory, 5, registered.cast_const(), 4, 3, 2, ANY, null_mut()));
    ok!(hipMemsetD8Async(memory.wrapping_byte_add(3), 0xff, 2, null_mut()));
    ok!(hipMemcpy2DAsync(registered, 4, memory.cast_const(), 5, 4, 2, ANY, null_mut()));
    // Refused: four bytes starting at the last one, and a word at an odd address.
    let last = memory.wrapping_byte_add(23);
    assert_ne!(call!(hipMemcpyAsync(last, registered, 4, ANY, null_mut())), 0);
    assert_ne!(call!(hipMemsetD32Async(memory.wrapping_byte_add(1), 0, 1, null_mut())), 0);
    ok!(hipMemsetD32Async(memory.wrapping_byte_add(20), 0x0403_0201, 1, null_mut()));
    let mut word = [0_u8; 4];
    ok!(hipMemcpy(word.as_mut_ptr().cast(), memory.wrapping_byte_add(20), 4, ANY));
    assert_eq!(word, 0x0403_0201_u32.to_ne_bytes());
    ok!(hipHostUnregister(registered));
    assert_eq!(own[..3], [1, 2, 3]);
    assert_eq!((own[3], &own[4..7]), (0xff, &[5, 6, 7][..]));
    ok!(hipFree(memory));
    assert_eq!(call!(hipFree(memory)), hipError_t::hipErrorInvalidValue.0);
}
