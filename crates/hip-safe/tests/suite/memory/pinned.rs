//! Pinned memory: copies that return at once, and everything that must wait for them.

use crate::under_test::{device, stream, two_devices};
use hip_safe::{Error, PinnedBuffer};

const LEN: usize = 4 << 20;

#[test]
fn there_and_back() {
    let stream = stream();
    let values: Vec<u32> = (0..LEN as u32).collect();
    let source = PinnedBuffer::from_slice(stream.device(), &values).unwrap();
    let mut target = PinnedBuffer::<u32>::zeroed(stream.device(), LEN).unwrap();
    let mut buffer = stream.alloc_zeros(LEN).unwrap();
    stream.copy_from_pinned(&source, &mut buffer).unwrap();
    assert_eq!(source.as_slice().unwrap(), values, "it may be read while it is copied");
    stream.copy_to_pinned(&buffer, &mut target).unwrap();
    assert_eq!(target.as_slice().unwrap(), values, "reading waits for the copy");
}

#[test]
fn new_memory_is_zero() {
    let pinned = PinnedBuffer::<u64>::zeroed(&device(0), 1000).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [0; 1000]);
}

#[test]
fn writing_waits_until_the_copy_has_read() {
    let stream = stream();
    let mut source = PinnedBuffer::from_slice(stream.device(), &vec![1_u8; LEN]).unwrap();
    let mut buffers: Vec<_> = (0..4).map(|_| stream.alloc_zeros::<u8>(LEN).unwrap()).collect();
    for (buffer, byte) in buffers.iter_mut().zip(2..) {
        stream.copy_from_pinned(&source, buffer).unwrap();
        source.as_mut_slice().unwrap().fill(byte);
    }
    for (buffer, byte) in buffers.iter().zip(1..) {
        assert_eq!(stream.download(buffer).unwrap(), vec![byte; LEN]);
    }
}

#[test]
fn dropping_waits_for_the_copy() {
    let stream = stream();
    let mut buffer = stream.alloc_zeros::<u8>(LEN).unwrap();
    for byte in 1..8 {
        let source = PinnedBuffer::from_slice(stream.device(), &vec![byte; LEN]).unwrap();
        stream.copy_from_pinned(&source, &mut buffer).unwrap();
        drop(source);
        assert_eq!(stream.download(&buffer).unwrap(), vec![byte; LEN]);
        let mut target = PinnedBuffer::zeroed(stream.device(), LEN).unwrap();
        stream.copy_to_pinned(&buffer, &mut target).unwrap();
        target.close().unwrap();
    }
}

#[test]
fn forgetting_a_pinned_buffer_during_a_copy_only_leaks() {
    let stream = stream();
    let mut buffer = stream.alloc_zeros::<u8>(LEN).unwrap();
    let source = PinnedBuffer::from_slice(stream.device(), &vec![3; LEN]).unwrap();
    stream.copy_from_pinned(&source, &mut buffer).unwrap();
    std::mem::forget(source);
    let mut target = PinnedBuffer::zeroed(stream.device(), LEN).unwrap();
    stream.copy_to_pinned(&buffer, &mut target).unwrap();
    std::mem::forget(target);
    assert_eq!(stream.download(&buffer).unwrap(), vec![3; LEN]);
}

#[test]
fn one_buffer_between_two_devices() {
    let Some((_, second)) = two_devices() else { return };
    let (first, second) = (stream(), second.new_stream().unwrap());
    let from = first.upload(&(0..LEN as u32).collect::<Vec<_>>()).unwrap();
    let mut to = second.alloc_zeros::<u32>(LEN).unwrap();
    let mut between = PinnedBuffer::zeroed(first.device(), LEN).unwrap();
    // The second stream's copy reads what the first stream's wrote: it has to wait for it.
    first.copy_to_pinned(&from, &mut between).unwrap();
    second.copy_from_pinned(&between, &mut to).unwrap();
    // And this write waits for the second stream's read.
    first.copy_to_pinned(&first.alloc_zeros::<u32>(LEN).unwrap(), &mut between).unwrap();
    assert_eq!(between.as_slice().unwrap(), vec![0; LEN]);
    assert_eq!(second.download(&to).unwrap(), first.download(&from).unwrap());
}

#[test]
fn what_does_not_fit() {
    let mine = stream();
    let mut buffer = mine.alloc_zeros::<u8>(3).unwrap();
    let mut short = PinnedBuffer::zeroed(mine.device(), 2).unwrap();
    assert!(matches!(mine.copy_from_pinned(&short, &mut buffer), Err(Error::LengthMismatch { .. })));
    assert!(matches!(mine.copy_to_pinned(&buffer, &mut short), Err(Error::LengthMismatch { .. })));
    assert!(matches!(
        PinnedBuffer::<u64>::zeroed(mine.device(), (1 << 61) + 1),
        Err(Error::SizeOverflow { .. })
    ));
}

#[test]
fn pinned_copies_of_another_device_s_buffer_are_refused() {
    let Some((first, second)) = two_devices() else { return };
    let (mine, other) = (first.new_stream().unwrap(), second.new_stream().unwrap());
    let mut buffer = mine.alloc_zeros::<u8>(3).unwrap();
    let mut pinned = PinnedBuffer::zeroed(mine.device(), 3).unwrap();
    assert!(matches!(other.copy_from_pinned(&pinned, &mut buffer), Err(Error::WrongDevice { .. })));
    assert!(matches!(other.copy_to_pinned(&buffer, &mut pinned), Err(Error::WrongDevice { .. })));
}

#[test]
fn empty_pinned_memory() {
    let stream = stream();
    let mut empty = PinnedBuffer::<u32>::zeroed(stream.device(), 0).unwrap();
    let mut buffer = stream.alloc_zeros::<u32>(0).unwrap();
    stream.copy_from_pinned(&empty, &mut buffer).unwrap();
    stream.copy_to_pinned(&buffer, &mut empty).unwrap();
    assert_eq!(empty.as_mut_slice().unwrap(), []);
    assert_eq!(empty.as_slice().unwrap(), []);
}
