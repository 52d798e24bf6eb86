//! Order between streams: which events are recorded and waited for, and that it holds.

use crate::under_test::module;
use crate::waiting::{RECORD_AND_WAIT, streams, waits};
use crate::watched::{calls, device, fail_next, platform, work_calls};
use hip_safe::{Device, DeviceBuffer, Error, LaunchConfig, PinnedBuffer, Stream};

fn write(stream: &Stream, buffer: &mut DeviceBuffer<u32>) {
    stream.memset(buffer, 1).unwrap();
}

fn read(stream: &Stream, buffer: &DeviceBuffer<u32>) {
    // The copy's own target is new, so only the source is waited for.
    drop(stream.clone_of(buffer).unwrap());
}

#[test]
fn work_on_one_stream_makes_no_event_and_no_wait() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let fill = module(&device).function("elementwise_fill_f32").unwrap();
    let mut pinned = PinnedBuffer::from_slice(&device, &[1.0_f32; 100]).unwrap();
    calls();
    for _ in 0..10 {
        let mut buffer = stream.alloc_zeros::<f32>(100).unwrap();
        // SAFETY: S9: the kernel fills a hundred elements.
        unsafe {
            let mut launch = stream.launch(&fill, LaunchConfig::linear(100, 64));
            launch.arg_mut(&mut buffer).value(&100_u64).value(&2.5_f32).submit().unwrap();
        }
        stream.copy_from_pinned(&pinned, &mut buffer).unwrap();
        let mut copy = buffer.try_clone().unwrap();
        drop(buffer);
        stream.memset(&mut copy.slice_mut(..10).unwrap(), 0).unwrap();
        stream.copy_to_pinned(&copy, &mut pinned).unwrap();
        assert_eq!(stream.download(&copy).unwrap()[9..11], [0.0, 1.0]);
    }
    assert_eq!(waits(), [""; 0]);
}

#[test]
fn a_hand_over_takes_one_event_and_one_wait() {
    let device = device();
    let [producer, consumer, other] = streams(&device);
    let (mut first, mut second) = (producer.alloc_zeros(10).unwrap(), producer.alloc_zeros(10).unwrap());
    write(&producer, &mut first);
    write(&producer, &mut second);
    calls();
    read(&consumer, &first);
    assert_eq!(waits(), RECORD_AND_WAIT);
    read(&consumer, &first);
    read(&consumer, &second);
    assert_eq!(waits(), [""; 0], "the event came after both writes");
    read(&other, &second);
    assert_eq!(waits(), ["hipStreamWaitEvent"], "the same event serves another consumer");
    write(&producer, &mut first);
    assert_eq!(waits(), RECORD_AND_WAIT, "one stream has read it");
    read(&producer, &first);
    assert_eq!(waits(), [""; 0]);
}

#[test]
fn a_write_comes_after_the_reads_of_every_stream() {
    let device = device();
    let [writer, first, second] = streams(&device);
    let mut buffer = writer.alloc_zeros(10).unwrap();
    read(&first, &buffer);
    read(&second, &buffer);
    calls();
    write(&writer, &mut buffer);
    assert_eq!(waits(), [RECORD_AND_WAIT, RECORD_AND_WAIT].concat());
    write(&writer, &mut buffer);
    assert_eq!(waits(), [""; 0]);
}

#[test]
fn two_halves_of_a_buffer_are_one_memory() {
    let device = device();
    let [first, second] = streams(&device);
    let mut buffer = first.alloc_zeros::<u32>(10).unwrap();
    calls();
    let (mut left, mut right) = buffer.split_at_mut(5).unwrap();
    second.copy(&left, &mut right).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT);
    first.memset(&mut left, 0).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT);
}

#[test]
fn completed_work_is_not_waited_for() {
    let device = device();
    let [first, second] = streams(&device);
    let mut buffer = second.alloc_zeros::<u32>(10).unwrap();
    write(&first, &mut buffer);
    first.synchronize().unwrap();
    calls();
    read(&second, &buffer);
    assert_eq!(waits(), [""; 0]);
    second.download(&buffer).unwrap();
    calls();
    write(&first, &mut buffer);
    assert_eq!(waits(), [""; 0], "a download is complete when it returns, and so is what came before");
    drop(first);
    calls();
    write(&second, &mut buffer);
    assert_eq!(waits(), [""; 0], "a stream that is gone has waited for its work");
}

#[test]
fn a_wait_that_fails_submits_nothing() {
    let device = device();
    let [first, second] = streams(&device);
    let mut buffer = first.upload(&[7_u32; 10]).unwrap();
    for call in RECORD_AND_WAIT {
        write(&first, &mut buffer);
        calls();
        fail_next(call, 1999);
        let error = second.memset(&mut buffer, 9).unwrap_err();
        assert_eq!(error.hip_code(), Some(1999));
        assert!(!work_calls().contains(&"hipMemsetAsync"));
        assert_eq!(first.download(&buffer).unwrap(), [0x0101_0101; 10]);
    }
    second.memset(&mut buffer, 9).unwrap();
    assert_eq!(first.download(&buffer).unwrap(), [0x0909_0909; 10], "nothing is remembered of it");
}

#[test]
fn an_untracked_buffer_is_not_ordered() {
    let device = device();
    let [first, second] = streams(&device);
    let mut buffer = first.alloc_zeros::<u32>(10).unwrap();
    // SAFETY: S5: every use waits for the one before.
    unsafe { buffer.untracked() };
    first.synchronize().unwrap();
    calls();
    write(&second, &mut buffer);
    second.synchronize().unwrap();
    read(&first, &buffer);
    assert_eq!(waits(), ["hipStreamSynchronize"]);
}

#[test]
fn streams_come_and_go_while_buffers_stay() {
    let device = Device::new(&platform(), 0).unwrap();
    let stream = device.new_stream().unwrap();
    let mut buffer = stream.upload(&[0_u32; 1000]).unwrap();
    for round in 0..200_u8 {
        let short = device.new_stream().unwrap();
        short.memset(&mut buffer, round).unwrap();
        drop(short);
    }
    assert_eq!(stream.download(&buffer).unwrap(), [u32::from_ne_bytes([199; 4]); 1000]);
}

#[test]
fn pinned_memory_is_ordered_on_the_device() {
    let device = device();
    let [first, second] = streams(&device);
    let mut on_first = first.upload(&[1_u8; 1000]).unwrap();
    let mut on_second = second.alloc_zeros::<u8>(1000).unwrap();
    let mut pinned = PinnedBuffer::<u8>::zeroed(&device, 1000).unwrap();
    calls();
    first.copy_to_pinned(&on_first, &mut pinned).unwrap();
    assert_eq!(waits(), [""; 0]);
    second.copy_from_pinned(&pinned, &mut on_second).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT, "the first stream writes it");
    first.copy_from_pinned(&pinned, &mut on_first).unwrap();
    assert_eq!(waits(), [""; 0], "two may read");
    first.copy_to_pinned(&on_first, &mut pinned).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT, "the second stream reads it");
    second.copy_to_pinned(&on_second, &mut pinned).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT, "the first stream writes it");
    assert_eq!(pinned.as_slice().unwrap(), [1; 1000]);
}

#[test]
fn a_buffer_of_another_device_is_refused_before_any_call() {
    let platform = platform();
    if Device::count(&platform).unwrap() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let (first, second) = (Device::new(&platform, 0).unwrap(), Device::new(&platform, 1).unwrap());
    let (mine, other) = (first.new_stream().unwrap(), second.new_stream().unwrap());
    let mut buffer = mine.alloc_zeros::<u32>(10).unwrap();
    calls();
    let mut submission = other.submission();
    submission.write(&mut buffer);
    // SAFETY: S1: nothing is submitted.
    let error =
        unsafe { submission.submit("nothing", |_| -> () { panic!("it is not called") }) }.unwrap_err();
    assert!(matches!(error, Error::WrongDevice { .. }), "{error:?}");
    assert_eq!(calls(), [""; 0]);
}
