//! Managed memory: the host's slices wait for the device's work, and the device's work for its own.

use crate::under_test::{is_host, module, stream, two_devices};
use crate::watched::{
    calls, changed_platform, device, drop_errors, fail_every, fail_next, no_fault, work_calls,
};
use hip_safe::{
    Device, Error, LaunchConfig, ManagedAdvice, ManagedBuffer, ManagedLocation, MemoryKind, PinnedBuffer,
    Stream,
};
use hip_sys::Optional;
use hip_sys::hip::{hipDeviceProp_tR0600, hipError_t, hipMemLocation, hipMemoryAdvise, hipStream_t};
use std::cell::RefCell;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

const LEN: usize = 1 << 20;

/// Managed memory; none, with a word, where the device has it not.
fn managed<T: hip_safe::AnyBits>(stream: &Stream, len: usize) -> Option<ManagedBuffer<T>> {
    match stream.alloc_managed(len) {
        Err(Error::NotOffered { what, .. }) => {
            println!("skipped: no {what}");
            None
        }
        answer => Some(answer.unwrap()),
    }
}

#[test]
fn host_and_device_see_the_same() {
    let stream = stream();
    let Some(mut numbers) = managed::<f32>(&stream, LEN) else { return };
    assert_eq!(numbers.as_slice().unwrap(), vec![0.0; LEN]);
    assert_eq!(stream.device().memory_kind(numbers.view().device_ptr().cast()).unwrap(), MemoryKind::Managed);
    let fill = module(stream.device()).function("elementwise_fill_f32").unwrap();
    let mut launch = stream.launch(&fill, LaunchConfig::linear(LEN as u64, 256));
    launch.arg_mut(&mut numbers).value(&(LEN as u64)).value(&2.5_f32);
    // SAFETY: S9: the kernel fills LEN elements.
    unsafe { launch.submit() }.unwrap();
    assert_eq!(numbers.as_slice().unwrap(), vec![2.5; LEN], "reading waits for the kernel");
    numbers.as_mut_slice().unwrap()[LEN - 1] = 7.0;
    let copy = stream.clone_of(&numbers).unwrap();
    assert_eq!(stream.download(&copy).unwrap()[LEN - 2..], [2.5, 7.0]);
    stream.copy(&copy, &mut numbers).unwrap();
    numbers.close().unwrap();
}

#[test]
fn writing_waits_until_the_device_has_read() {
    let stream = stream();
    let Some(mut source) = managed::<u8>(&stream, LEN) else { return };
    let mut copies: Vec<_> = (0..6).map(|_| stream.alloc_zeros::<u8>(LEN).unwrap()).collect();
    for (copy, byte) in copies.iter_mut().zip(1..) {
        source.as_mut_slice().unwrap().fill(byte);
        stream.copy(&source, copy).unwrap();
    }
    for (copy, byte) in copies.iter().zip(1..) {
        assert_eq!(stream.download(copy).unwrap(), vec![byte; LEN]);
    }
}

#[test]
fn two_streams_are_ordered_and_a_drop_waits() {
    let device = device();
    let (first, second) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let Some(mut numbers) = managed::<u8>(&first, LEN) else { return };
    let mut copy = second.alloc_zeros::<u8>(LEN).unwrap();
    first.memset(&mut numbers, 3).unwrap();
    calls();
    second.copy(&numbers, &mut copy).unwrap();
    assert!(calls().contains(&"hipStreamWaitEvent"));
    drop(numbers);
    assert_eq!(work_calls(), ["hipStreamSynchronize", "hipStreamSynchronize", "hipFree"]);
    assert_eq!(second.download(&copy).unwrap(), vec![3; LEN]);
}

#[test]
fn slices_wait_only_for_what_they_have_to() {
    let stream = device().new_stream().unwrap();
    let Some(mut numbers) = managed::<u8>(&stream, LEN) else { return };
    numbers.as_slice().unwrap();
    let mut copy = stream.alloc_zeros::<u8>(LEN).unwrap();
    stream.synchronize().unwrap();
    stream.copy(&numbers, &mut copy).unwrap();
    calls();
    assert_eq!(numbers.as_slice().unwrap()[0], 0);
    assert_eq!(calls(), [""; 0], "both only read it");
    numbers.as_mut_slice().unwrap()[0] = 1;
    assert_eq!(work_calls(), ["hipStreamSynchronize"]);
    numbers.as_mut_slice().unwrap()[0] = 2;
    assert_eq!(calls(), [""; 0]);
}

#[test]
fn moving_and_advising_change_nothing_inside() {
    let stream = stream();
    let Some(mut numbers) = managed::<u32>(&stream, LEN) else { return };
    let device = stream.device().clone();
    numbers.as_mut_slice().unwrap().fill(9);
    let locations = [ManagedLocation::Device(&device), ManagedLocation::Host];
    for location in locations {
        stream.prefetch(&numbers, location).unwrap();
        for advice in [
            ManagedAdvice::ReadMostly,
            ManagedAdvice::NotReadMostly,
            ManagedAdvice::PreferredLocation,
            ManagedAdvice::AccessedBy,
            ManagedAdvice::NotAccessedBy,
            ManagedAdvice::NoPreferredLocation,
        ] {
            numbers.advise(advice, location).unwrap();
        }
        assert_eq!(stream.download(&numbers).unwrap(), vec![9; LEN]);
        assert_eq!(numbers.as_slice().unwrap(), vec![9; LEN]);
    }
    let elsewhere = crate::watched::device();
    let foreign = ManagedLocation::Device(&elsewhere);
    assert!(matches!(stream.prefetch(&numbers, foreign), Err(Error::WrongDevice { .. })));
    assert!(matches!(numbers.advise(ManagedAdvice::AccessedBy, foreign), Err(Error::WrongDevice { .. })));
}

thread_local! {
    static LOCATIONS: RefCell<Vec<(&'static str, hipMemLocation)>> = const { RefCell::new(Vec::new()) };
}

/// As AMD's library does it: the older function, which takes the location as a number.
unsafe extern "C" fn advise_v2(
    address: *const c_void,
    bytes: usize,
    advice: hipMemoryAdvise,
    location: hipMemLocation,
) -> hipError_t {
    LOCATIONS.with_borrow_mut(|locations| locations.push(("advise", location)));
    // SAFETY: S1: the caller's own arguments.
    unsafe { (crate::under_test::platform().hip().hipMemAdvise)(address, bytes, advice, location.id) }
}

unsafe extern "C" fn prefetch_v2(
    address: *const c_void,
    bytes: usize,
    location: hipMemLocation,
    flags: c_uint,
    stream: hipStream_t,
) -> hipError_t {
    assert_eq!(flags, 0);
    LOCATIONS.with_borrow_mut(|locations| locations.push(("prefetch", location)));
    // SAFETY: S1: the caller's own arguments.
    unsafe { (crate::under_test::platform().hip().hipMemPrefetchAsync)(address, bytes, location.id, stream) }
}

/// HIP 7.1 brought functions that take a location as a structure.
#[test]
fn a_library_with_the_later_functions_is_asked_by_them() {
    let platform = changed_platform(|table| {
        table.hipMemAdvise_v2 = Optional::present(advise_v2, "hipMemAdvise_v2", "7.1");
        table.hipMemPrefetchAsync_v2 = Optional::present(prefetch_v2, "hipMemPrefetchAsync_v2", "7.1");
    });
    let device = Device::new(&Arc::new(platform), 0).unwrap();
    let stream = device.new_stream().unwrap();
    let Some(numbers) = managed::<u32>(&stream, LEN) else { return };
    calls();
    for location in [ManagedLocation::Device(&device), ManagedLocation::Host] {
        stream.prefetch(&numbers, location).unwrap();
        numbers.advise(ManagedAdvice::ReadMostly, location).unwrap();
    }
    assert_eq!(work_calls(), [""; 0], "the older ones are left alone");
    let asked: Vec<_> =
        LOCATIONS.take().into_iter().map(|(what, location)| (what, location.type_.0, location.id)).collect();
    // C's numbers: 1 is a device, 2 the host, which an older function calls -1.
    assert_eq!(asked, [("prefetch", 1, 0), ("advise", 1, 0), ("prefetch", 2, -1), ("advise", 2, -1)]);
    assert_eq!(numbers.as_slice().unwrap(), vec![0; LEN]);
}

#[test]
fn a_drop_waits_for_a_move() {
    let stream = device().new_stream().unwrap();
    let Some(numbers) = managed::<u32>(&stream, LEN) else { return };
    stream.synchronize().unwrap();
    stream.prefetch(&numbers, ManagedLocation::Device(stream.device())).unwrap();
    calls();
    drop(numbers);
    assert_eq!(work_calls(), ["hipStreamSynchronize", "hipFree"]);
}

#[test]
fn nothing_is_done_for_no_elements() {
    let stream = device().new_stream().unwrap();
    calls();
    let mut empty = stream.alloc_managed::<u64>(0).unwrap();
    assert_eq!(empty.as_slice().unwrap(), []);
    assert_eq!(empty.as_mut_slice().unwrap(), []);
    stream.prefetch(&empty, ManagedLocation::Host).unwrap();
    empty.advise(ManagedAdvice::ReadMostly, ManagedLocation::Host).unwrap();
    empty.close().unwrap();
    assert_eq!(calls(), [""; 0]);
    assert!(matches!(stream.alloc_managed::<u64>((1 << 61) + 1), Err(Error::SizeOverflow { .. })));
}

#[test]
fn other_devices_are_refused_but_copies_between_devices_are_not() {
    let Some((first, second)) = two_devices() else { return };
    let (mine, other) = (first.new_stream().unwrap(), second.new_stream().unwrap());
    let Some(mut numbers) = managed::<u8>(&mine, 100) else { return };
    assert!(matches!(other.memset(&mut numbers, 1), Err(Error::WrongDevice { .. })));
    let mut copy = other.alloc_zeros::<u8>(100).unwrap();
    mine.memset(&mut numbers, 4).unwrap();
    other.copy_from_peer(&numbers, &mut copy).unwrap();
    assert_eq!(other.download(&copy).unwrap(), [4; 100]);
}

unsafe extern "C" fn not_while_kernels_run(out: *mut hipDeviceProp_tR0600, ordinal: c_int) -> hipError_t {
    let platform = hip_host::platform();
    let ask = platform.hip().hipGetDevicePropertiesR0600.get().unwrap();
    // SAFETY: S1: the caller's own arguments; `out` was filled by the call.
    unsafe {
        let code = ask(out, ordinal);
        (*out).concurrentManagedAccess = 0;
        code
    }
}

#[test]
fn a_device_without_concurrent_access_has_no_managed_memory() {
    if !is_host() {
        return;
    }
    let platform = changed_platform(|table| {
        let name = "hipGetDevicePropertiesR0600";
        table.hipGetDevicePropertiesR0600 = Optional::present(not_while_kernels_run, name, "6.0");
    });
    let stream = Device::new(&Arc::new(platform), 0).unwrap().new_stream().unwrap();
    calls();
    let error = stream.alloc_managed::<u8>(1).unwrap_err();
    assert!(matches!(error, Error::NotOffered { .. }), "{error}");
    assert_eq!(calls(), [""; 0]);
}

#[test]
fn memory_for_a_failed_allocation_comes_from_the_pool() {
    let stream = device().new_stream().unwrap();
    if managed::<u8>(&stream, 1).is_none() {
        return;
    }
    drop(stream.alloc_zeros::<u8>(LEN).unwrap());
    fail_next("hipMallocManaged", 2);
    calls();
    drop(stream.alloc_managed::<u8>(100).unwrap());
    assert!(calls().contains(&"hipFree"));
    assert_eq!(stream.device().memory_statistics().reserved, 0);
    fail_every("hipMallocManaged", 2);
    let error = stream.alloc_managed::<u8>(100).unwrap_err();
    assert_eq!(error.hip_code(), Some(2));
    assert!(no_fault());
}

#[test]
fn a_failing_free_is_reported_and_memory_in_use_stays() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let Some(numbers) = managed::<u8>(&stream, 100) else { return };
    fail_next("hipFree", 1999);
    drop(numbers);
    let errors = drop_errors();
    assert!(errors.len() == 1 && errors[0].contains("while freeing managed memory"), "{errors:?}");
    // Of an only device it is not asked whether it is current.
    if two_devices().is_none() {
        return;
    }
    let numbers = stream.alloc_managed::<u8>(100).unwrap();
    calls();
    fail_every("hipGetDevice", 1999);
    drop(numbers);
    assert!(no_fault());
    assert_eq!((work_calls(), drop_errors().len()), (vec![], 1), "it may be in use");
}

#[test]
fn no_call_after_poisoning() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let Some(mut numbers) = managed::<u8>(&stream, 100) else { return };
    // SAFETY: S4: the stream that it is made from goes last.
    let foreign = unsafe { Stream::from_raw(&device, stream.raw()) };
    let urgent = device.new_stream_with_priority(0).unwrap();
    let mut pinned = PinnedBuffer::<u8>::zeroed(&device, 100).unwrap();
    urgent.launch_host_with(&pinned, |_| ()).unwrap();
    foreign.memset(&mut numbers, 1).unwrap();
    urgent.synchronize().unwrap();
    fail_next("hipStreamSynchronize", 700);
    stream.synchronize().unwrap_err();
    calls();
    let location = ManagedLocation::Host;
    let later = [
        numbers.as_slice().unwrap_err(),
        numbers.as_mut_slice().unwrap_err(),
        stream.prefetch(&numbers, location).unwrap_err(),
        numbers.advise(ManagedAdvice::ReadMostly, location).unwrap_err(),
        stream.alloc_managed::<u8>(1).unwrap_err(),
        foreign.synchronize().unwrap_err(),
        urgent.launch_host(|| unreachable!()).unwrap_err(),
        urgent.launch_host_with_mut(&mut pinned, |_| unreachable!()).unwrap_err(),
        urgent.priority().unwrap_err(),
        device.stream_priorities().unwrap_err(),
        device.uuid().unwrap_err(),
        device.pci_bus_id().unwrap_err(),
        device.limit(hip_safe::Limit::StackSize).unwrap_err(),
        device.can_access_peer(&device).unwrap_err(),
    ];
    for error in later {
        assert!(matches!(&error, Error::Poisoned { .. }), "{error:?}");
    }
    drop((numbers, foreign, urgent, pinned, stream));
    assert_eq!(calls(), [""; 0]);
    assert!(drop_errors().is_empty());
}
