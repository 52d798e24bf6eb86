//! Handles of other libraries are destroyed once.

use crate::under_test::device;
use hip_safe::{Device, Error, LibraryHandle};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

type Count = Arc<AtomicUsize>;

/// A handle, and how often it was destroyed.
fn handle(device: &Device) -> (LibraryHandle<Count>, Count) {
    let count = Count::default();
    let destroy = |_: &Device, count: &mut Count| {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(())
    };
    (LibraryHandle::new(device, Arc::clone(&count), destroy), count)
}

#[test]
fn a_drop_and_a_close_destroy_it_once() {
    let device = device(0);
    let (dropped, count) = handle(&device);
    drop(dropped);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let (closed, count) = handle(&device);
    closed.close().unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn while_this_thread_captures_another_thread_destroys_it() {
    let device = device(0);
    let stream = device.new_stream().unwrap();
    let (closed, count) = handle(&device);
    let mut answer = None;
    let graph = stream.capture(|_| {
        answer = Some(closed.close());
        assert_eq!(count.load(Ordering::SeqCst), 0, "not while a thread captures");
        Ok(())
    });
    drop(graph);
    assert!(matches!(answer, Some(Err(Error::Capturing { .. }))), "{answer:?}");
    let begin = Instant::now();
    while count.load(Ordering::SeqCst) == 0 && begin.elapsed() < Duration::from_secs(10) {
        std::thread::yield_now();
    }
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn an_error_of_its_library_is_returned() {
    let device = device(0);
    let refuse = |_: &Device, _: &mut Count| {
        let (name, doing) = ("an error".into(), "destroying".into());
        Err(Error::Hip { call: "destroy", code: 7, name, doing, cause: None })
    };
    let count = Count::default();
    let handle = LibraryHandle::new(&device, Arc::clone(&count), refuse);
    assert!(matches!(handle.close(), Err(Error::Hip { code: 7, .. })));
    // What could not be destroyed is leaked.
    assert_eq!(Arc::strong_count(&count), 2);
}
