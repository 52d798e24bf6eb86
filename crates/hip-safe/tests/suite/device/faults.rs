//! Calls that fail: nothing leaks, nothing is freed while in use, and a lost device gets no calls.

use crate::under_test::two_devices;
use crate::watched::{
    calls, changed_platform, check_outcome, check_released, device, drop_errors, fail_after, fail_every,
    fail_next, no_fault, work_calls,
};
use hip_safe::{
    Device, Error, Event, Limit, ManagedAdvice, ManagedLocation, PinnedBuffer, Result, SharedBuffer,
};
use hip_sys::hip::hipError_t;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A status that no function answers by itself.
const CODE: u32 = 1999;

#[test]
fn a_sticky_error_puts_the_device_out_of_use() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let mut buffer = stream.upload(&[1_u8, 2, 3]).unwrap();
    let mut pinned = PinnedBuffer::<u8>::zeroed(&device, 3).unwrap();
    let event = Event::new(&device).unwrap();
    stream.copy_to_pinned(&buffer, &mut pinned).unwrap();
    assert!(device.poisoned_by().is_none());
    fail_next("hipStreamSynchronize", 700);
    let first = stream.synchronize().unwrap_err();
    assert_eq!(first.hip_code(), Some(700));
    let message = first.to_string();
    assert!(message.contains("hipErrorIllegalAddress (700) while waiting for stream"), "{message}");
    calls();

    // A later error of another kind does not hide the first.
    fail_next("hipMemsetAsync", 719);
    let later = [
        stream.memset(&mut buffer, 0).unwrap_err(),
        stream.download(&buffer).unwrap_err(),
        stream.synchronize().unwrap_err(),
        device.synchronize().unwrap_err(),
        device.new_stream().unwrap_err(),
        device.memory_info().unwrap_err(),
        event.is_done().unwrap_err(),
        pinned.as_slice().unwrap_err(),
    ];
    for error in later {
        assert!(
            matches!(&error, Error::Poisoned { first, .. } if first.hip_code() == Some(700)),
            "{error:?}"
        );
        assert_eq!(error.to_string(), message);
    }
    assert!(no_fault(), "no call was made");
    drop((buffer, pinned, event, stream));
    assert_eq!(calls(), [""; 0], "neither later calls nor drops go to the driver");
    assert!(drop_errors().is_empty());
    assert_eq!(device.poisoned_by().and_then(|first| first.hip_code()), Some(700));
}

#[test]
fn other_errors_leave_the_device_in_use() {
    let device = device();
    let stream = device.new_stream().unwrap();
    fail_next("hipMemsetAsync", 1);
    let error = stream.alloc_zeros::<u8>(10).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("hipMemsetAsync answered hipErrorInvalidValue (1) while setting 10 bytes"),
        "{message}"
    );
    assert!(device.poisoned_by().is_none());
    assert_eq!(stream.download(&stream.alloc_zeros::<u8>(10).unwrap()).unwrap(), [0; 10]);
}

#[test]
fn out_of_memory_gives_the_figures() {
    let stream = device().new_stream().unwrap();
    fail_every("hipMalloc", 2);
    match stream.alloc_zeros::<u32>(5).unwrap_err() {
        Error::OutOfMemory { requested: 20, driver: Some(driver), pool, largest_free: 0, .. } => {
            assert!(driver.free <= driver.total && driver.total > 0);
            assert_eq!((pool.reserved, pool.retries), (0, 1));
        }
        other => panic!("{other:?}"),
    }
    assert!(no_fault());
    fail_next("hipHostMalloc", 2);
    let error = PinnedBuffer::<u32>::zeroed(stream.device(), 5).unwrap_err();
    assert!(matches!(error, Error::HostMemory { requested: 20 }), "{error:?}");
}

/// The error says that there is no memory, also where the driver cannot be asked how much there is.
#[test]
fn out_of_memory_without_the_drivers_figures() {
    unsafe extern "C" fn no_figures(_: *mut usize, _: *mut usize) -> hipError_t {
        hipError_t(CODE)
    }
    let platform = changed_platform(|table| table.hipMemGetInfo = no_figures);
    let stream = Device::new(&Arc::new(platform), 0).unwrap().new_stream().unwrap();
    fail_every("hipMalloc", 2);
    let error = stream.alloc_zeros::<u32>(5).unwrap_err();
    assert!(no_fault());
    assert!(matches!(error, Error::OutOfMemory { requested: 20, driver: None, .. }), "{error:?}");
    assert_eq!(error.hip_code(), Some(2));
    let words = "20 bytes wanted, and the driver does not say how many are free; the pool has 0 bytes";
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn a_failing_free_is_reported() {
    let stream = device().new_stream().unwrap();
    let device = stream.device();
    stream.upload(&[1_u8]).unwrap().close().unwrap();
    fail_next("hipFree", CODE);
    let error = device.trim_memory(0).unwrap_err();
    assert_eq!(error.hip_code(), Some(CODE));
    assert!(error.to_string().contains("while freeing device memory"), "{error}");
    let statistics = device.memory_statistics();
    assert_eq!((statistics.reserved, statistics.segments), (0, 0));
    assert!(statistics.lost > 0);

    // The drop of a device frees its pool.
    drop(stream.upload(&[1_u8]).unwrap());
    let before = hip_safe::drop_errors();
    fail_next("hipFree", CODE);
    drop(stream);
    let errors = drop_errors();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].contains("hipFree") && errors[0].contains("while freeing device memory"), "{errors:?}");
    assert!(hip_safe::drop_errors() > before);
}

#[test]
fn memory_that_may_be_in_use_is_not_freed() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let buffer = || stream.alloc_zeros::<u8>(100).unwrap();
    drop(buffer());
    calls();
    // The wait for the stream fails: the device is waited for instead, and the error is reported.
    fail_next("hipStreamSynchronize", CODE);
    device.trim_memory(0).unwrap();
    assert_eq!(work_calls(), ["hipStreamSynchronize", "hipDeviceSynchronize", "hipFree"]);
    assert_eq!(drop_errors().len(), 1);
    // Every wait fails, because the current device cannot be queried: the memory stays allocated.
    if two_devices().is_none() {
        return;
    }
    drop(buffer());
    calls();
    fail_every("hipGetDevice", CODE);
    assert!(device.trim_memory(0).is_err());
    assert!(no_fault());
    assert_eq!(work_calls(), [""; 0]);
    assert!(device.memory_statistics().lost > 0);
    let mut pinned = PinnedBuffer::<u8>::zeroed(&device, 100).unwrap();
    stream.copy_to_pinned(&buffer(), &mut pinned).unwrap();
    calls();
    fail_every("hipGetDevice", CODE);
    drop(pinned);
    assert!(no_fault());
    assert!(!work_calls().contains(&"hipHostFree"));
    assert_eq!(drop_errors().len(), 1);
}

#[test]
fn a_failing_destroy_is_reported() {
    let stream = device().new_stream().unwrap();
    fail_next("hipStreamDestroy", CODE);
    drop(stream);
    let errors = drop_errors();
    assert!(errors.len() == 1 && errors[0].contains("hipStreamDestroy"), "{errors:?}");
}

/// Something of everything.
fn workload(device: &Device) -> Result<Vec<u32>> {
    let stream = device.new_stream()?;
    let (start, stop) = (Event::new(device)?, Event::new(device)?);
    stream.record_event(&start)?;
    let numbers = stream.upload(&(0..1000).collect::<Vec<u32>>())?;
    let mut sums = stream.alloc_zeros::<u32>(1000)?;
    stream.copy(&numbers.slice(500..)?, &mut sums.slice_mut(..500)?)?;
    let mut shared = SharedBuffer::new(sums);
    let _owner = shared.clone();
    stream.memset(&mut shared.make_mut(&stream)?.slice_mut(..10)?, 1)?;
    let mut pinned = PinnedBuffer::from_slice(device, &[7_u32; 1000])?;
    stream.copy_to_pinned(&shared, &mut pinned)?;
    stream.wait_event(&start)?;
    stream.record_event(&stop)?;
    let result = pinned.as_slice()?.to_vec();
    stop.elapsed_since(&start)?;
    device.memory_info()?;
    let copy = numbers.try_clone()?;
    copy.close()?;
    pinned.close()?;
    // Another stream takes part.
    let mut numbers = numbers;
    let other = device.new_stream()?;
    other.memset(&mut numbers, 3)?;
    let back = stream.download(&numbers.slice(..1)?)?;
    assert_eq!(back, [0x0303_0303]);
    drop((numbers, shared, _owner, stream, other));
    device.trim_memory(0)?;
    Ok(result)
}

/// Calls that create a resource, each with the call that releases it.
const RELEASED: [(&[&str], &str); 4] = [
    (&["hipMalloc", "hipMallocManaged"], "hipFree"),
    (&["hipHostMalloc"], "hipHostFree"),
    (&["hipStreamCreateWithFlags", "hipStreamCreateWithPriority"], "hipStreamDestroy"),
    (&["hipEventCreateWithFlags"], "hipEventDestroy"),
];

/// Something that a host function captures, and how many of them there are.
struct Captured;

static CAPTURED: AtomicUsize = AtomicUsize::new(0);

impl Captured {
    fn new() -> Self {
        CAPTURED.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        CAPTURED.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What is left: priorities, host functions, copies between devices, managed memory, what a device says of itself.
fn workload_of_the_rest(device: &Device) -> Result<Vec<u32>> {
    let stream = device.new_stream_with_priority(0)?;
    assert_eq!(stream.priority()?, 0);
    let mut pinned = PinnedBuffer::<u32>::zeroed(device, 100)?;
    let captured = Captured::new();
    let fill = move |values: &mut [u32]| {
        let _captured = captured;
        values.fill(3);
    };
    stream.launch_host_with_mut(&mut pinned, fill)?;
    let mut numbers = stream.alloc_zeros::<u32>(100)?;
    stream.copy_from_pinned(&pinned, &mut numbers)?;
    let mut beside = stream.alloc_zeros::<u32>(100)?;
    stream.copy_from_peer(&numbers, &mut beside)?;
    let mut managed = stream.alloc_managed::<u32>(100)?;
    stream.copy(&beside, &mut managed)?;
    stream.prefetch(&managed, ManagedLocation::Host)?;
    managed.advise(ManagedAdvice::ReadMostly, ManagedLocation::Host)?;
    managed.as_mut_slice()?[0] = 4;
    let other = device.new_stream()?;
    other.copy(&managed, &mut numbers)?;
    managed.close()?;
    device.uuid()?;
    device.pci_bus_id()?;
    device.set_limit(Limit::StackSize, device.limit(Limit::StackSize)?)?;
    assert!(!device.can_access_peer(device)?);
    let result = other.download(&numbers)?;
    drop((numbers, beside, pinned, stream, other));
    device.trim_memory(0)?;
    Ok(result)
}

#[test]
fn every_call_fails_once() {
    let expected = fail_each_call(workload);
    assert_eq!((expected[0], expected[10], expected[999]), (0x0101_0101, 510, 0));
}

#[test]
fn every_call_of_the_rest_fails_once() {
    if !device().properties().concurrent_managed_access {
        println!("skipped: no managed memory that the host may use while kernels run");
        return;
    }
    let expected = fail_each_call(workload_of_the_rest);
    assert_eq!((expected[0], expected[1], expected[99]), (4, 3, 3));
    assert_eq!(CAPTURED.load(Ordering::SeqCst), 0, "host functions are dropped");
}

/// Runs it once for each of its calls, with that call failing. Returns the result when no call fails.
fn fail_each_call(workload: fn(&Device) -> Result<Vec<u32>>) -> Vec<u32> {
    let device = device();
    calls();
    let expected = workload(&device).unwrap();
    let total = calls().len();
    // On a platform with one device the current device is never queried.
    let least = if two_devices().is_some() { 41 } else { 30 };
    assert!(total >= least, "{total} calls");
    for count in 0..total {
        fail_after(count, CODE);
        let outcome = workload(&device);
        assert!(!no_fault());
        let freed = device.trim_memory(0);
        let made = calls();
        let failed = *made.get(count).expect("the call was made");
        freed.unwrap();
        let statistics = device.memory_statistics();
        assert_eq!((statistics.allocated, statistics.reserved), (0, 0), "call {count}, {failed}");
        check_released(&RELEASED, &made, count, failed);
        check_outcome(outcome, &expected, count, failed);
    }
    assert_eq!(workload(&device).unwrap(), expected, "nothing is left of it");
    expected
}
