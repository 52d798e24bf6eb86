//! A device's pool is not locked while the host waits or the driver is called.

use crate::under_test::two_devices;
use crate::waiting::{LONG, in_time};
use crate::watched::{calls, device, fail_after, fail_next, no_fault, platform, work_calls};
use crate::{again, is_child};
use hip_safe::{Device, DeviceBuffer, MemorySource, Stream};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;

/// Waits until memory of the device is on its way back to the driver.
fn leaving(device: &Device) {
    let begun = Instant::now();
    while device.memory_statistics().leaving == 0 {
        assert!(begun.elapsed() < LONG, "nothing leaves: {:?}", device.memory_statistics());
        thread::yield_now();
    }
}

/// A stream with a host function that drops a buffer after a while; its device's pool has 64 MiB that the stream used.
fn stream_whose_work_frees() -> Stream {
    let stream = device().new_stream().unwrap();
    let [large, buffer] = [64 * MIB, MIB].map(|bytes| stream.alloc_zeros::<u8>(bytes).unwrap());
    drop(large);
    let slow = move || {
        thread::sleep(Duration::from_millis(300));
        drop(buffer);
    };
    stream.launch_host(slow).unwrap();
    stream
}

#[test]
fn the_work_that_a_trim_waits_for_may_free() {
    let trimmed = in_time(|| {
        let stream = stream_whose_work_frees();
        let device = stream.device();
        device.trim_memory(0)
    });
    assert_eq!(trimmed.unwrap(), 66 * MIB, "its segment is free by then, too");
}

#[test]
fn the_work_that_an_allocation_waits_for_may_free() {
    in_time(|| {
        let stream = stream_whose_work_frees();
        let device = stream.device();
        calls();
        fail_next("hipMalloc", 2);
        drop(stream.alloc_zeros::<u8>(65 * MIB).unwrap());
        assert!(!no_fault());
        let expected = ["hipMalloc", "hipStreamSynchronize", "hipFree", "hipFree", "hipMalloc"];
        assert_eq!(work_calls()[..5], expected, "with the segment of what was freed");
        assert_eq!(device.memory_statistics().retries, 1);
    });
}

#[test]
fn others_use_the_pool_while_a_trim_waits() {
    for source in [MemorySource::Driver, MemorySource::StreamOrdered] {
        in_time(move || {
            let device = device();
            device.set_memory_source(source).unwrap();
            let (stream, other) = (device.new_stream().unwrap(), device.new_stream().unwrap());
            let kept = other.alloc_zeros::<u8>(MIB).unwrap();
            drop(stream.alloc_zeros::<u8>(64 * MIB).unwrap());
            let (open, gate) = mpsc::channel::<()>();
            stream.launch_host(move || gate.recv().unwrap()).unwrap();
            let trimming = thread::spawn({
                let device = device.clone();
                move || device.trim_memory(0)
            });
            leaving(&device);
            // What the pool has, new memory, drops, figures and streams: none of them waits.
            let figures = device.memory_statistics();
            assert_eq!((figures.leaving, figures.lost), (64 * MIB, 0));
            let buffers = [MIB, 16 * MIB].map(|bytes| other.alloc_zeros::<u8>(bytes).unwrap());
            assert_eq!(other.download(&buffers[1]).unwrap().len(), 16 * MIB);
            assert_eq!(device.memory_statistics().segments, 2);
            drop((kept, buffers, other));
            drop(device.new_stream().unwrap());
            open.send(()).unwrap();
            assert!(trimming.join().unwrap().unwrap() >= 64 * MIB);
            device.trim_memory(0).unwrap();
            let figures = device.memory_statistics();
            assert_eq!((figures.leaving, figures.lost, figures.reserved), (0, 0, 0));
        });
    }
}

/// While one thread returns the last memory to the driver, another one that needs memory waits for it.
#[test]
fn memory_being_returned_is_waited_for_before_an_out_of_memory_error() {
    in_time(|| {
        let device = device();
        let (stream, other) = (device.new_stream().unwrap(), device.new_stream().unwrap());
        drop(stream.alloc_zeros::<u8>(64 * MIB).unwrap());
        let (open, gate) = mpsc::channel::<()>();
        stream.launch_host(move || gate.recv().unwrap()).unwrap();
        let trimming = thread::spawn({
            let device = device.clone();
            move || device.trim_memory(0)
        });
        leaving(&device);
        let asking = thread::spawn(move || {
            // The driver has none until the other thread is done.
            fail_next("hipMalloc", 2);
            calls();
            drop(other.alloc_zeros::<u8>(64 * MIB).unwrap());
            work_calls()
        });
        thread::sleep(Duration::from_millis(100));
        assert!(!asking.is_finished());
        open.send(()).unwrap();
        assert_eq!(trimming.join().unwrap().unwrap(), 64 * MIB);
        assert_eq!(asking.join().unwrap()[..2], ["hipMalloc", "hipMalloc"]);
    });
}

#[test]
fn reserved_memory_needs_no_call() {
    let device = device();
    let stream = device.new_stream().unwrap();
    drop([32, 32].map(|mib| stream.alloc_zeros::<u8>(mib * MIB).unwrap()));
    device.reserve_memory(64 * MIB).unwrap();
    calls();
    for stream in [&stream, &device.new_stream().unwrap()] {
        // SAFETY: S15: nothing is read.
        drop(unsafe { stream.alloc_uninit::<u8>(64 * MIB) }.unwrap());
        assert!(!calls().contains(&"hipMalloc"));
        stream.synchronize().unwrap();
    }
    // If the driver refuses, what is kept in other pieces goes back.
    fail_next("hipMalloc", 2);
    calls();
    device.reserve_memory(100 * MIB).unwrap();
    assert_eq!(work_calls(), ["hipMalloc", "hipFree", "hipFree", "hipFree", "hipMalloc"]);
    assert_eq!(device.memory_statistics().reserved, 100 * MIB);
}

/// The hook gets an error of a driver call for the pool after the pool is unlocked, so it may allocate and free.
#[test]
fn the_hook_may_use_the_pool() {
    static KEPT: Mutex<Option<DeviceBuffer<u8>>> = Mutex::new(None);
    const TEST: &str = "memory::pool_waits::the_hook_may_use_the_pool";
    if two_devices().is_none() {
        return;
    }
    if !is_child() {
        let output = again(TEST, &[]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    in_time(|| {
        let platform = platform();
        let [zero, one] = [0, 1].map(|ordinal| Device::new(&platform, ordinal).unwrap());
        let stream = zero.new_stream().unwrap();
        *KEPT.lock().unwrap() = Some(stream.alloc_zeros::<u8>(10).unwrap());
        hip_safe::on_drop_error(|_| {
            let kept = KEPT.lock().unwrap().take().expect("it is told once");
            drop(kept.stream().alloc_zeros::<u8>(128 * MIB).unwrap());
            drop(kept);
        });
        let _current = one.make_current().unwrap();
        calls();
        // The device is asked for, set, memory is allocated, and the former device cannot be set again.
        fail_after(3, 1999);
        // SAFETY: S15: nothing is read.
        unsafe { stream.alloc_uninit::<u8>(64 * MIB) }.unwrap();
        assert!(!no_fault() && KEPT.lock().unwrap().is_none());
        assert_eq!(hip_safe::drop_errors(), 1);
    });
}
