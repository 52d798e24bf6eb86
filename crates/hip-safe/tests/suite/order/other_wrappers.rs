//! Errors of other wrappers: each test compares this crate with a twin, a few lines that do as the other wrapper does and are shown to be wrong.
//!
//! The twins call hip-host's tables. Its checker judges the order of operations by the order of the calls, so an error is
//! found in every run. It reads its setting once: the twins and our own lines run in a process of their own.

use crate::under_test::is_host;
use crate::watched::{calls, device, fail_next, platform, unshared_platform};
use crate::{again, is_child};
use hip_host::checker::{Conflict, take_reports};
use hip_safe::{Device, Error, PinnedBuffer, Platform, Stream};
use hip_sys::hip::*;
use hip_sys::{Access, Extent};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

const BYTES: usize = 4096;

/// The tables, called as a wrapper without rules calls them.
struct Raw(Arc<Platform>);

/// Calls a function of the table and expects success.
macro_rules! raw {
    ($raw:expr, $name:ident($($argument:expr),*)) => {{
        // SAFETY: S1: live handles and ranges inside live allocations; what is wrong here is the order, which the host's checker
        // finds and its memory survives.
        let status = unsafe { ($raw.0.hip().$name)($($argument),*) };
        assert_eq!(status, hipError_t::hipSuccess, stringify!($name));
    }};
}

impl Raw {
    fn stream(&self) -> hipStream_t {
        let mut stream = null_mut();
        raw!(self, hipStreamCreateWithFlags(&mut stream, hipStreamNonBlocking));
        stream
    }

    fn event(&self) -> hipEvent_t {
        let mut event = null_mut();
        raw!(self, hipEventCreateWithFlags(&mut event, hipEventDisableTiming));
        event
    }

    fn memory(&self) -> *mut c_void {
        let mut address = null_mut();
        raw!(self, hipMalloc(&mut address, BYTES));
        address
    }

    fn pinned(&self) -> *mut c_void {
        let mut address = null_mut();
        raw!(self, hipHostMalloc(&mut address, BYTES, 0));
        address
    }

    fn write(&self, stream: hipStream_t, to: *mut c_void) {
        raw!(self, hipMemsetAsync(to, 1, BYTES, stream));
    }

    fn copy(&self, stream: hipStream_t, to: *mut c_void, from: *const c_void) {
        raw!(self, hipMemcpyAsync(to, from, BYTES, hipMemcpyKind::hipMemcpyDefault, stream));
    }

    fn record(&self, event: hipEvent_t, stream: hipStream_t) {
        raw!(self, hipEventRecord(event, stream));
    }

    fn wait(&self, stream: hipStream_t, event: hipEvent_t) {
        raw!(self, hipStreamWaitEvent(stream, event, 0));
    }

    /// The program reads pinned memory.
    fn touch(&self, pointer: *const c_void) {
        let touch = self.0.ext().touch.expect("the checker is on");
        let extent = Extent { pointer, bytes: BYTES, access: Access::READ };
        // SAFETY: S1: one extent.
        unsafe { touch(&extent, 1) };
    }

    /// What was found since the last time. Everything that runs has ended then.
    fn found(&self) -> Vec<Conflict> {
        raw!(self, hipDeviceSynchronize());
        take_reports().into_iter().map(|report| report.conflict).collect()
    }
}

/// Runs a test of this module again where the checker is on.
fn checked(test: &str) -> bool {
    if is_child() {
        return true;
    }
    if is_host() {
        let child = again(&format!("order::other_wrappers::{test}"), &[("HIPSTACK_HOST_CHECK", "1")]);
        let text =
            format!("{}{}", String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
        assert!(child.status.success() && text.contains("1 passed"), "{text}");
    }
    false
}

/// Two streams of ours and the tables below them.
fn ours() -> (Raw, Device, Stream, Stream) {
    let device = Device::new(&hip_host::platform(), 0).unwrap();
    let (first, second) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    (Raw(hip_host::platform()), device, first, second)
}

/// cudarc 1: one read event for each buffer, so that a second reading stream overwrites the first one's.
#[test]
fn a_second_reader_does_not_hide_the_first() {
    if !checked("a_second_reader_does_not_hide_the_first") {
        return;
    }
    let (raw, _device, first, second) = ours();
    let (one, other, third) = (raw.stream(), raw.stream(), raw.stream());
    let (source, event) = (raw.memory(), raw.event());
    for reader in [one, other] {
        raw.copy(reader, raw.memory(), source);
        raw.record(event, reader);
    }
    raw.wait(third, event);
    raw.write(third, source);
    assert_eq!(raw.found(), [Conflict::WriteAfterRead], "the twin");

    let third = first.device().new_stream().unwrap();
    let mut buffer = first.upload(&[1_u8; BYTES]).unwrap();
    let copies = (first.clone_of(&buffer).unwrap(), second.clone_of(&buffer).unwrap());
    third.memset(&mut buffer, 1).unwrap();
    drop((copies, buffer));
    assert_eq!(raw.found(), []);
}

/// cudarc 2 and 3: order is kept only while there are several streams, and the thread's own does not count.
#[test]
fn the_number_of_streams_does_not_matter() {
    if !checked("the_number_of_streams_does_not_matter") {
        return;
    }
    let (raw, device, first, second) = ours();
    let (one, other, buffer) = (raw.stream(), raw.stream(), raw.memory());
    let mut streams = 2;
    raw.write(one, buffer);
    streams -= 1;
    if streams > 1 {
        raw.record(raw.event(), one);
    }
    raw.write(other, buffer);
    assert_eq!(raw.found(), [Conflict::WriteAfterWrite], "the twin");

    let mut buffer = first.alloc_zeros::<u8>(BYTES).unwrap();
    first.memset(&mut buffer, 1).unwrap();
    drop(first);
    second.memset(&mut buffer, 2).unwrap();
    drop(second);
    device.new_stream().unwrap().memset(&mut buffer, 3).unwrap();
    assert_eq!(raw.found(), []);
}

/// cudarc 4: a pinned copy waits for an event that was never recorded. rocm-rs: `PendingCopy::synchronize` waits for nothing.
#[test]
fn pinned_memory_is_read_after_the_copy() {
    if !checked("pinned_memory_is_read_after_the_copy") {
        return;
    }
    let (raw, device, first, _) = ours();
    let (stream, event, pinned) = (raw.stream(), raw.event(), raw.pinned());
    raw.copy(stream, pinned, raw.memory());
    raw!(raw, hipEventSynchronize(event));
    raw.touch(pinned);
    assert_eq!(raw.found(), [Conflict::ReadAfterWrite], "the twin");

    let buffer = first.upload(&[7_u8; BYTES]).unwrap();
    let mut pinned = PinnedBuffer::zeroed(&device, BYTES).unwrap();
    first.copy_to_pinned(&buffer, &mut pinned).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [7; BYTES]);
    assert_eq!(raw.found(), []);
}

/// rocm-rs: `copy_from_host_async` drops its source while the copy runs.
#[test]
fn pinned_memory_stays_until_the_copy_is_done() {
    if !checked("pinned_memory_stays_until_the_copy_is_done") {
        return;
    }
    let (raw, device, first, _) = ours();
    // A free of memory in use waits on some platforms and not on others: giving it to somebody else is the same mistake.
    let (stream, pinned) = (raw.stream(), raw.pinned());
    raw.copy(stream, raw.memory(), pinned);
    let touch = raw.0.ext().touch.expect("the checker is on");
    let extent = Extent { pointer: pinned, bytes: BYTES, access: Access::WRITE };
    // SAFETY: S1: one extent.
    unsafe { touch(&extent, 1) };
    assert_eq!(raw.found(), [Conflict::WriteAfterRead], "the twin");

    let mut buffer = first.alloc_zeros::<u8>(BYTES).unwrap();
    let mut pinned = PinnedBuffer::from_slice(&device, &[7_u8; BYTES]).unwrap();
    first.copy_from_pinned(&pinned, &mut buffer).unwrap();
    pinned.as_mut_slice().unwrap().fill(9);
    first.copy_from_pinned(&pinned, &mut buffer).unwrap();
    drop(pinned);
    assert_eq!(first.download(&buffer).unwrap(), [9; BYTES]);
    assert_eq!(raw.found(), []);
}

/// cudarc 5: sizes are multiplied unchecked.
#[test]
fn sizes_are_multiplied_checked() {
    let count = (1_usize << 61) + 1;
    assert_eq!(count.wrapping_mul(size_of::<u64>()), 8, "the twin allocates 8 bytes");
    let stream = device().new_stream().unwrap();
    calls();
    let error = stream.alloc_zeros::<u64>(count).unwrap_err();
    assert!(matches!(error, Error::SizeOverflow { element_bytes: 8, .. }), "{error}");
    assert_eq!(calls(), [""; 0]);
}

/// cudarc 7 and 8, rocm-rs: a drop without the right device, or without any after an earlier error.
#[test]
fn a_drop_makes_its_device_current_even_after_an_error() {
    let platform = Arc::new(unshared_platform());
    if Device::count(&platform).unwrap() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let (first, second) = (Device::new(&platform, 0).unwrap(), Device::new(&platform, 1).unwrap());
    let _current = first.make_current().unwrap();
    let expected = ["hipGetDevice", "hipSetDevice", "hipEventDestroy", "hipSetDevice"];
    let mut failing = hip_safe::Event::new(&second).unwrap();
    for _ in 0..2 {
        let next = hip_safe::Event::new(&second).unwrap();
        calls();
        fail_next("hipEventDestroy", 1999);
        drop(failing);
        assert_eq!(calls(), expected, "an error before changes nothing");
        failing = next;
    }
    // The twin leaves the device as it is, or binds only while no error is pending.
    let pending: Result<(), Error> = Err(Error::NotReady);
    if pending.is_ok() {
        drop(second.make_current().unwrap());
    }
    let mut current = -1;
    // SAFETY: S1: the out-pointer is live.
    unsafe { (platform.hip().hipGetDevice)(&mut current) };
    assert_ne!(current as usize, second.ordinal(), "the twin frees on the wrong device");
}

/// cudarc 9: a wait that failed is remembered as done, and the work is submitted all the same.
#[test]
fn no_work_without_its_wait() {
    if !checked("no_work_without_its_wait") {
        return;
    }
    let (raw, ..) = ours();
    let (one, other, buffer) = (raw.stream(), raw.stream(), raw.memory());
    raw.write(one, buffer);
    // SAFETY: S1: a null event is refused.
    let waited = unsafe { (raw.0.hip().hipStreamWaitEvent)(other, null_mut(), 0) };
    assert_ne!(waited, hipError_t::hipSuccess);
    raw.write(other, buffer);
    assert_eq!(raw.found(), [Conflict::WriteAfterWrite], "the twin");

    let device = Device::new(&platform(), 0).unwrap();
    let (first, second) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let mut buffer = first.upload(&[1_u8; BYTES]).unwrap();
    first.memset(&mut buffer, 2).unwrap();
    for call in ["hipEventCreateWithFlags", "hipEventRecord", "hipStreamWaitEvent"] {
        fail_next(call, 1999);
        assert_eq!(second.memset(&mut buffer, 3).unwrap_err().hip_code(), Some(1999), "{call}");
    }
    assert_eq!(first.download(&buffer).unwrap(), [2; BYTES]);
    assert_eq!(raw.found(), []);
}

/// rocm-rs: a derived `Clone` on a stream's handle destroys the stream twice.
#[test]
fn a_stream_is_destroyed_once() {
    let raw = Raw(Device::new(&platform(), 0).unwrap().platform().clone());
    let stream = raw.stream();
    raw!(raw, hipStreamDestroy(stream));
    if is_host() {
        // SAFETY: S1: hip-host looks handles up; others may not survive this.
        let again = unsafe { (raw.0.hip().hipStreamDestroy)(stream) };
        assert_ne!(again, hipError_t::hipSuccess, "the twin");
    }
    let stream = device().new_stream().unwrap();
    let clones: Vec<Stream> = (0..10).map(|_| stream.clone()).collect();
    calls();
    drop((clones, stream));
    assert_eq!(calls().iter().filter(|call| **call == "hipStreamDestroy").count(), 1);
}

/// A buffer that is freed and handed out to another stream while the first one's work goes on.
#[test]
fn freed_memory_is_reused_after_its_work() {
    if !checked("freed_memory_is_reused_after_its_work") {
        return;
    }
    let (raw, device, first, second) = ours();
    let (one, other, block) = (raw.stream(), raw.stream(), raw.memory());
    raw.write(one, block);
    // A pool without streams: the next one gets the block at once.
    raw.write(other, block);
    assert_eq!(raw.found(), [Conflict::WriteAfterWrite], "the twin");

    if raw.0.ext().own_pages {
        return println!("skipped: no pool where every buffer has pages of its own");
    }
    let before = device.memory_statistics();
    let mut addresses = Vec::new();
    for stream in [&first, &second, &first, &second] {
        for _ in 0..200 {
            let mut buffer = stream.alloc_zeros::<u8>(1 << 20).unwrap();
            addresses.push(buffer.device_ptr() as usize);
            stream.memset(&mut buffer, 1).unwrap();
        }
    }
    addresses.sort_unstable();
    addresses.dedup();
    assert!(addresses.len() <= 4, "{} pieces for one buffer at a time", addresses.len());
    assert!(device.memory_statistics().hits - before.hits >= 796);
    assert_eq!(raw.found(), []);
}
