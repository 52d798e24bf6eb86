//! Streams that another library made, and what other libraries are given.

use crate::under_test::{self, device, is_host, ordinals, two_devices};
use crate::watched::{self, calls, drop_errors, fail_next, work_calls};
use hip_safe::{Error, Event, PinnedBuffer, Stream};
use std::collections::HashSet;
use std::ptr::null_mut;

#[test]
fn a_foreign_stream_is_ordered_like_ours_and_not_destroyed() {
    let device = watched::device();
    let (theirs, ours) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    // SAFETY: S4: their stream is of this device and outlives ours.
    let foreign = unsafe { Stream::from_raw(&device, theirs.raw()) };
    assert_ne!(foreign.id(), theirs.id());
    let mut buffer = ours.alloc_zeros::<u8>(1000).unwrap();
    calls();
    foreign.memset(&mut buffer, 7).unwrap();
    ours.memset(&mut buffer.slice_mut(..1).unwrap(), 8).unwrap();
    let waits: Vec<_> = work_calls().into_iter().filter(|name| *name == "hipStreamWaitEvent").collect();
    assert_eq!(waits.len(), 2, "there and back");
    assert_eq!(ours.download(&buffer).unwrap()[..2], [8, 7]);
    foreign.memset(&mut buffer, 1).unwrap();
    calls();
    let clone = foreign.clone();
    drop(foreign);
    assert_eq!(calls(), [""; 0]);
    fail_next("hipStreamSynchronize", 1999);
    drop(clone);
    // Its work is waited for; the event is ours.
    assert_eq!(work_calls(), ["hipStreamSynchronize", "hipDeviceSynchronize", "hipEventDestroy"]);
    assert_eq!(drop_errors().len(), 1);
    theirs.synchronize().expect("it still is");
}

#[test]
fn work_for_a_foreign_stream_that_its_owner_captures_is_refused() {
    let device = watched::device();
    let (theirs, ours) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    // SAFETY: S4: their stream is of this device and outlives ours.
    let foreign = unsafe { Stream::from_raw(&device, theirs.raw()) };
    let mut buffer = ours.alloc_zeros::<u8>(10).unwrap();
    let mut captured = theirs.alloc_zeros::<u8>(10).unwrap();
    let event = Event::new(&device).unwrap();
    let exec = ours.capture(|stream| stream.memset(&mut buffer, 9)).unwrap().instantiate().unwrap();
    ours.memset(&mut buffer, 0).unwrap();
    foreign.memset(&mut buffer, 1).unwrap();
    let graph = theirs.capture(|stream| {
        stream.memset(&mut captured, 3)?;
        calls();
        let refused = [
            foreign.memset(&mut buffer, 2),
            foreign.record_event(&event),
            foreign.wait_event(&event),
            exec.launch(&foreign),
            foreign.download(&buffer).map(drop),
            foreign.capture(|_| panic!("it is not called")).map(drop),
        ];
        for refused in refused {
            assert!(matches!(refused, Err(Error::Capturing { .. })), "{refused:?}");
        }
        assert!(work_calls().iter().all(|call| *call == "hipStreamIsCapturing"));
        // An event recorded now would be part of the graph.
        assert!(matches!(ours.memset(&mut buffer, 4).unwrap_err(), Error::Capturing { .. }));
        Ok(())
    });
    assert_eq!(graph.unwrap().node_count(), 1);
    ours.memset(&mut buffer, 5).unwrap();
    foreign.memset(&mut buffer.slice_mut(..1).unwrap(), 6).unwrap();
    assert_eq!(ours.download(&buffer).unwrap()[..2], [6, 5]);
    calls();
    ours.memset(&mut buffer, 7).unwrap();
    ours.download(&buffer).unwrap();
    assert!(!calls().contains(&"hipStreamIsCapturing"), "the driver is not asked about our own streams");
}

#[test]
fn the_null_stream_can_be_wrapped() {
    let device = device(0);
    // SAFETY: S4: the null stream always is.
    let null = unsafe { Stream::from_raw(&device, null_mut()) };
    let mut buffer = null.upload(&[1_u32, 2, 3]).unwrap();
    let other = device.new_stream().unwrap();
    other.memset(&mut buffer.slice_mut(1..2).unwrap(), 0).unwrap();
    assert_eq!(null.download(&buffer).unwrap(), [1, 0, 3]);
}

#[test]
fn devices_have_identifiers_outside_of_the_process() {
    let devices: Vec<_> = ordinals().map(device).collect();
    let uuids: HashSet<_> = devices.iter().map(|device| device.uuid().unwrap()).collect();
    let buses: HashSet<_> = devices.iter().map(|device| device.pci_bus_id().unwrap()).collect();
    assert_eq!((uuids.len(), buses.len()), (devices.len(), devices.len()));
    for (device, ordinal) in devices.iter().zip(0..) {
        assert_eq!(device.raw_ordinal(), ordinal);
        let (text, [domain, bus, slot]) = (device.pci_bus_id().unwrap(), device.properties().pci);
        assert_eq!(text.to_lowercase(), format!("{domain:04x}:{bus:02x}:{slot:02x}.0"));
    }
    if is_host() {
        assert_eq!(&devices[1].uuid().unwrap(), b"hip-host-device1");
    }
}

#[test]
fn addresses_for_other_libraries() {
    let stream = under_test::stream();
    let mut pinned = PinnedBuffer::from_slice(stream.device(), &[1_u32, 2, 3]).unwrap();
    assert_eq!(pinned.as_ptr(), pinned.as_slice().unwrap().as_ptr());
    let address = pinned.as_mut_ptr();
    // SAFETY: S12: three elements that nobody else uses.
    unsafe { address.add(1).write(9) };
    assert_eq!(pinned.as_slice().unwrap(), [1, 9, 3]);
    let module = under_test::module(stream.device());
    let fill = module.function("elementwise_fill_f32").unwrap();
    assert!(!fill.raw().is_null() && !module.raw().is_null());
    let Some((first, second)) = two_devices() else { return };
    assert_ne!(first.raw_ordinal(), second.raw_ordinal());
}
