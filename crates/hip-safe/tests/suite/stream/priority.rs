//! Priorities of streams.

use crate::under_test::{device, ordinals};

#[test]
fn streams_have_the_priority_that_they_were_made_with() {
    for ordinal in ordinals() {
        let device = device(ordinal);
        let range = device.stream_priorities().unwrap();
        assert!(range.contains(&0), "{range:?}");
        assert_eq!(device.new_stream().unwrap().priority().unwrap(), 0);
        for priority in range.clone() {
            let stream = device.new_stream_with_priority(priority).unwrap();
            assert_eq!(stream.priority().unwrap(), priority);
            assert_eq!(stream.download(&stream.upload(&[priority]).unwrap()).unwrap(), [priority]);
        }
        let ends = [i32::MIN, i32::MAX].map(|wanted| device.new_stream_with_priority(wanted).unwrap());
        assert_eq!(ends.map(|stream| stream.priority().unwrap()), [*range.start(), *range.end()]);
    }
}

#[test]
fn streams_of_all_priorities_are_ordered_alike() {
    let device = device(0);
    let range = device.stream_priorities().unwrap();
    let urgent = device.new_stream_with_priority(*range.start()).unwrap();
    let patient = device.new_stream_with_priority(*range.end()).unwrap();
    let mut buffer = patient.alloc_zeros::<u8>(16 << 20).unwrap();
    for byte in 0..20 {
        patient.memset(&mut buffer, byte).unwrap();
        let seen = urgent.download(&buffer.slice((16 << 20) - 1..).unwrap()).unwrap();
        assert_eq!(seen, [byte]);
    }
}
