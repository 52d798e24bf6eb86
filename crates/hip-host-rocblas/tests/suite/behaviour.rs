//! When calls run, and when they read their arguments.

use crate::common::apart::{again, role};
use crate::common::gate::gate;
use crate::harness::*;
use hip_sys::hip::*;
use hip_sys::rocblas::*;
use std::ptr::null_mut;

/// c = a bᵀ of 3 × 3 matrices, in the handle's stream.
fn multiply(b: &Blas, alpha: *const f32, beta: *const f32, [a, bb, c]: [&Arg<'_, f32>; 3]) {
    // SAFETY: S1, S11: live operands.
    let status = unsafe {
        let gemm = b.table.rocblas_sgemm;
        gemm(b.handle, OPS[0], OPS[1], 3, 3, 3, alpha, a.p(), 3, bb.p(), 3, beta, c.p(), 3)
    };
    assert_eq!(status, SUCCESS);
}

fn product(alpha: f64, beta: f64, a: &[Z], bb: &[Z], c: &[Z]) -> Vec<Z> {
    let element = |row: usize, column: usize| -> Z {
        let sum: Z = (0..3).map(|k| at(a, 3, row, k) * at(bb, 3, column, k)).sum();
        alpha * sum + beta * at(c, 3, row, column)
    };
    put_matrix(c, 3, (3, 3), |row, column| Some(element(row, column)))
}

/// The call returns while the stream is blocked. By then host scalars were read; device scalars are read later.
#[test]
fn a_call_returns_before_its_work_runs() {
    let b = &blas();
    let [a, bb, c, d] = [1, 2, 3, 3].map(|seed| b.arg::<f32>(9, seed));
    let (mut alpha, device) = (2.0_f32, b.values::<f32>(Mode::Device, &[Z::from(7.0), Z::from(0.5)]));
    let gate = gate();
    gate.hold(&b.hip, b.stream);
    multiply(b, &alpha, &1.0, [&a, &bb, &c]);
    alpha = 9.0;
    b.mode(Mode::Device);
    multiply(b, device.p(), device.p().wrapping_add(1), [&a, &bb, &d]);
    // The memory of the device is the host's here.
    // SAFETY: S2: nothing in the stream runs before the gate opens.
    unsafe {
        assert_eq!(c.p().read(), f32::of(c.values[0][0]));
        device.p().write(3.0);
    }
    assert_eq!(call!(b.hip, hipStreamQuery(b.stream)), hipError_t::hipErrorNotReady.0);
    gate.release();
    b.sync();
    assert_eq!(alpha, 9.0);
    c.check(Form::Plain, |i| product(2.0, 1.0, &a.values[i], &bb.values[i], &c.values[i]));
    d.check(Form::Plain, |i| product(3.0, 0.5, &a.values[i], &bb.values[i], &d.values[i]));
}

/// An array of addresses is read when the call runs.
#[test]
fn addresses_are_read_late() {
    let b = &blas();
    let [x, y] = [1, 2].map(|seed| b.arg::<f32>(4, seed));
    let addresses = b.hip.buffer(&[x.p() as u64]);
    let gate = gate();
    gate.hold(&b.hip, b.stream);
    // SAFETY: S1, S11: live operands.
    let status =
        unsafe { (b.table.rocblas_sscal_batched)(b.handle, 4, &-2.0, addresses.pointer.cast(), 1, 1) };
    assert_eq!(status, SUCCESS);
    // SAFETY: S2: nothing in the stream runs before the gate opens.
    unsafe { addresses.pointer.cast::<u64>().write(y.p() as u64) };
    gate.release();
    b.sync();
    assert_eq!(x.now(), x.values);
    y.check(Form::Plain, |i| y.values[i].iter().map(|y| y * -2.0).collect());
}

/// Memory that is freed before the call runs makes the call fail, as it does for a copy.
#[test]
fn memory_that_was_freed_before_the_call_ran_is_a_device_error() {
    let name = "behaviour::memory_that_was_freed_before_the_call_ran_is_a_device_error";
    if role().as_deref() != Some(name) {
        let left = again(name, name, &[]);
        assert!(left.success, "{}", left.text);
        assert!(left.text.contains("rocblas_scal: illegal address"), "{}", left.text);
        return;
    }
    let b = &blas();
    let (mut memory, mut exec, mut graph) = (null_mut(), null_mut(), null_mut());
    ok!(b.hip, hipMalloc(&mut memory, 64));
    ok!(b.hip, hipStreamBeginCapture(b.stream, hipStreamCaptureMode::hipStreamCaptureModeGlobal));
    // SAFETY: S1, S11: a live operand.
    assert_eq!(unsafe { (b.table.rocblas_sscal)(b.handle, 4, &2.0, memory.cast(), 1) }, SUCCESS);
    ok!(b.hip, hipStreamEndCapture(b.stream, &mut graph));
    ok!(b.hip, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(b.hip, hipFree(memory));
    ok!(b.hip, hipGraphLaunch(exec, b.stream));
    assert_eq!(call!(b.hip, hipStreamSynchronize(b.stream)), hipError_t::hipErrorIllegalAddress.0);
}

/// A captured call runs as often as the graph, and reads the device's scalars each time.
#[test]
fn a_graph_runs_a_call_each_time() {
    let b = &blas();
    let [a, bb, c] = [1, 2, 3].map(|seed| b.arg::<f32>(9, seed));
    let scalars = b.values::<f32>(Mode::Device, &[Z::from(1.0), Z::from(2.0)]);
    let result = b.values::<f32>(Mode::Device, &[Z::from(0.0)]);
    b.mode(Mode::Device);
    ok!(b.hip, hipStreamBeginCapture(b.stream, hipStreamCaptureMode::hipStreamCaptureModeGlobal));
    multiply(b, scalars.p(), scalars.p().wrapping_add(1), [&a, &bb, &c]);
    // SAFETY: S1, S11: live operands.
    assert_eq!(unsafe { (b.table.rocblas_sdot)(b.handle, 9, c.p(), 1, a.p(), 1, result.p()) }, SUCCESS);
    let (mut graph, mut exec) = (null_mut(), null_mut());
    ok!(b.hip, hipStreamEndCapture(b.stream, &mut graph));
    ok!(b.hip, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    b.sync();
    assert_eq!(c.now(), c.values, "nothing ran yet");
    let mut wanted = c.values[0].clone();
    for alpha in [1.0, -1.0] {
        // SAFETY: S2: the stream is idle.
        unsafe { scalars.p().write(alpha as f32) };
        ok!(b.hip, hipGraphLaunch(exec, b.stream));
        b.sync();
        wanted = product(alpha, 2.0, &a.values[0], &bb.values[0], &wanted);
        assert_eq!(c.now()[0], wanted);
        let dot: Z = wanted.iter().zip(&a.values[0]).map(|(c, a)| c * a).sum();
        assert_eq!(result.get(), [dot]);
    }
    ok!(b.hip, hipGraphExecDestroy(exec));
    ok!(b.hip, hipGraphDestroy(graph));
}

/// A result in host memory is there when the call returns, so the call waits for earlier work in the stream.
#[test]
fn a_result_for_the_host_waits_for_the_stream() {
    let b = &blas();
    let x = b.arg_of::<f64>(3, |_| vec![Z::from(1.0); 3]);
    let mut result = 0.0;
    // SAFETY: S1, S11: live operands.
    unsafe {
        for _ in 0..10 {
            assert_eq!((b.table.rocblas_dscal)(b.handle, 3, &2.0, x.p(), 1), SUCCESS);
        }
        assert_eq!((b.table.rocblas_dasum)(b.handle, 3, x.p(), 1, &mut result), SUCCESS);
    }
    assert_eq!(result, 3072.0);
}

/// The null stream is that of the device that was current when the handle was made.
#[test]
fn a_handle_stays_with_its_device() {
    let b = &blas();
    let x = b.arg_of::<f32>(1, |_| vec![Z::from(3.0)]);
    // SAFETY: S1: a live handle; null is the null stream.
    assert_eq!(unsafe { (b.table.rocblas_set_stream)(b.handle, null_mut()) }, SUCCESS);
    ok!(b.hip, hipSetDevice(1));
    // SAFETY: S1, S11: live operands.
    assert_eq!(unsafe { (b.table.rocblas_sscal)(b.handle, 1, &2.0, x.p(), 1) }, SUCCESS);
    let mut device = 9;
    ok!(b.hip, hipGetDevice(&mut device));
    assert_eq!(device, 1);
    ok!(b.hip, hipSetDevice(0));
    ok!(b.hip, hipDeviceSynchronize());
    assert_eq!(x.now()[0], [Z::from(6.0)]);
}

/// An invalid address in a batch is a device error, and nothing is written.
#[test]
fn a_bad_address_in_a_batch_is_a_device_error() {
    let name = "behaviour::a_bad_address_in_a_batch_is_a_device_error";
    if role().as_deref() != Some(name) {
        let left = again(name, name, &[]);
        assert!(left.success, "{}", left.text);
        let wanted = "rocblas_scal_batched: illegal address 0x1000 at index 1 of a batch, for 16 bytes";
        assert!(left.text.contains(wanted), "{}", left.text);
        return;
    }
    let b = &blas();
    let x = b.arg_of::<f32>(4, |_| vec![Z::from(1.0); 4]);
    let addresses = b.hip.buffer(&[x.p() as u64, 0x1000]);
    // SAFETY: S1, S11: a live array; what it names is what the call must find.
    let status =
        unsafe { (b.table.rocblas_sscal_batched)(b.handle, 4, &2.0, addresses.pointer.cast(), 1, 2) };
    assert_eq!(status, SUCCESS);
    assert_eq!(call!(b.hip, hipStreamSynchronize(b.stream)), hipError_t::hipErrorIllegalAddress.0);
    let mut result = 0.0;
    // SAFETY: S1, S2, S11: live operands; the stream has ended.
    unsafe {
        assert_eq!(x.p().read(), 1.0);
        let status = (b.table.rocblas_sasum)(b.handle, 4, x.p(), 1, &mut result);
        assert_eq!(status, rocblas_status::rocblas_status_internal_error);
    }
}

/// Tasks of the program on rayon's threads may share a stream and wait for it. Work that is divided among threads must not need those
/// threads.
#[test]
fn tasks_of_rayons_may_wait() {
    let b = &blas();
    let n = 128_usize;
    let a = b.arg::<f32>(n * n, 1);
    let c: Vec<Arg<'_, f32>> = (0..16).map(|seed| b.arg::<f32>(n * n, seed)).collect();
    let pairs: Vec<[usize; 2]> = c.iter().map(|c| [a.p() as usize, c.p() as usize]).collect();
    let (gemm, wait) = (b.table.rocblas_sgemm, b.hip.table.hipStreamSynchronize);
    let (handle, stream, size) = (b.handle as usize, b.stream as usize, n as i32);
    rayon::scope(|scope| {
        for [a, c] in &pairs {
            scope.spawn(move |_| {
                let (a, c) = (*a as *const f32, *c as *mut f32);
                // SAFETY: S1, S8, S11: live operands; each task writes its own.
                unsafe {
                    let op = OPS[0];
                    let status =
                        gemm(handle as _, op, op, size, size, size, &1.0, a, size, a, size, &0.0, c, size);
                    assert_eq!(status, SUCCESS);
                    assert_eq!(wait(stream as _), hipError_t::hipSuccess);
                }
            });
        }
    });
    // The same by a graph.
    let d = b.arg::<f32>(n * n, 99);
    let (mut graph, mut exec) = (null_mut(), null_mut());
    ok!(b.hip, hipStreamBeginCapture(b.stream, hipStreamCaptureMode::hipStreamCaptureModeGlobal));
    // SAFETY: S1, S11: live operands.
    let status = unsafe {
        gemm(b.handle, OPS[0], OPS[0], size, size, size, &1.0, a.p(), size, a.p(), size, &0.0, d.p(), size)
    };
    assert_eq!(status, SUCCESS);
    ok!(b.hip, hipStreamEndCapture(b.stream, &mut graph));
    ok!(b.hip, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    let (launch, exec) = (b.hip.table.hipGraphLaunch, exec as usize);
    rayon::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(move |_| {
                // SAFETY: S1, S8, S11: a live graph, on a live stream, which runs its launches one after the other.
                unsafe {
                    assert_eq!(launch(exec as _, stream as _), hipError_t::hipSuccess);
                    assert_eq!(wait(stream as _), hipError_t::hipSuccess);
                }
            });
        }
    });
    let square: Vec<Z> = {
        let element = |row: usize, column: usize| -> Z {
            (0..n).map(|k| at(&a.values[0], n, row, k) * at(&a.values[0], n, k, column)).sum()
        };
        put_matrix(&a.values[0], n, (n, n), |row, column| Some(element(row, column)))
    };
    assert!(c.iter().chain([&d]).all(|c| c.now()[0] == square));
}
