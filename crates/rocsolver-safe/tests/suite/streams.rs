//! Streams, threads, graphs and devices.

use crate::dense::{Dense, small};
use crate::operand::Operand;
use crate::under_test;
use hip_safe::Error as Hip;
use rocblas_safe::{Error as Blas, Handle, Triangle};
use rocsolver_safe::{Error, Info, Solver, Transpose};
use std::sync::mpsc;

fn is_send_and_sync<T: Send + Sync>() {}

#[test]
fn solvers_are_send_and_sync() {
    is_send_and_sync::<Solver<'_>>();
    is_send_and_sync::<Info>();
    is_send_and_sync::<Error>();
}

/// Calls return before their work has begun, and come in order with other uses of their operands on any stream.
#[test]
fn operations_are_asynchronous_and_ordered() {
    let (first, handle) = under_test::handle();
    let second = first.device().new_stream().unwrap();
    let other = Handle::new(&second).unwrap();
    let (factor, solve) = (Solver::new(&handle).unwrap(), Solver::new(&other).unwrap());
    let (given, right) = (Dense::random::<f64>(12, 12, 1), Dense::random::<f64>(12, 2, 2));
    let (mut a, mut b) = (Operand::<f64>::one(&first, &given), Operand::<f64>::one(&first, &right));
    let mut pivots = first.alloc_zeros::<i32>(12).unwrap();
    let (release, held) = mpsc::channel::<()>();
    // It ends too when the test fails before the release.
    first
        .launch_host(move || {
            let _ = held.recv();
        })
        .unwrap();
    let info = factor.getrf(a.write(), &mut pivots).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| solve.getrs(Transpose::No, a.read(), &pivots, b.write()).unwrap());
    });
    assert!(!second.is_done().unwrap(), "it waits for the factors");
    release.send(()).unwrap();
    info.check().unwrap();
    let x = &b.download(&second)[0];
    // Of a random matrix of this size L has at most 12 x 12 elements up to 1, and U is at most 2^11 times as large as A.
    let bound = f64::EPSILON * 36.0 * 12.0 * 2048.0 * given.norm() * x.norm();
    small("solved", &(&given.times(x) - &right), bound);
}

#[test]
fn a_graph_computes_anew_at_each_launch() {
    if under_test::name() != "host" {
        println!("skipped: rocSOLVER does not say which of its functions can be captured");
        return;
    }
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let given = Dense::hermitian::<f64>(6, 9.0, 4);
    let mut a = Operand::<f64>::one(&stream, &given);
    let mut called = None;
    let graph = stream
        .capture(|_| {
            called = Some(solver.potrf(Triangle::Lower, a.write()).map(drop));
            Ok(())
        })
        .unwrap();
    called.unwrap().unwrap();
    drop(handle);
    graph.instantiate().unwrap().launch(&stream).unwrap();
    let l = a.download(&stream)[0].only(|i, j| i >= j);
    small("factor", &(&given - &l.times(&l.adjoint())), f64::EPSILON * 7.0 * l.norm() * l.norm());
}

/// The number is not there before the graph has run.
#[test]
fn a_check_in_a_capture_is_refused() {
    let (stream, handle) = under_test::handle();
    if under_test::name() != "host" {
        return;
    }
    let solver = Solver::new(&handle).unwrap();
    let mut a = Operand::<f64>::one(&stream, &Dense::identity(3, 3));
    let mut checked = None;
    stream
        .capture(|_| {
            checked = Some(solver.potrf(Triangle::Lower, a.write()).and_then(Info::check));
            Ok(())
        })
        .unwrap();
    assert!(matches!(checked, Some(Err(Error::Blas(Blas::Hip(Hip::Capturing { .. }))))), "{checked:?}");
}

#[test]
fn memory_of_another_device_is_refused() {
    let Some((zero, one)) = under_test::two_devices() else { return };
    let handle = Handle::new(&zero.new_stream().unwrap()).unwrap();
    let other = one.new_stream().unwrap();
    let mut a = Operand::<f32>::one(&other, &Dense::identity(3, 3));
    let refused = Solver::new(&handle).unwrap().potrf(Triangle::Lower, a.write());
    assert!(matches!(refused, Err(Error::Blas(Blas::Hip(Hip::WrongDevice { .. })))), "{refused:?}");
}

/// Both devices of hip-host, which differ in their wave size, compute the same bits.
#[test]
fn every_device_computes() {
    let Some(devices) = under_test::two_devices() else { return };
    let [first, second] = [devices.0, devices.1].map(|device| {
        let stream = device.new_stream().unwrap();
        let handle = Handle::new(&stream).unwrap();
        let mut a = Operand::<f64>::one(&stream, &Dense::random::<f64>(9, 9, 5));
        let mut pivots = stream.alloc_zeros::<i32>(9).unwrap();
        Solver::new(&handle).unwrap().getrf(a.write(), &mut pivots).unwrap().check().unwrap();
        (a.download(&stream), stream.download(&pivots).unwrap())
    });
    assert_eq!(first, second);
}
