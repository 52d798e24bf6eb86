//! Work on several streams that uses the same memory: an order that is missing is a race of their threads.

use crate::toy::on_streams;
use hip_safe::{DeviceBuffer, Event, Stream};
use hip_sys::hip::{hipError_t, hipMemcpyKind};

#[test]
fn reads_come_after_the_write_and_the_next_write_after_them() {
    on_streams(|[writer, first, second, third]: [Stream; 4]| {
        let mut buffer = writer.upload(&[1_u32; 8]).unwrap();
        for round in 1..3_u8 {
            writer.memset(&mut buffer, round).unwrap();
            let copies = [&first, &second, &writer].map(|reader| reader.clone_of(&buffer).unwrap());
            third.memset(&mut buffer.slice_mut(4..).unwrap(), 0xf0).unwrap();
            let value = u32::from_ne_bytes([round; 4]);
            for copy in &copies {
                assert_eq!(copy.stream().download(copy).unwrap(), [value; 8]);
            }
            let expected = [[value; 4], [0xf0f0_f0f0; 4]].concat();
            assert_eq!(first.download(&buffer).unwrap(), expected);
        }
    });
}

/// At home a buffer's uses take no lock; elsewhere, and afterwards, they do.
#[test]
fn a_buffer_moves_to_another_stream_and_back() {
    on_streams(|[home, other]| {
        let mut buffer = home.alloc_zeros::<u8>(16).unwrap();
        for round in 1..3 {
            home.memset(&mut buffer, round).unwrap();
            home.memset(&mut buffer.slice_mut(..8).unwrap(), round + 100).unwrap();
            assert_eq!(other.download(&buffer).unwrap(), [[round + 100; 8], [round; 8]].concat());
            other.memset(&mut buffer, round + 200).unwrap();
            assert_eq!(home.download(&buffer).unwrap(), [round + 200; 16]);
        }
        buffer.rebind(&other).unwrap();
        home.memset(&mut buffer, 1).unwrap();
        assert_eq!(buffer.try_clone().map(|copy| other.download(&copy).unwrap()).unwrap(), [1; 16]);
    });
}

/// More memory than a submission keeps in place, of several streams.
#[test]
fn a_submission_of_many_buffers_waits_for_each_of_them() {
    on_streams(|streams: [Stream; 3]| {
        let sources: Vec<DeviceBuffer<u8>> =
            (0..11).map(|i| streams[i % 3].upload(&[i as u8; 4]).unwrap()).collect();
        let mut whole = streams[1].alloc_zeros::<u8>(44).unwrap();
        let stream = streams[0].device().new_stream().unwrap();
        let to = whole.device_ptr_mut();
        let from: Vec<*const u8> = sources.iter().map(DeviceBuffer::device_ptr).collect();
        let copy = stream.device().platform().hip().hipMemcpyAsync;
        let kind = hipMemcpyKind::hipMemcpyDeviceToDevice;
        let mut submission = stream.submission();
        for source in &sources {
            submission.read(source);
        }
        submission.write(&mut whole);
        let call = |raw| {
            for (index, &from) in from.iter().enumerate() {
                // SAFETY: S2: both ranges are of live buffers, which the submission has.
                let status = unsafe { copy(to.wrapping_add(4 * index).cast(), from.cast(), 4, kind, raw) };
                assert_eq!(status, hipError_t::hipSuccess);
            }
        };
        // SAFETY: S5: the copies read and write what the submission was given.
        unsafe { submission.submit("joining buffers", call) }.unwrap();
        drop(sources);
        let expected: Vec<u8> = (0..11).flat_map(|i| [i; 4]).collect();
        assert_eq!(streams[2].download(&whole).unwrap(), expected);
    });
}

#[test]
fn an_event_of_the_program_orders_untracked_memory() {
    on_streams(|[first, second]| {
        let event = Event::without_timing(first.device()).unwrap();
        let mut buffer = first.alloc_zeros::<u8>(4).unwrap();
        // SAFETY: S5: the event below orders the two uses, and the buffer is dropped when both are complete.
        unsafe { buffer.untracked() };
        first.memset(&mut buffer, 5).unwrap();
        first.record_event(&event).unwrap();
        second.wait_event(&event).unwrap();
        assert_eq!(second.download(&buffer).unwrap(), [5; 4]);
        event.synchronize().unwrap();
        assert!(event.is_done().unwrap() && first.is_done().unwrap());
    });
}
