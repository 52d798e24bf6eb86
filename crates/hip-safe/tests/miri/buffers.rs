//! What goes into buffers comes out, whoever shares them and whatever goes first.

use crate::toy::{on_devices, on_streams};
use hip_safe::{DeviceBuffer, SharedBuffer};

#[test]
fn elements_come_back_whole_and_in_parts() {
    on_streams(|[stream]| {
        let values: Vec<u16> = (0..40).collect();
        let mut buffer = stream.upload(&values).unwrap();
        let copy = buffer.try_clone().unwrap();
        let (mut left, mut right) = buffer.split_at_mut(20).unwrap();
        stream.copy(&left.view().slice(..5).unwrap(), &mut right.slice_mut(..5).unwrap()).unwrap();
        stream.copy_from_host(&[7, 8, 9], &mut left.slice_mut(1..4).unwrap()).unwrap();
        stream.memset(&mut right.slice_mut(18..).unwrap(), 0xff).unwrap();
        let mut read = vec![0; 40];
        stream.copy_to_host(&buffer, &mut read).unwrap();
        let mut expected = values.clone();
        expected.copy_within(..5, 20);
        expected[1..4].copy_from_slice(&[7, 8, 9]);
        expected[38..].fill(0xffff);
        assert_eq!(read, expected);
        let bytes = copy.view().recast::<u8>().unwrap();
        assert_eq!(stream.download(&bytes.slice(2..4).unwrap()).unwrap(), 1_u16.to_ne_bytes());
        assert_eq!(stream.download(&copy).unwrap(), values);
    });
}

#[test]
fn nothing_is_a_buffer_too() {
    on_streams(|[stream]| {
        let buffer = stream.upload::<u64>(&[]).unwrap();
        assert!(buffer.device_ptr().is_null() && stream.download(&buffer).unwrap().is_empty());
    });
}

#[test]
fn dropped_handles_stay_alive_for_their_dependants() {
    on_devices(|[device, _]| {
        let stream = device.new_stream().unwrap();
        drop(device);
        let buffer = stream.upload(&[1_u8, 2, 3]).unwrap();
        drop(stream);
        let copy = buffer.try_clone().unwrap();
        drop(buffer);
        assert_eq!(copy.stream().download(&copy).unwrap(), [1, 2, 3]);
        copy.close().unwrap();
    });
}

#[test]
fn a_writer_of_a_shared_buffer_gets_a_copy() {
    on_streams(|[mine, other]| {
        let first = SharedBuffer::new(mine.upload(&[1_u8, 2, 3]).unwrap());
        let mut second = first.clone();
        other.memset(second.make_mut(&other).unwrap(), 7).unwrap();
        // Alone by now, so in place.
        let address = second.device_ptr();
        mine.copy_from_host(&[9], &mut second.make_mut(&mine).unwrap().slice_mut(1..2).unwrap()).unwrap();
        assert_eq!(second.device_ptr(), address);
        assert_eq!((first.download().unwrap(), second.download().unwrap()), (vec![1, 2, 3], vec![7, 9, 7]));
        let second = second.try_unwrap().expect("it is the only owner");
        drop(first);
        assert_eq!(other.download(&second).unwrap(), [7, 9, 7]);
    });
}

#[test]
fn a_copy_between_devices_is_ordered_on_both() {
    on_devices(|devices| {
        let [there, here] = devices.map(|device| device.new_stream().unwrap());
        let mut source = there.upload(&[1_u32, 2, 3]).unwrap();
        let mut copy: DeviceBuffer<u32> = here.alloc_zeros(3).unwrap();
        here.copy_from_peer(&source, &mut copy).unwrap();
        there.memset(&mut source, 0).unwrap();
        assert_eq!(here.download(&copy).unwrap(), [1, 2, 3]);
        assert_eq!(there.download(&source).unwrap(), [0; 3]);
    });
}
