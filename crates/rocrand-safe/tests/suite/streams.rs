//! Streams, threads, captures and ends of generators.

use crate::under_test;
use hip_safe::Error as Hip;
use rocrand_safe::{Error, Generator, Kind};
use std::sync::mpsc;
use std::time::Duration;

fn is_send_and_sync<T: Send + Sync>() {}

#[test]
fn generators_may_change_threads() {
    is_send_and_sync::<Generator>();
    is_send_and_sync::<Error>();
    let stream = under_test::stream();
    let mut generator = under_test::generator(&stream, Kind::Philox4x32x10);
    let mut numbers = stream.alloc_zeros::<u32>(8).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| generator.fill_bits(&mut numbers).unwrap());
    });
    assert_ne!(stream.download(&numbers).unwrap(), [0; 8]);
}

/// The library has one state for both streams. The first of them is held up, so that nothing but the order between them keeps the calls
/// apart.
#[test]
fn a_generator_on_two_streams_has_one_sequence() {
    let first = under_test::stream();
    let second = first.device().new_stream().unwrap();
    for kind in [Kind::Xorwow, Kind::Mrg32k3a, Kind::Philox4x32x10] {
        let mut generator = under_test::generator(&first, kind);
        let mut whole = first.alloc_zeros::<u32>(3000).unwrap();
        generator.fill_bits(&mut whole).unwrap();
        let whole = first.download(&whole).unwrap();

        let mut generator = under_test::generator(&first, kind);
        generator.initialize().unwrap();
        let mut parts: Vec<_> = (0..3).map(|_| first.alloc_zeros::<u32>(1000).unwrap()).collect();
        first.synchronize().unwrap();
        first.launch_host(|| std::thread::sleep(Duration::from_millis(100))).unwrap();
        for (part, stream) in parts.iter_mut().zip([&first, &second, &first]) {
            generator.set_stream(stream).unwrap();
            assert_eq!(generator.stream(), stream);
            generator.fill_bits(part).unwrap();
        }
        let parts: Vec<_> = parts.iter().flat_map(|part| second.download(part).unwrap()).collect();
        assert_eq!(parts, whole, "{kind:?}");
    }
}

#[test]
fn streams_and_memory_of_another_device_are_refused() {
    let Some((zero, one)) = under_test::two_devices() else { return };
    let (stream, other) = (zero.new_stream().unwrap(), one.new_stream().unwrap());
    let mut generator = under_test::generator(&stream, Kind::Xorwow);
    assert!(matches!(generator.set_stream(&other), Err(Error::Hip(Hip::WrongDevice { .. }))));
    let mut numbers = other.alloc_zeros::<u32>(4).unwrap();
    assert!(matches!(generator.fill_bits(&mut numbers), Err(Error::Hip(Hip::WrongDevice { .. }))));
    assert_eq!(other.download(&numbers).unwrap(), [0; 4]);
    let mut own = stream.alloc_zeros::<u32>(4).unwrap();
    generator.fill_bits(&mut own).unwrap();
}

#[test]
fn calls_are_not_captured() {
    let stream = under_test::stream();
    let mut generator = under_test::generator(&stream, Kind::Philox4x32x10);
    let mut numbers = stream.alloc_zeros::<u32>(4).unwrap();
    let mut refused = None;
    let graph = stream
        .capture(|stream| {
            refused = Some([
                generator.fill_bits(&mut numbers).unwrap_err(),
                generator.initialize().unwrap_err(),
                Generator::new(stream, Kind::Xorwow).unwrap_err(),
            ]);
            Ok(())
        })
        .unwrap();
    assert_eq!(graph.node_count(), 0, "nothing of it is in the graph");
    for error in refused.unwrap() {
        assert!(matches!(&error, Error::Hip(Hip::Capturing { .. })), "{error}");
    }
    // The generator is as it was.
    generator.fill_bits(&mut numbers).unwrap();
    let mut fresh = stream.alloc_zeros::<u32>(4).unwrap();
    under_test::generator(&stream, Kind::Philox4x32x10).fill_bits(&mut fresh).unwrap();
    assert_eq!(stream.download(&numbers).unwrap(), stream.download(&fresh).unwrap());
}

/// In a host function nothing may wait: calls are refused, and another thread destroys the generator.
#[test]
fn a_host_function_may_drop_a_generator_and_not_use_it() {
    let stream = under_test::stream();
    let mut generator = under_test::generator(&stream, Kind::Xorwow);
    let mut numbers = stream.alloc_zeros::<u32>(4).unwrap();
    let (sender, receiver) = mpsc::channel();
    let before = hip_safe::drop_errors();
    let function = move || {
        let answer = generator.fill_bits(&mut numbers);
        drop(generator);
        sender.send(answer).unwrap();
    };
    stream.launch_host(function).unwrap();
    stream.synchronize().unwrap();
    let answer = receiver.recv().unwrap();
    assert!(matches!(answer, Err(Error::Hip(Hip::InHostFunction))), "{answer:?}");
    stream.device().synchronize().unwrap();
    assert_eq!(hip_safe::drop_errors(), before);
}

/// Work that was submitted is done although the generator is gone.
#[test]
fn dropping_a_generator_loses_no_work() {
    let stream = under_test::stream();
    let mut kept = stream.alloc_zeros::<f32>(1000).unwrap();
    let mut generator = under_test::generator(&stream, Kind::Xorwow);
    generator.fill_uniform(&mut kept).unwrap();
    drop(generator);
    assert!(stream.download(&kept).unwrap().iter().all(|&x| x > 0.0));
}
