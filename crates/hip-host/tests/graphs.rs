//! Graphs, as far as this platform alone promises it: kernels of this crate's test modules, faults, resets. What every
//! platform promises is in the conformance suite.

#[macro_use]
mod common;

use common::gate::{gate, pinned, read_host, soon};
use common::{Hip, hip, shape};
use hip_sys::hip::*;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::time::Duration;

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
    let (stream, place, gate) = (hip.stream(hipStreamNonBlocking), pinned(&hip), gate());
    let function = hip.function("test_plain", "write_one");
    let graph = |value: i32| {
        let (mut place, mut value) = (place, value);
        ok!(hip, hipStreamBeginCapture(stream, GLOBAL));
        hip.launch(function, shape(1, 1), stream, arguments![place, value]);
        end(&hip, stream)
    };
    let exec = instantiate(&hip, graph(1));
    let second = graph(2);
    gate.hold(&hip, stream);
    ok!(hip, hipGraphLaunch(exec, stream));
    let (mut node, mut result) = (null_mut(), hipGraphExecUpdateResult(9));
    ok!(hip, hipGraphExecUpdate(exec, second, &mut node, &mut result));
    assert_eq!(result, hipGraphExecUpdateResult::hipGraphExecUpdateSuccess);
    // The launch that waits still writes the first value.
    gate.release();
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!(read_host(place), 1);
    ok!(hip, hipGraphLaunch(exec, stream));
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!(read_host(place), 2);
    ok!(hip, hipHostFree(place));
}

#[test]
fn two_launches_of_one_executable_graph_do_not_overlap() {
    let hip = hip();
    let (one, two) = (hip.stream(hipStreamNonBlocking), hip.stream(hipStreamNonBlocking));
    let gate = gate();
    ok!(hip, hipStreamBeginCapture(one, GLOBAL));
    gate.hold(&hip, one);
    let exec = instantiate(&hip, end(&hip, one));
    ok!(hip, hipGraphLaunch(exec, one));
    ok!(hip, hipGraphLaunch(exec, two));
    assert!(soon(|| gate.reached.load(Ordering::SeqCst) == 1));
    // Time enough for the second to come to the gate, if nothing held it back.
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(gate.reached.load(Ordering::SeqCst), 1);
    gate.release();
    ok!(hip, hipStreamSynchronize(two));
    assert_eq!(gate.reached.load(Ordering::SeqCst), 2);
    ok!(hip, hipGraphExecDestroy(exec));
}

#[test]
fn a_graph_outlives_the_module_handle() {
    let hip = hip();
    let (stream, place) = (hip.stream(hipStreamNonBlocking), pinned(&hip));
    let module = hip.module("test_plain");
    let mut function = null_mut();
    ok!(hip, hipModuleGetFunction(&mut function, module, c"write_one".as_ptr()));
    let (mut at, mut value) = (place, 31);
    ok!(hip, hipStreamBeginCapture(stream, GLOBAL));
    hip.launch(function, shape(1, 1), stream, arguments![at, value]);
    let exec = instantiate(&hip, end(&hip, stream));
    (at, value) = (null_mut(), 0);
    assert!(at.is_null() && value == 0);
    ok!(hip, hipModuleUnload(module));
    ok!(hip, hipGraphLaunch(exec, stream));
    ok!(hip, hipStreamSynchronize(stream));
    assert_eq!(read_host(place), 31);
    ok!(hip, hipHostFree(place));
}

#[test]
fn memory_that_was_freed_since_the_capture_is_an_illegal_address() {
    let hip = hip();
    let stream = hip.stream(hipStreamNonBlocking);
    let mut place = null_mut();
    ok!(hip, hipMalloc(&mut place, 1 << 20));
    ok!(hip, hipStreamBeginCapture(stream, GLOBAL));
    ok!(hip, hipMemsetAsync(place, 1, 1 << 20, stream));
    let exec = instantiate(&hip, end(&hip, stream));
    ok!(hip, hipGraphLaunch(exec, stream));
    ok!(hip, hipStreamSynchronize(stream));
    ok!(hip, hipFree(place));
    ok!(hip, hipGraphLaunch(exec, stream));
    assert_eq!(call!(hip, hipStreamSynchronize(stream)), 700);
    assert_eq!(call!(hip, hipGraphLaunch(exec, stream)), 700);
    ok!(hip, hipDeviceReset());
    call!(hip, hipGetLastError());
}

unsafe extern "C" fn add_one(count: *mut c_void) {
    // SAFETY: S11: the test passed a counter that lives longer than the stream's work.
    unsafe { *count.cast::<u32>() += 1 };
}

#[test]
fn a_kernel_that_fails_breaks_the_device_and_host_functions_still_run() {
    let hip = hip();
    let (stream, mut count) = (hip.stream(hipStreamNonBlocking), 0_u32);
    let function = hip.function("test_faults", "failed_assert");
    let mut out = pinned(&hip);
    ok!(hip, hipStreamBeginCapture(stream, GLOBAL));
    hip.launch(function, shape(1, 8), stream, arguments![out]);
    assert_eq!(call_optional!(hip, hipLaunchHostFunc(stream, Some(add_one), (&raw mut count).cast())), 0);
    let exec = instantiate(&hip, end(&hip, stream));
    ok!(hip, hipGraphLaunch(exec, stream));
    assert_eq!(call!(hip, hipStreamSynchronize(stream)), 710);
    assert_eq!(count, 1);
    ok!(hip, hipDeviceReset());
    call!(hip, hipGetLastError());
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
