//! Streams, threads, graphs and ends of plans.

use crate::judge::{self, check, complex_numbers, narrow};
use crate::under_test;
use hip_safe::Error as Hip;
use rocfft_safe::{Complex, Direction, Error, Plan, Spec};

fn is_send_and_sync<T: Send + Sync>() {}

#[test]
fn plans_are_send_and_sync() {
    is_send_and_sync::<Plan<f32>>();
    is_send_and_sync::<rocfft_safe::PlanCache>();
    is_send_and_sync::<Error>();
}

/// The plan's work is ordered, whichever stream and thread it is on, and whichever memory it uses.
#[test]
fn one_plan_on_two_streams() {
    let first = under_test::stream();
    let second = first.device().new_stream().unwrap();
    let given = complex_numbers(96);
    let forward =
        Plan::<f64>::new(first.device(), &Spec::complex(Direction::Forward, &[96]).in_place()).unwrap();
    let mut x = first.upload(&narrow::<f64>(&given)).unwrap();
    let mut other = second.upload(&narrow::<f64>(&given)).unwrap();
    let release = under_test::hold(&first);
    forward.in_place(&first, &mut x).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| forward.in_place(&second, &mut other).unwrap());
    });
    if let Some(release) = release {
        assert!(!second.is_done().unwrap(), "it waits for the first stream");
        release.send(()).unwrap();
    }
    forward.in_place(&second, &mut x).unwrap();
    let once = judge::transform(&given, &[96], Direction::Forward);
    check("once", &first.download(&other).unwrap(), &once, 96);
    let twice = judge::transform(&once, &[96], Direction::Forward);
    check("twice", &second.download(&x).unwrap(), &twice, 96 * 96);
}

#[test]
fn a_graph_runs_after_its_plan_was_dropped() {
    let stream = under_test::stream();
    let given = complex_numbers(210);
    let x = stream.upload(&narrow::<f32>(&given)).unwrap();
    let mut y = stream.alloc_zeros::<Complex<f32>>(210).unwrap();
    let plan = Plan::<f32>::new(stream.device(), &Spec::complex(Direction::Forward, &[14, 15])).unwrap();
    let mut called = Ok(());
    let graph = stream
        .capture(|stream| {
            called = plan.complex(stream, &x, &mut y);
            Ok(())
        })
        .unwrap();
    called.unwrap();
    drop(plan);
    let launches = graph.instantiate().unwrap();
    launches.launch(&stream).unwrap();
    launches.launch(&stream).unwrap();
    let expected = judge::transform(&given, &[14, 15], Direction::Forward);
    check("graph", &stream.download(&y).unwrap(), &expected, 210);
}

#[test]
fn plans_are_not_made_in_a_capture() {
    let stream = under_test::stream();
    let spec = Spec::complex(Direction::Forward, &[8]);
    let mut made = None;
    stream
        .capture(|stream| {
            made = Some(Plan::<f32>::new(stream.device(), &spec).map(drop));
            Ok(())
        })
        .unwrap();
    assert!(matches!(made, Some(Err(Error::Hip(Hip::Capturing { .. })))), "{made:?}");
    Plan::<f32>::new(stream.device(), &spec).unwrap().close().unwrap();
}

#[test]
fn memory_of_another_device_is_refused() {
    let Some((zero, one)) = under_test::two_devices() else { return };
    let plan = Plan::<f32>::new(&zero, &Spec::complex(Direction::Forward, &[4]).in_place()).unwrap();
    let (stream, other) = (zero.new_stream().unwrap(), one.new_stream().unwrap());
    let mut x = other.alloc_zeros::<Complex<f32>>(4).unwrap();
    assert!(matches!(plan.in_place(&stream, &mut x), Err(Error::Hip(Hip::WrongDevice { .. }))));
    // A plan belongs to its device too.
    assert!(matches!(plan.in_place(&other, &mut x), Err(Error::Hip(Hip::WrongDevice { .. }))));
}
