//! Sharing: references are counted, and a copy is made when, and only when, a shared buffer is written.

use crate::under_test::{device, ordinals, stream, two_devices};
use hip_safe::{Error, SharedBuffer};

#[test]
fn clones_count_and_the_last_owner_gets_the_buffer_back() {
    let stream = stream();
    let first = SharedBuffer::new(stream.upload(&[1_u8, 2, 3]).unwrap());
    assert_eq!(first.strong_count(), 1);
    let second = first.clone();
    assert_eq!((first.strong_count(), second.strong_count()), (2, 2));
    assert!(first.same_buffer(&second));
    assert_eq!(first.device_ptr(), second.device_ptr());
    let second = second.try_unwrap().expect_err("there are two owners");
    drop(first);
    assert_eq!(second.strong_count(), 1);
    let buffer = second.try_unwrap().expect("it is the only owner");
    assert_eq!(stream.download(&buffer).unwrap(), [1, 2, 3]);
}

#[test]
fn writing_copies_only_what_is_shared() {
    // A device of its own kind of count: no other test shares on device 1.
    let device = device(ordinals().len() - 1);
    let stream = device.new_stream().unwrap();
    let before = device.shared_copies();
    let mut mine = SharedBuffer::from(stream.upload(&[1_u8, 2, 3]).unwrap());
    let address = mine.device_ptr();
    stream.memset(mine.make_mut(&stream).unwrap(), 7).unwrap();
    assert_eq!((mine.device_ptr(), device.shared_copies() - before), (address, 0), "alone: in place");

    let theirs = mine.clone();
    stream.copy_from_host(&[9], &mut mine.make_mut(&stream).unwrap().slice_mut(1..2).unwrap()).unwrap();
    assert_eq!(device.shared_copies() - before, 1, "shared: one copy");
    assert_ne!(mine.device_ptr(), theirs.device_ptr());
    assert_eq!((theirs.strong_count(), mine.strong_count()), (1, 1));
    stream.memset(mine.make_mut(&stream).unwrap(), 1).unwrap();
    assert_eq!(device.shared_copies() - before, 1, "the only reference again");
    assert_eq!((mine.download().unwrap(), theirs.download().unwrap()), (vec![1; 3], vec![7; 3]));
}

#[test]
fn a_copy_for_a_writer_belongs_to_the_writer_s_stream() {
    let (mine, other) = (stream(), stream());
    let mut shared = SharedBuffer::new(mine.upload(&[1_u8]).unwrap());
    other.memset(shared.make_mut(&other).unwrap(), 2).unwrap();
    assert_eq!(shared.stream(), &mine, "alone: in place");
    let theirs = shared.clone();
    other.memset(shared.make_mut(&other).unwrap(), 3).unwrap();
    assert_eq!((shared.stream(), theirs.stream()), (&other, &mine));
    assert_eq!((mine.download(&shared).unwrap(), other.download(&theirs).unwrap()), (vec![3], vec![2]));
}

#[test]
fn writing_on_another_device_is_refused() {
    let Some((first, second)) = two_devices() else { return };
    let (mine, other) = (first.new_stream().unwrap(), second.new_stream().unwrap());
    let mut shared = SharedBuffer::new(mine.upload(&[1_u8]).unwrap());
    assert!(matches!(shared.make_mut(&other), Err(Error::WrongDevice { .. })));
    assert!(matches!(other.download(&shared), Err(Error::WrongDevice { .. })));
}

#[test]
fn an_empty_shared_buffer() {
    let stream = stream();
    let mut shared = SharedBuffer::new(stream.upload::<u64>(&[]).unwrap());
    let _other = shared.clone();
    assert!(shared.make_mut(&stream).unwrap().is_empty());
    assert_eq!(shared.download().unwrap(), []);
}
