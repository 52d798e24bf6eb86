//! Streams, threads, graphs and devices.

use crate::dense::{Dense, small};
use crate::operand::Operand;
use crate::under_test;
use hip_safe::Error as Hip;
use rocblas_safe::{Error as Blas, Handle, Triangle};
use rocsolver_safe::{Error, Info, Pivots, Result, Solver, Transpose};

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
    let release = under_test::hold(&first);
    let (pivots, info) = factor.getrf(a.write()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| solve.getrs(Transpose::No, a.read(), &pivots, b.write()).unwrap());
    });
    if let Some(release) = release {
        assert!(!second.is_done().unwrap(), "it waits for the factors");
        release.send(()).unwrap();
    }
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
    let (given, right) = (Dense::random::<f64>(6, 6, 4), Dense::random::<f64>(6, 2, 5));
    let mut a = Operand::<f64>::one(&stream, &given);
    let (pivots, info) = solver.getrf(a.write()).unwrap();
    info.check().unwrap();
    let mut b = Operand::<f64>::one(&stream, &right);
    let mut called = None;
    let graph = stream
        .capture(|_| {
            called = Some(solver.getrs(Transpose::No, a.read(), &pivots, b.write()));
            Ok(())
        })
        .unwrap();
    called.unwrap().unwrap();
    // The graph has what it needs.
    drop((handle, pivots, a));
    let graph = graph.instantiate().unwrap();
    let mut before = right;
    for _ in 0..2 {
        graph.launch(&stream).unwrap();
        let x = b.download(&stream).remove(0);
        // As above, with U at most 2^5 times as large as A.
        let bound = f64::EPSILON * 18.0 * 6.0 * 32.0 * given.norm() * x.norm();
        small("solved", &(&given.times(&x) - &before), bound);
        before = x;
    }
}

/// Before the first launch of the graph its numbers and pivots would be zeros, which say that all is well and are not rows.
#[test]
fn what_can_fail_is_refused_in_a_capture() {
    let (stream, handle) = under_test::handle();
    let solver = Solver::new(&handle).unwrap();
    let mut a = Operand::<f64>::one(&stream, &Dense::identity(3, 3));
    let mut refused: Vec<Result<()>> = Vec::new();
    stream
        .capture(|stream| {
            refused.push(solver.getrf(a.write()).map(drop));
            refused.push(solver.potrf(Triangle::Lower, a.write()).map(drop));
            refused.push(Pivots::from_host(stream, &[1, 2, 3], 3, None).map(drop));
            Ok(())
        })
        .unwrap();
    assert_eq!(refused.len(), 3);
    for answer in refused {
        assert!(matches!(answer, Err(Error::Blas(Blas::Hip(Hip::Capturing { .. })))), "{answer:?}");
    }
    solver.getrf(a.write()).unwrap().1.check().unwrap();
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
        let (pivots, info) = Solver::new(&handle).unwrap().getrf(a.write()).unwrap();
        info.check().unwrap();
        (a.download(&stream), stream.download(&pivots.view()).unwrap())
    });
    assert_eq!(first, second);
}
