//! Memory that the pool hands on: its next owner's work comes after the former one's, and what goes back to the driver is used no more.

use crate::toy::{on_devices, on_streams};
use hip_safe::{DeviceBuffer, MemorySource};

#[test]
fn the_next_owner_comes_after_the_former_one() {
    on_streams(|[first, second]| {
        let mut kept = Vec::new();
        for round in 0..3_u8 {
            let stream = if round % 2 == 0 { &first } else { &second };
            let mut buffer = stream.alloc_zeros::<u8>(700).unwrap();
            stream.memset(&mut buffer, round).unwrap();
            let copy = second.clone_of(&buffer).unwrap();
            drop(buffer);
            kept.push(copy);
        }
        for (round, copy) in kept.iter().enumerate() {
            assert_eq!(first.download(copy).unwrap(), [round as u8; 700]);
        }
    });
}

#[test]
fn free_memory_is_released_after_its_work() {
    on_devices(|[device, _]| {
        let streams = [(); 2].map(|()| device.new_stream().unwrap());
        for stream in &streams {
            let mut buffer = stream.alloc_zeros::<u32>(5000).unwrap();
            stream.memset(&mut buffer, 1).unwrap();
        }
        device.trim_memory(0).unwrap();
        assert_eq!(device.memory_statistics().reserved, 0);
        device.reserve_memory(10_000).unwrap();
        let buffer = streams[1].upload(&[3_u8; 10_000]).unwrap();
        device.trim_memory(0).unwrap();
        assert_eq!(streams[0].download(&buffer).unwrap(), [3; 10_000]);
    });
}

#[test]
fn memory_of_the_driver_s_own_pool() {
    on_devices(|[device, _]| {
        device.set_memory_source(MemorySource::StreamOrdered).unwrap();
        let stream = device.new_stream().unwrap();
        let buffer = stream.upload(&[1_u64, 2, 3]).unwrap();
        assert_eq!(stream.download(&buffer).unwrap(), [1, 2, 3]);
        drop((device, stream, buffer));
    });
}

/// Blocks of several sizes are cut, joined and handed on in an order that a simple generator makes.
#[test]
fn buffers_keep_their_contents_while_blocks_are_cut_and_joined() {
    on_streams(|streams: [_; 2]| {
        let (mut live, mut state) = (Vec::<(DeviceBuffer<u16>, u16)>::new(), 1_u32);
        for round in 0..20_u16 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (bits, stream) = (state >> 16, &streams[(state >> 31) as usize]);
            if live.len() > 4 || (bits % 3 == 0 && !live.is_empty()) {
                let (buffer, value) = live.swap_remove(bits as usize % live.len());
                assert_eq!(stream.download(&buffer).unwrap(), vec![value; buffer.len()]);
            } else {
                live.push((stream.upload(&vec![round; 1 + bits as usize % 600]).unwrap(), round));
            }
        }
        assert!(!live.is_empty());
    });
}
