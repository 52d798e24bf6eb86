//! The end of streams: which work is waited for, by which thread, and what happens to memory when no wait succeeds.

use crate::under_test::{is_host, two_devices};
use crate::waiting::in_time;
use crate::watched::{calls, device, drop_errors, fail_next, no_fault, platform, work_calls};
use hip_safe::{Device, Error, PinnedBuffer, Stream};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// A copy from the stream's device to pinned memory of another.
fn copied(stream: &Stream, owner: &Device) -> PinnedBuffer<u8> {
    let mut pinned = PinnedBuffer::zeroed(owner, 64).unwrap();
    let source = stream.upload(&[1_u8; 64]).unwrap();
    stream.copy_to_pinned(&source, &mut pinned).unwrap();
    pinned
}

/// Ends the stream while neither it nor its device can be waited for: a capture keeps the device's wait away.
fn lose(stream: Stream, other: &Stream) {
    let mut stream = Some(stream);
    other
        .capture(|_| {
            fail_next("hipStreamSynchronize", 1999);
            drop(stream.take());
            Ok(())
        })
        .unwrap();
    assert!(!no_fault());
}

#[test]
fn closing_the_last_reference_ends_the_stream_and_returns_the_error() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let second = stream.clone();
    let mut buffer = stream.alloc_zeros::<u8>(64).unwrap();
    calls();
    second.close().unwrap();
    assert_eq!(calls(), [""; 0], "others refer to it");
    stream.memset(&mut buffer, 1).unwrap();
    drop(buffer);
    calls();
    stream.close().unwrap();
    assert_eq!(work_calls(), ["hipStreamSynchronize", "hipStreamDestroy"]);
    let stream = device.new_stream().unwrap();
    drop_errors();
    fail_next("hipStreamDestroy", 1999);
    assert_eq!(stream.close().unwrap_err().hip_code(), Some(1999));
    assert_eq!(drop_errors(), [""; 0], "it was returned");
}

#[test]
fn memory_of_a_stream_that_cannot_be_waited_for_is_not_freed() {
    let device = device();
    let (worker, other) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let mut pinned = copied(&worker, &device);
    let kept = other.alloc_zeros::<u8>(64).unwrap();
    worker.clone_of(&kept).map(drop).unwrap();
    lose(worker, &other);
    drop_errors();
    calls();
    let error = pinned.as_mut_slice().unwrap_err();
    assert_eq!(error.hip_code(), Some(1999), "{error}");
    let mut target = other.alloc_zeros::<u8>(64).unwrap();
    let error = other.copy_from_pinned(&pinned, &mut target).unwrap_err();
    assert_eq!(error.hip_code(), Some(1999), "nothing can come after the copy: {error}");
    drop(pinned);
    assert!(!work_calls().contains(&"hipHostFree"), "a copy may still write it");
    assert_eq!(drop_errors().len(), 1);
}

#[test]
fn a_function_that_drops_what_its_stream_copies_to_and_the_streams_end_do_not_wait_for_each_other() {
    in_time(|| {
        let device = device();
        let stream = device.new_stream().unwrap();
        let pinned = copied(&stream, &device);
        let (sender, receiver) = mpsc::channel();
        let function = move || {
            std::thread::sleep(Duration::from_millis(200));
            drop(pinned);
            sender.send(()).unwrap();
        };
        stream.launch_host(function).unwrap();
        drop(stream);
        receiver.recv().unwrap();
    });
}

#[test]
fn a_function_that_is_never_called_may_own_values_that_wait_for_its_stream() {
    if two_devices().is_none() || !is_host() {
        return;
    }
    in_time(|| {
        let platform = platform();
        let (owner, lost) = (Device::new(&platform, 0).unwrap(), Device::new(&platform, 1).unwrap());
        let stream = lost.new_stream().unwrap();
        let pinned = copied(&stream, &owner);
        let (go, gate) = mpsc::channel::<()>();
        let (started, running) = mpsc::channel();
        let first = move || {
            started.send(()).unwrap();
            gate.recv().unwrap();
        };
        stream.launch_host(first).unwrap();
        running.recv().unwrap();
        stream.launch_host(move || drop(pinned)).unwrap();
        fail_next("hipStreamQuery", 700);
        assert!(matches!(stream.is_done(), Err(Error::Poisoned { .. })));
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            go.send(()).unwrap();
        });
        drop(stream);
    });
}

#[test]
fn calls_in_a_host_function_fail_before_they_wait() {
    in_time(|| {
        let device = device();
        let (first, second) = (device.new_stream().unwrap(), device.new_stream().unwrap());
        let shared = Arc::new(first.upload(&[1_u8; 64]).unwrap());
        let (sender, receiver) = mpsc::channel();
        let (mine, platform) = (Arc::clone(&shared), platform());
        let function = move || {
            std::thread::sleep(Duration::from_millis(200));
            let answers = [
                second.download(&*mine).map(drop),
                second.capture(|_| Ok(())).map(drop),
                second.synchronize(),
                Device::count(&platform).map(drop),
                Device::new(&platform, 0).map(drop),
            ];
            sender.send(answers).unwrap();
        };
        first.launch_host(function).unwrap();
        first.download(&*shared).unwrap();
        device.synchronize().unwrap();
        for answer in receiver.recv().unwrap() {
            assert!(matches!(answer, Err(Error::InHostFunction)), "{answer:?}");
        }
    });
}

/// On NVIDIA's driver a copy to pageable memory keeps other calls of the context away until it is done, whatever we lock.
#[test]
fn two_threads_read_one_buffer_at_once() {
    if !is_host() {
        return;
    }
    in_time(|| {
        let device = device();
        let (first, second) = (device.new_stream().unwrap(), device.new_stream().unwrap());
        let shared = Arc::new(first.upload(&[1_u8; 64]).unwrap());
        let (go, gate) = mpsc::channel::<()>();
        first.launch_host(move || gate.recv().unwrap()).unwrap();
        let (mine, reader) = (Arc::clone(&shared), first.clone());
        let reader = std::thread::spawn(move || reader.download(&*mine).unwrap());
        std::thread::sleep(Duration::from_millis(200));
        let copy = second.clone_of(&*shared).unwrap();
        go.send(()).unwrap();
        assert_eq!(reader.join().unwrap(), [1; 64]);
        assert_eq!(second.download(&copy).unwrap(), [1; 64]);
    });
}

#[test]
fn a_failed_copy_is_waited_for_before_its_slice_is_released() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let mut buffer = stream.upload(&[1_u8; 64]).unwrap();
    let mut slice = [0; 64];
    for turn in 0..2 {
        calls();
        fail_next("hipMemcpyWithStream", 1999);
        let copied = match turn {
            0 => stream.copy_to_host(&buffer, &mut slice),
            _ => stream.copy_from_host(&slice, &mut buffer),
        };
        assert_eq!(copied.unwrap_err().hip_code(), Some(1999));
        assert_eq!(work_calls(), ["hipMemcpyWithStream", "hipStreamSynchronize"]);
    }
}
