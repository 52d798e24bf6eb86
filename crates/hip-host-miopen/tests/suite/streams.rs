//! Calls are stream-ordered: they return at once, run in order, and may be captured.

use crate::common::gate::gate;
use crate::library::*;
use hip_sys::hip::*;
use hip_sys::miopen::*;
use std::ptr::null_mut;

fn relu(mi: &Mi) -> miopenActivationDescriptor_t {
    let mut descriptor = null_mut();
    good!(mi, miopenCreateActivationDescriptor(&mut descriptor));
    let mode = miopenActivationMode_t::miopenActivationRELU;
    good!(mi, miopenSetActivationDescriptor(descriptor, mode, 0.0, 0.0, 0.0));
    descriptor
}

#[test]
fn calls_run_in_stream_order() {
    let mi = mi();
    let (x, y) = (mi.hip.buffer(&[-1.0_f32, 2.0]), mi.hip.buffer(&[7.0_f32; 2]));
    let (tensor, activation, gate) = (mi.floats(&[1, 2]), relu(&mi), gate());
    gate.hold(&mi.hip, mi.stream);
    good!(
        mi,
        miopenActivationForward(
            mi.handle,
            activation,
            scale(ONE),
            tensor,
            x.pointer,
            scale(ZERO),
            tensor,
            y.pointer
        )
    );
    // Descriptors and factors were read when the call was made.
    good!(mi, miopenDestroyActivationDescriptor(activation));
    good!(mi, miopenDestroyTensorDescriptor(tensor));
    assert_eq!(call!(mi.hip, hipStreamQuery(mi.stream)), hipError_t::hipErrorNotReady.0);
    assert_eq!(y.read(), [7.0; 2]);
    gate.release();
    assert_eq!(mi.read(&y), [0.0, 2.0]);
}

#[test]
fn a_captured_call_runs_with_the_graph() {
    let mi = mi();
    let (x, y) = (mi.hip.buffer(&[-1.0_f32, 2.0]), mi.hip.buffer(&[7.0_f32; 2]));
    let (tensor, activation) = (mi.floats(&[1, 2]), relu(&mi));
    let (mut graph, mut exec) = (null_mut(), null_mut());
    ok!(mi.hip, hipStreamBeginCapture(mi.stream, hipStreamCaptureMode::hipStreamCaptureModeRelaxed));
    good!(
        mi,
        miopenActivationForward(
            mi.handle,
            activation,
            scale(ONE),
            tensor,
            x.pointer,
            scale(ZERO),
            tensor,
            y.pointer
        )
    );
    ok!(mi.hip, hipStreamEndCapture(mi.stream, &mut graph));
    ok!(mi.hip, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    assert_eq!(mi.read(&y), [7.0; 2]);
    for values in [[-1.0_f32, 2.0], [3.0, -4.0]] {
        let (from, bytes) = (values.as_ptr().cast(), size_of_val(&values));
        ok!(mi.hip, hipMemcpy(x.pointer, from, bytes, hipMemcpyKind::hipMemcpyHostToDevice));
        ok!(mi.hip, hipGraphLaunch(exec, mi.stream));
        assert_eq!(mi.read(&y), values.map(|it| it.max(0.0)));
    }
    ok!(mi.hip, hipGraphExecDestroy(exec));
    ok!(mi.hip, hipGraphDestroy(graph));
}

#[test]
fn a_handle_uses_the_stream_that_it_is_set_to() {
    let mi = mi();
    let other = mi.hip.stream(hipStreamNonBlocking);
    let (x, y) = (mi.hip.buffer(&[5.0_f32]), mi.hip.buffer(&[7.0_f32]));
    let (tensor, activation, gate) = (mi.floats(&[1, 1]), relu(&mi), gate());
    gate.hold(&mi.hip, mi.stream);
    good!(mi, miopenSetStream(mi.handle, other));
    let mut found = null_mut();
    good!(mi, miopenGetStream(mi.handle, &mut found));
    assert_eq!(found, other);
    good!(
        mi,
        miopenActivationForward(
            mi.handle,
            activation,
            scale(ONE),
            tensor,
            x.pointer,
            scale(ZERO),
            tensor,
            y.pointer
        )
    );
    ok!(mi.hip, hipStreamSynchronize(other));
    assert_eq!(y.read(), [5.0]);
    gate.release();
    mi.wait();
    ok!(mi.hip, hipStreamDestroy(other));
    assert_eq!(mi!(mi, miopenSetStream(mi.handle, other)), BAD);
}
