//! Handles go where threads go, and drop in any order.

use crate::under_test::{device, ordinals, stream};
use hip_safe::{
    Device, DeviceBuffer, DeviceView, DeviceViewMut, Error, Event, Function, Module, PinnedBuffer,
    SharedBuffer, Stream,
};
use std::sync::mpsc;
use std::thread;

#[test]
fn every_handle_is_send_and_sync() {
    fn both<T: Send + Sync>() {}
    both::<Device>();
    both::<Stream>();
    both::<Event>();
    both::<DeviceBuffer<f32>>();
    both::<DeviceView<'_, f32>>();
    both::<DeviceViewMut<'_, f32>>();
    both::<SharedBuffer<f32>>();
    both::<PinnedBuffer<f32>>();
    both::<Module>();
    both::<Function>();
    both::<Error>();
}

#[test]
fn buffers_are_dropped_on_other_threads() {
    let (sender, receiver) = mpsc::channel::<(DeviceBuffer<u32>, u32)>();
    let consumer = thread::spawn(move || {
        for (buffer, value) in receiver {
            let stream = buffer.stream().clone();
            assert_eq!(stream.download(&buffer.slice(1000..1001).unwrap()).unwrap(), [value]);
        }
    });
    for ordinal in ordinals() {
        let stream = device(ordinal).new_stream().unwrap();
        for byte in 0..50_u8 {
            let mut buffer = stream.alloc_zeros::<u32>(2000).unwrap();
            stream.memset(&mut buffer, byte).unwrap();
            sender.send((buffer, u32::from_ne_bytes([byte; 4]))).unwrap();
        }
        // The stream's last reference goes with the last buffer, on the other thread.
    }
    drop(sender);
    consumer.join().unwrap();
}

#[test]
fn many_threads_on_one_stream() {
    let stream = stream();
    let shared = SharedBuffer::new(stream.upload(&(0..10_000_u32).collect::<Vec<_>>()).unwrap());
    thread::scope(|scope| {
        for thread in 0..8_u32 {
            let (stream, shared) = (stream.clone(), shared.clone());
            scope.spawn(move || {
                for round in 0..20_u32 {
                    let at = (thread * 1000 + round) as usize;
                    let copy = stream.clone_of(&shared.slice(at..at + 100).unwrap()).unwrap();
                    let expected: Vec<u32> = (at as u32..at as u32 + 100).collect();
                    assert_eq!(stream.download(&copy).unwrap(), expected);
                    drop(copy);
                    if round % 5 == 0 {
                        stream.synchronize().unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(shared.strong_count(), 1);
}

#[test]
fn a_stream_outlives_its_variable_while_a_buffer_needs_it() {
    let mut buffer = {
        let stream = device(ordinals().len() - 1).new_stream().unwrap();
        stream.alloc_zeros::<u8>(1 << 20).unwrap()
    };
    let stream = buffer.stream().clone();
    stream.memset(&mut buffer, 4).unwrap();
    drop(stream);
    assert_eq!(buffer.stream().download(&buffer).unwrap(), vec![4; 1 << 20]);
    buffer.close().unwrap();
}
