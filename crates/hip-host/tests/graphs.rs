//! Graphs, as far as only this platform guarantees it: kernels of this crate's test modules, faults, resets.
//! The conformance suite covers what every platform guarantees.

#[macro_use]
mod common;

use common::apart::apart;
use common::gate::{gate, pinned, read_host, soon};
use common::{Hip, hip, shape};
use hip_sys::hip::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

const GLOBAL: hipStreamCaptureMode = hipStreamCaptureMode::hipStreamCaptureModeGlobal;

fn end(hip: &Hip, stream: hipStream_t) -> hipGraph_t {
    let mut graph = null_mut();
    ok!(hip, hipStreamEndCapture(stream, &mut graph));
    graph
}

fn instantiate(hip: &Hip, graph: hipGraph_t) -> hipGraphExec_t {
    let mut exec = null_mut();
    ok!(hip, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    exec
}

#[test]
fn a_kernel_node_keeps_its_arguments_and_counts_exactly() {
    let hip = hip();
    for device in 0..2 {
        ok!(hip, hipSetDevice(device));
        let stream = hip.stream(hipStreamNonBlocking);
        let counter = hip.zeros::<u32>(1);
        let order = hip.zeros::<u32>(20_000);
        let function = hip.function("test_plain", "block_order");
        let (mut pc, mut po) = (counter.pointer, order.pointer);
        ok!(hip, hipStreamBeginCapture(stream, GLOBAL));
        for _ in 0..4 {
            hip.launch(function, shape(10, 1), stream, arguments![pc, po]);
        }
        let graph = end(&hip, stream);
        (pc, po) = (null_mut(), null_mut());
        assert!(pc.is_null() && po.is_null());
        let exec = instantiate(&hip, graph);
        ok!(hip, hipGraphDestroy(graph));
        for _ in 0..500 {
            ok!(hip, hipGraphLaunch(exec, stream));
        }
        ok!(hip, hipStreamSynchronize(stream));
        assert_eq!(counter.read(), [20_000]);
        ok!(hip, hipGraphExecDestroy(exec));
    }
}

#[test]
fn an_update_gives_a_kernel_other_arguments() {
    let hip = hip();
    let (stream, word, gate) = (hip.stream(hipStreamNonBlocking), pinned(&hip), gate());
    let function = hip.function("test_plain", "write_one");
    let graph = |value: i32| {
        let (mut word, mut value) = (word, value);
        ok!(hip, hipStreamBeginCapture(stream, GLOBAL));
        hip.launch(function, shape(1, 1), stream, arguments![word, value]);
        end(&hip, stream)
    };
    let exec = instantiate(&hip, graph(1));
    let second = graph(2);
    gate.hold(&hip, stream);
    ok!(hip, hipGraphLaunch(exec, stream));
    let (mut node, mut result) = (null_mut(), hipGraphExecUpdateResult(9));
    ok!(hip, hipGraphExecUpdate(exec, second, &mut node, &mut result));
    assert_eq!(result, hipGraphExecUpdateResult::hipGraphExecUpdateSuccess);
    // The waiting launch still writes the first value.
    gate.release();
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!(read_host(word), 1);
    ok!(hip, hipGraphLaunch(exec, stream));
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!(read_host(word), 2);
    ok!(hip, hipHostFree(word));
}

#[test]
fn two_launches_of_one_executable_graph_do_not_overlap() {
    let hip = hip();
    let (one, two) = (hip.stream(hipStreamNonBlocking), hip.stream(hipStreamNonBlocking));
    let gate = gate();
    ok!(hip, hipStreamBeginCapture(one, GLOBAL));
    gate.hold(&hip, one);
    let graph = end(&hip, one);
    let (exec, other) = (instantiate(&hip, graph), instantiate(&hip, graph));
    ok!(hip, hipGraphLaunch(exec, one));
    ok!(hip, hipGraphLaunch(exec, two));
    // Another executable of the same graph reaches the gate although it was launched last: only launches of
    // the same executable wait for each other.
    ok!(hip, hipGraphLaunch(other, hip.stream(hipStreamNonBlocking)));
    assert!(soon(|| gate.reached.load(Ordering::SeqCst) >= 2));
    assert_eq!(gate.reached.load(Ordering::SeqCst), 2);
    gate.release();
    hip.sync();
    assert_eq!(gate.reached.load(Ordering::SeqCst), 3);
    ok!(hip, hipGraphExecDestroy(exec));
    ok!(hip, hipGraphExecDestroy(other));
}

#[test]
fn a_graph_outlives_the_module_handle() {
    let hip = hip();
    let (stream, word) = (hip.stream(hipStreamNonBlocking), pinned(&hip));
    let module = hip.module("test_plain");
    let mut function = null_mut();
    ok!(hip, hipModuleGetFunction(&mut function, module, c"write_one".as_ptr()));
    let (mut at, mut value) = (word, 31);
    ok!(hip, hipStreamBeginCapture(stream, GLOBAL));
    hip.launch(function, shape(1, 1), stream, arguments![at, value]);
    let exec = instantiate(&hip, end(&hip, stream));
    (at, value) = (null_mut(), 0);
    assert!(at.is_null() && value == 0);
    ok!(hip, hipModuleUnload(module));
    ok!(hip, hipGraphLaunch(exec, stream));
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!(read_host(word), 31);
    ok!(hip, hipHostFree(word));
}

#[test]
fn memory_that_was_freed_since_the_capture_is_an_illegal_address() {
    apart("memory_that_was_freed_since_the_capture_is_an_illegal_address", &[], |hip| {
        let stream = hip.stream(hipStreamNonBlocking);
        let mut memory = null_mut();
        ok!(hip, hipMalloc(&mut memory, 1 << 20));
        ok!(hip, hipStreamBeginCapture(stream, GLOBAL));
        ok!(hip, hipMemsetAsync(memory, 1, 1 << 20, stream));
        let exec = instantiate(hip, end(hip, stream));
        ok!(hip, hipGraphLaunch(exec, stream));
        ok!(hip, hipStreamSynchronize(stream));
        ok!(hip, hipFree(memory));
        ok!(hip, hipGraphLaunch(exec, stream));
        assert_eq!(call!(hip, hipStreamSynchronize(stream)), 700);
        assert_eq!(call!(hip, hipGraphLaunch(exec, stream)), 700);
    });
}

#[test]
fn memory_that_a_stream_frees_behind_the_graph_is_there_for_it() {
    let hip = hip();
    let (stream, gate) = (hip.stream(hipStreamNonBlocking), gate());
    let (mut memory, seen) = (null_mut(), pinned(&hip));
    ok!(hip, hipMallocAsync(&mut memory, 1 << 20, stream));
    ok!(hip, hipStreamBeginCapture(stream, GLOBAL));
    ok!(hip, hipMemsetAsync(memory, 7, 1 << 20, stream));
    ok!(hip, hipMemcpyAsync(seen, memory, 4, hipMemcpyKind::hipMemcpyDeviceToHost, stream));
    let exec = instantiate(&hip, end(&hip, stream));
    gate.hold(&hip, stream);
    ok!(hip, hipGraphLaunch(exec, stream));
    ok!(hip, hipFreeAsync(memory, stream));
    gate.release();
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!(read_host(seen), 0x0707_0707);
    // By now the stream has freed it.
    ok!(hip, hipGraphLaunch(exec, stream));
    assert_eq!(call!(hip, hipStreamSynchronize(stream)), 700);
    ok!(hip, hipDeviceReset());
    call!(hip, hipGetLastError());
    ok!(hip, hipHostFree(seen));
}

/// Captures a stream of device 0 and one of device 1 together: each runs the body, the second after the
/// first.
fn on_both(hip: &Hip, streams: [hipStream_t; 2], body: impl Fn(usize)) -> hipGraphExec_t {
    let [first, second] = streams;
    ok!(hip, hipSetDevice(0));
    let fork = hip.event();
    ok!(hip, hipSetDevice(1));
    let join = hip.event();
    ok!(hip, hipSetDevice(0));
    ok!(hip, hipStreamBeginCapture(first, GLOBAL));
    body(0);
    ok!(hip, hipEventRecord(fork, first));
    ok!(hip, hipStreamWaitEvent(second, fork, 0));
    ok!(hip, hipSetDevice(1));
    body(1);
    ok!(hip, hipEventRecord(join, second));
    ok!(hip, hipSetDevice(0));
    ok!(hip, hipStreamWaitEvent(first, join, 0));
    instantiate(hip, end(hip, first))
}

/// A stream of each device.
fn one_of_each(hip: &Hip) -> [hipStream_t; 2] {
    [0, 1].map(|device| {
        ok!(hip, hipSetDevice(device));
        hip.stream(hipStreamNonBlocking)
    })
}

#[test]
fn calls_that_wait_for_a_device_wait_for_graph_nodes() {
    let hip = hip();
    let waits: [fn(&Hip, *mut c_void); 3] = [
        |hip, _| ok!(hip, hipDeviceSynchronize()),
        |hip, buffer| ok!(hip, hipFree(buffer)),
        |hip, _| ok!(hip, hipDeviceReset()),
    ];
    for wait in waits {
        let (streams, word, gate) = (one_of_each(&hip), pinned(&hip), gate());
        let mut buffer = null_mut();
        ok!(hip, hipSetDevice(1));
        ok!(hip, hipMalloc(&mut buffer, 4));
        let exec = on_both(&hip, streams, |device| {
            if device == 1 {
                gate.hold(&hip, streams[1]);
                ok!(hip, hipMemsetAsync(buffer, 3, 4, streams[1]));
                let kind = hipMemcpyKind::hipMemcpyDeviceToHost;
                ok!(hip, hipMemcpyAsync(word, buffer, 4, kind, streams[1]));
            }
        });
        ok!(hip, hipGraphLaunch(exec, streams[0]));
        ok!(hip, hipSetDevice(1));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(soon(|| gate.reached.load(Ordering::SeqCst) == 1));
                gate.release();
            });
            wait(&hip, buffer);
            assert_eq!(read_host(word), 0x0303_0303);
        });
        ok!(hip, hipStreamSynchronize(streams[0]));
        ok!(hip, hipHostFree(word));
    }
    ok!(hip, hipSetDevice(0));
}

#[test]
fn a_graph_with_a_node_on_a_broken_device_is_refused() {
    let hip = hip();
    let streams = one_of_each(&hip);
    let words = [pinned(&hip), pinned(&hip)];
    let exec = on_both(&hip, streams, |device| {
        ok!(hip, hipMemsetAsync(words[device], 1, 4, streams[device]));
    });
    ok!(hip, hipGraphLaunch(exec, streams[0]));
    ok!(hip, hipStreamSynchronize(streams[0]));
    assert_eq!(words.map(read_host), [0x0101_0101; 2]);
    ok!(hip, hipSetDevice(1));
    let mut out = words[1];
    hip.launch(hip.function("test_faults", "failed_assert"), shape(1, 8), null_mut(), arguments![out]);
    assert_eq!(call!(hip, hipDeviceSynchronize()), 710);
    assert_eq!(call!(hip, hipGraphLaunch(exec, streams[0])), 710);
    ok!(hip, hipStreamSynchronize(streams[0]));
    ok!(hip, hipDeviceReset());
    call!(hip, hipGetLastError());
    ok!(hip, hipSetDevice(0));
    for word in words {
        ok!(hip, hipHostFree(word));
    }
}

unsafe extern "C" fn add_one(count: *mut c_void) {
    // SAFETY: S11: the test passed a counter that lives longer than the stream's work.
    unsafe { *count.cast::<u32>() += 1 };
}

#[test]
fn a_kernel_that_fails_breaks_the_device_and_host_functions_still_run() {
    apart("a_kernel_that_fails_breaks_the_device_and_host_functions_still_run", &[], |hip| {
        let (stream, mut count) = (hip.stream(hipStreamNonBlocking), 0_u32);
        let function = hip.function("test_faults", "failed_assert");
        let mut out = pinned(hip);
        ok!(hip, hipStreamBeginCapture(stream, GLOBAL));
        hip.launch(function, shape(1, 8), stream, arguments![out]);
        assert_eq!(call_optional!(hip, hipLaunchHostFunc(stream, Some(add_one), (&raw mut count).cast())), 0);
        let exec = instantiate(hip, end(hip, stream));
        ok!(hip, hipGraphLaunch(exec, stream));
        assert_eq!(call!(hip, hipStreamSynchronize(stream)), 710);
        assert_eq!(count, 1);
    });
}

#[test]
fn memory_in_stream_order_is_refused_and_stays_as_it_was() {
    let hip = hip();
    let (stream, mut memory, mut other) = (hip.stream(hipStreamNonBlocking), null_mut(), null_mut());
    ok!(hip, hipMallocAsync(&mut memory, 16, stream));
    ok!(hip, hipStreamSynchronize(stream));
    let refused = |call: &mut dyn FnMut() -> u32| {
        let mut graph = null_mut();
        ok!(hip, hipStreamBeginCapture(stream, GLOBAL));
        assert_eq!(call(), 900);
        assert_eq!(call!(hip, hipStreamEndCapture(stream, &mut graph)), 901);
        assert!(graph.is_null());
    };
    refused(&mut || call!(hip, hipMallocAsync(&mut other, 16, stream)));
    refused(&mut || call!(hip, hipFreeAsync(memory, stream)));
    ok!(hip, hipMemsetAsync(memory, 1, 16, stream));
    ok!(hip, hipFreeAsync(memory, stream));
    ok!(hip, hipStreamSynchronize(stream));
    call!(hip, hipGetLastError());
}

#[test]
fn a_thread_that_ends_ends_the_capture_on_its_own_stream() {
    let hip = hip();
    std::thread::scope(|scope| {
        let capturing = scope.spawn(|| {
            let per_thread = std::ptr::without_provenance_mut(2);
            ok!(hip, hipStreamBeginCapture(per_thread, GLOBAL));
        });
        capturing.join().expect("no panic there");
    });
    let mut memory = null_mut();
    ok!(hip, hipMalloc(&mut memory, 64));
    ok!(hip, hipFree(memory));
}

#[test]
fn a_reset_ends_the_captures_of_its_device() {
    let hip = hip();
    let stream = hip.stream(hipStreamNonBlocking);
    let mut graph = null_mut();
    ok!(hip, hipStreamBeginCapture(stream, GLOBAL));
    ok!(hip, hipDeviceReset());
    assert_eq!(call!(hip, hipStreamEndCapture(stream, &mut graph)), 401);
    ok!(hip, hipDeviceSynchronize());
    call!(hip, hipGetLastError());
}
