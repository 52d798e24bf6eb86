//! Events: order between streams, and time.

use crate::under_test::{stream, two_devices};
use hip_safe::{Error, Event};
use std::time::Duration;

#[test]
fn time_between_two_events() {
    let stream = stream();
    let (start, stop) = (Event::new(stream.device()).unwrap(), Event::new(stream.device()).unwrap());
    let mut buffer = stream.alloc_zeros::<u8>(64 << 20).unwrap();
    let began = std::time::Instant::now();
    stream.record_event(&start).unwrap();
    for byte in 0..8 {
        stream.memset(&mut buffer, byte).unwrap();
    }
    stream.record_event(&stop).unwrap();
    stop.synchronize().unwrap();
    let on_the_host = began.elapsed();
    assert!(start.is_done().unwrap() && stop.is_done().unwrap());
    let elapsed = stop.elapsed_since(&start).unwrap();
    assert!(elapsed > Duration::ZERO && elapsed <= on_the_host, "{elapsed:?} of {on_the_host:?}");
    assert_eq!(start.elapsed_since(&start).unwrap(), Duration::ZERO);
    match start.elapsed_since(&stop).unwrap_err() {
        Error::EventsSwapped { milliseconds } => {
            assert_eq!(Duration::try_from_secs_f64(f64::from(-milliseconds) / 1e3).unwrap(), elapsed);
        }
        other => panic!("{other}"),
    }
}

#[test]
fn events_that_cannot_be_measured() {
    let stream = stream();
    let event = || Event::new(stream.device()).unwrap();
    let (recorded, never) = (event(), event());
    stream.record_event(&recorded).unwrap();
    stream.synchronize().unwrap();
    assert!(matches!(recorded.elapsed_since(&never), Err(Error::EventNotRecorded)));
    let untimed = Event::without_timing(stream.device()).unwrap();
    stream.record_event(&untimed).unwrap();
    assert!(matches!(recorded.elapsed_since(&untimed), Err(Error::EventWithoutTiming)));
    let Some((_, second)) = two_devices() else { return };
    let elsewhere = Event::new(&second).unwrap();
    assert!(matches!(recorded.elapsed_since(&elsewhere), Err(Error::WrongDevice { .. })));
    assert!(matches!(stream.record_event(&elsewhere), Err(Error::WrongDevice { .. })));
    assert!(never.is_done().unwrap());
    never.synchronize().unwrap();
    never.close().unwrap();
}

#[test]
fn a_stream_waits_for_an_event_of_another_device() {
    let Some((_, second)) = two_devices() else { return };
    let (first, second) = (stream(), second.new_stream().unwrap());
    let done = Event::without_timing(first.device()).unwrap();
    let mut buffer = first.alloc_zeros::<u8>(16 << 20).unwrap();
    first.memset(&mut buffer, 1).unwrap();
    first.record_event(&done).unwrap();
    second.wait_event(&done).unwrap();
    second.synchronize().unwrap();
    assert!(done.is_done().unwrap(), "the second stream was done after the event");
}

#[test]
fn streams_say_when_they_are_done() {
    let stream = stream();
    let mut buffer = stream.alloc_zeros::<u8>(1 << 20).unwrap();
    stream.memset(&mut buffer, 1).unwrap();
    stream.synchronize().unwrap();
    assert!(stream.is_done().unwrap());
}
