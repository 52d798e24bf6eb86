//! Buffers and views: values come back unchanged, and ranges and lengths are checked.

use crate::under_test::{stream, two_devices};
use half::{bf16, f16};
use hip_safe::{AnyBits, DeviceBuffer, Error};
use std::fmt::Debug;

fn round_trip<T: AnyBits + PartialEq + Debug>(values: &[T]) {
    let stream = stream();
    let buffer = stream.upload(values).unwrap();
    assert_eq!((buffer.len(), buffer.byte_len()), (values.len(), size_of_val(values)));
    assert_eq!(stream.download(&buffer).unwrap(), values);
    let copy = buffer.try_clone().unwrap();
    drop(buffer);
    let mut read = vec![values[0]; values.len()];
    stream.copy_to_host(&copy, &mut read).unwrap();
    assert_eq!(read, values);
}

#[test]
fn every_element_type_comes_back() {
    round_trip(&[0_u8, 1, 127, 255]);
    round_trip(&[i8::MIN, -1, 0, i8::MAX]);
    round_trip(&[0_u16, 1, u16::MAX]);
    round_trip(&[i16::MIN, -1, i16::MAX]);
    round_trip(&[0_u32, 1, u32::MAX]);
    round_trip(&[i32::MIN, -1, i32::MAX]);
    round_trip(&[0_u64, 1, u64::MAX]);
    round_trip(&[i64::MIN, -1, i64::MAX]);
    round_trip(&[u128::MAX, 1]);
    round_trip(&[usize::MAX, 0]);
    round_trip(&[-0.0_f32, 1.5, f32::MAX, f32::INFINITY]);
    round_trip(&[-0.0_f64, 1.5, f64::MIN_POSITIVE, f64::NEG_INFINITY]);
    round_trip(&[f16::from_f32(1.5), f16::MAX, f16::NEG_INFINITY]);
    round_trip(&[bf16::from_f32(1.5), bf16::MAX, bf16::NEG_INFINITY]);
    round_trip(&[[1_i32, 2, 3], [4, 5, 6]]);
    round_trip(&(0..100_000_u32).collect::<Vec<_>>());
}

#[test]
fn every_bit_of_a_nan_comes_back() {
    let (stream, bits) = (stream(), [0x7fc0_0001_u32, 0xffff_ffff, 0x7f80_0001]);
    let read = stream.download(&stream.upload(&bits.map(f32::from_bits)).unwrap()).unwrap();
    assert_eq!(read.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), bits);
}

#[test]
fn memory_is_zeroed_or_set_to_a_byte() {
    let stream = stream();
    for len in [1, 3, 255, 4097] {
        let mut buffer = stream.alloc_zeros::<u32>(len).unwrap();
        assert_eq!(stream.download(&buffer).unwrap(), vec![0; len]);
        stream.memset(&mut buffer.slice_mut(1..).unwrap(), 0xa5).unwrap();
        let mut expected = vec![0xa5a5_a5a5; len];
        expected[0] = 0;
        assert_eq!(stream.download(&buffer).unwrap(), expected);
    }
}

#[test]
fn views_are_ranges_of_their_buffer() {
    let stream = stream();
    let values: Vec<u16> = (0..100).collect();
    let mut buffer = stream.upload(&values).unwrap();
    let view = buffer.slice(10..20).unwrap();
    assert_eq!(stream.download(&view).unwrap(), values[10..20]);
    assert_eq!(stream.download(&view.slice(5..).unwrap()).unwrap(), values[15..20]);
    let (left, right) = view.split_at(3).unwrap();
    assert_eq!((left.len(), right.len()), (3, 7));
    assert_eq!(stream.download(&right).unwrap(), values[13..20]);

    let (mut left, mut right) = buffer.split_at_mut(50).unwrap();
    stream.copy(&left.view().slice(..10).unwrap(), &mut right.slice_mut(..10).unwrap()).unwrap();
    stream.copy_from_host(&[7, 8, 9], &mut left.slice_mut(0..3).unwrap()).unwrap();
    let read = stream.download(&buffer).unwrap();
    assert_eq!((&read[..4], &read[49..61]), (&[7, 8, 9, 3][..], &[49, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 60][..]));
}

#[test]
fn ranges_outside_the_buffer() {
    let mut buffer = stream().upload(&[1_u8; 10]).unwrap();
    let error = buffer.slice(3..11).unwrap_err();
    assert_eq!(error.to_string(), "elements 3..11 were asked for, of a buffer of 10");
    assert!(matches!(buffer.slice_mut(11..), Err(Error::OutOfRange { start: 11, .. })));
    assert!(matches!(buffer.split_at(11), Err(Error::OutOfRange { .. })));
    assert!(matches!(buffer.split_at_mut(11), Err(Error::OutOfRange { .. })));
    assert!(matches!(buffer.view().slice(..=usize::MAX), Err(Error::OutOfRange { .. })));
    assert!(buffer.slice(10..).unwrap().is_empty());
}

#[test]
fn sizes_that_overflow() {
    let stream = stream();
    let count = (1 << 61) + 1;
    let error = stream.alloc_zeros::<u64>(count).unwrap_err();
    assert!(
        matches!(error, Error::SizeOverflow { count: named, element_bytes: 8 } if named == count),
        "{error:?}"
    );
    // SAFETY: S15: nothing is read.
    assert!(matches!(unsafe { stream.alloc_uninit::<u16>(usize::MAX) }, Err(Error::SizeOverflow { .. })));
}

#[test]
fn more_than_the_device_has() {
    let stream = stream();
    let total = stream.device().properties().total_memory;
    let error = stream.alloc_zeros::<u8>(total + 1).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { requested, .. } if requested == total + 1), "{error:?}");
    assert!(stream.alloc_zeros::<u8>(100).is_ok(), "the device goes on");
}

#[test]
fn an_empty_buffer() {
    let stream = stream();
    let mut empty = stream.upload::<f32>(&[]).unwrap();
    assert!(empty.is_empty() && empty.device_ptr().is_null());
    assert_eq!(stream.download(&empty).unwrap(), []);
    stream.copy(&empty.try_clone().unwrap(), &mut empty).unwrap();
    stream.memset(&mut empty, 1).unwrap();
    assert!(empty.slice(..).unwrap().is_empty());
    empty.close().unwrap();
    // A type without bytes makes a buffer without memory, of any length.
    let units = stream.alloc_zeros::<[u8; 0]>(usize::MAX).unwrap();
    assert_eq!((units.len(), units.byte_len(), units.device_ptr().is_null()), (usize::MAX, 0, true));
    assert_eq!(stream.download(&units).unwrap().len(), usize::MAX);
}

#[test]
fn lengths_that_differ() {
    let stream = stream();
    let mut buffer = stream.upload(&[1_u8, 2, 3]).unwrap();
    let other = stream.upload(&[1_u8, 2]).unwrap();
    let length_mismatch = |error: Error| assert!(matches!(error, Error::LengthMismatch { .. }), "{error:?}");
    length_mismatch(stream.copy_from_host(&[1; 4], &mut buffer).unwrap_err());
    length_mismatch(stream.copy_to_host(&buffer, &mut [0; 2]).unwrap_err());
    length_mismatch(stream.copy(&other, &mut buffer).unwrap_err());
    let error = stream.copy(&other, &mut buffer).unwrap_err();
    assert_eq!(error.to_string(), "copying on the device: 3 elements are needed, 2 were given");
}

#[test]
fn another_device_is_refused() {
    let Some((_, second)) = two_devices() else { return };
    let (mine, other) = (stream(), second.new_stream().unwrap());
    let mut buffer = mine.upload(&[1_u8, 2, 3]).unwrap();
    let mut theirs = other.upload(&[4_u8, 5, 6]).unwrap();
    let devices = (mine.device().label(), other.device().label());
    let wrong = |error: Error| match error {
        Error::WrongDevice { bound, used, .. } => (bound, used),
        other => panic!("{other:?}"),
    };
    assert_eq!(wrong(other.download(&buffer).unwrap_err()), devices);
    assert_eq!(wrong(other.copy_to_host(&buffer, &mut [0; 3]).unwrap_err()), devices);
    assert_eq!(wrong(other.memset(&mut buffer, 0).unwrap_err()), devices);
    assert_eq!(wrong(other.copy_from_host(&[0; 3], &mut buffer).unwrap_err()), devices);
    assert_eq!(wrong(other.clone_of(&buffer).unwrap_err()), devices);
    assert_eq!(wrong(mine.copy(&theirs, &mut buffer).unwrap_err()), (devices.1, devices.0));
    assert_eq!(wrong(mine.copy(&buffer, &mut theirs).unwrap_err()), (devices.1, devices.0));
    assert_eq!(wrong(buffer.rebind(&other).unwrap_err()), devices);
    let message = other.download(&buffer).unwrap_err().to_string();
    assert!(
        message.contains(&devices.0.to_string()) && message.contains(&devices.1.to_string()),
        "{message}"
    );
    assert_eq!(mine.download(&buffer).unwrap(), [1, 2, 3], "nothing was written");
}

#[test]
fn a_buffer_moves_to_another_stream_of_its_device() {
    let (first, second) = (stream(), stream());
    let mut buffer = first.alloc_zeros::<u32>(1 << 20).unwrap();
    first.memset(&mut buffer, 1).unwrap();
    buffer.rebind(&second).unwrap();
    assert_eq!(buffer.stream(), &second);
    assert_eq!(buffer.try_clone().unwrap().stream(), &second);
    assert_eq!(second.download(&buffer).unwrap(), vec![0x0101_0101; 1 << 20]);
    assert_eq!(first.download(&buffer).unwrap(), vec![0x0101_0101; 1 << 20]);
}

#[test]
fn bytes_as_elements_of_another_type() {
    let stream = stream();
    let mut bytes = stream.upload(&[1_u8, 0, 0, 0, 2, 0, 0, 0]).unwrap();
    let view = bytes.view();
    assert_eq!(stream.download(&view.recast::<u32>().unwrap()).unwrap(), [1, 2]);
    assert!(matches!(view.slice(..6).unwrap().recast::<u32>(), Err(Error::Recast { .. })));
    assert!(matches!(view.slice(1..5).unwrap().recast::<u32>(), Err(Error::Recast { .. })));
    stream.copy_from_host(&[7_u64], &mut bytes.view_mut().recast::<u64>().unwrap()).unwrap();
    assert_eq!(stream.download(&bytes).unwrap(), [7, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn types_that_go_one_way() {
    let stream = stream();
    let flags = stream.upload(&[true, false, true]).unwrap();
    assert_eq!(stream.download(&flags.view().recast::<u8>().unwrap()).unwrap(), [1, 0, 1]);
}

#[test]
fn forgotten_buffers_only_leak() {
    let stream = stream();
    let buffer: DeviceBuffer<u8> = stream.upload(&[1, 2, 3]).unwrap();
    std::mem::forget(buffer);
    assert_eq!(stream.download(&stream.upload(&[9_u8]).unwrap()).unwrap(), [9]);
}
