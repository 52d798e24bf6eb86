//! Threads that use the same stream, the same buffers and the same pool.

use crate::toy::{on_devices, on_streams};
use hip_safe::SharedBuffer;
use std::sync::mpsc::channel;
use std::thread;

#[test]
fn threads_read_one_buffer_on_any_stream() {
    on_streams(|[stream, other]| {
        let mut buffer = stream.alloc_zeros::<u8>(8).unwrap();
        for round in 1..3 {
            stream.memset(&mut buffer, round).unwrap();
            thread::scope(|scope| {
                for on in [&stream, &other, &stream] {
                    let buffer = &buffer;
                    scope.spawn(move || assert_eq!(on.download(buffer).unwrap(), [round; 8]));
                }
                let copy = stream.clone_of(&buffer).unwrap();
                assert_eq!(other.download(&copy).unwrap(), [round; 8]);
            });
        }
    });
}

#[test]
fn threads_write_parts_of_one_buffer() {
    on_streams(|[stream, other]| {
        let mut buffer = stream.alloc_zeros::<u8>(8).unwrap();
        for round in 1..3 {
            let (mut left, mut right) = buffer.split_at_mut(4).unwrap();
            thread::scope(|scope| {
                scope.spawn(|| stream.memset(&mut left, round).unwrap());
                other.memset(&mut right, 10 * round).unwrap();
            });
            assert_eq!(stream.download(&buffer).unwrap(), [[round; 4], [10 * round; 4]].concat());
        }
    });
}

#[test]
fn buffers_are_made_on_one_thread_and_dropped_on_another() {
    on_devices(|[device, _]| {
        let (sender, receiver) = channel();
        let maker = thread::spawn({
            let device = device.clone();
            move || {
                let stream = device.new_stream().unwrap();
                for value in 0..3_u8 {
                    let shared = SharedBuffer::new(stream.upload(&[value; 600]).unwrap());
                    sender.send((shared.clone(), value)).unwrap();
                }
            }
        });
        let stream = device.new_stream().unwrap();
        for (mut shared, value) in receiver {
            let mut own = stream.alloc_zeros::<u8>(600).unwrap();
            stream.copy(&shared, &mut own).unwrap();
            stream.memset(shared.make_mut(&stream).unwrap(), 0xee).unwrap();
            drop(shared);
            assert_eq!(stream.download(&own).unwrap(), [value; 600]);
        }
        maker.join().unwrap();
    });
}

#[test]
fn threads_open_the_same_device() {
    on_devices(|[device, _]| {
        let platform = device.platform();
        thread::scope(|scope| {
            for value in 0..3_u8 {
                scope.spawn(move || {
                    let device = hip_safe::Device::new(platform, 1).unwrap();
                    let stream = device.new_stream().unwrap();
                    let buffer = stream.upload(&[value; 4]).unwrap();
                    assert_eq!(stream.download(&buffer).unwrap(), [value; 4]);
                });
            }
        });
    });
}
