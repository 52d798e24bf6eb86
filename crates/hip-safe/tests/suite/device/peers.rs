//! Two devices: copies between them are ordered where they run, and access to each other's memory.

use crate::under_test::{is_host, module, two_devices};
use crate::waiting::RECORD_AND_WAIT;
use crate::watched::{calls, platform, work_calls};
use crate::{again, is_child};
use hip_host::checker;
use hip_safe::{Device, Error, LaunchConfig, Stream};
use hip_sys::hip::{hipEvent_t, hipStream_t};
use kernels_hip::args::Map2;
use std::ffi::c_void;
use std::ptr::null_mut;

const LEN: usize = 1 << 20;

/// A stream of the first device and one of the second, of a watched platform.
fn streams() -> Option<[Stream; 2]> {
    two_devices()?;
    let platform = platform();
    Some([0, 1].map(|ordinal| Device::new(&platform, ordinal).unwrap().new_stream().unwrap()))
}

fn waits() -> Vec<&'static str> {
    work_calls().into_iter().filter(|name| RECORD_AND_WAIT.contains(name)).collect()
}

#[test]
fn a_copy_arrives() {
    let Some([there, here]) = streams() else { return };
    let numbers: Vec<u32> = (0..LEN as u32).collect();
    let source = there.upload(&numbers).unwrap();
    let mut copy = here.alloc_zeros::<u32>(LEN).unwrap();
    here.copy_from_peer(&source, &mut copy).unwrap();
    assert_eq!(here.download(&copy).unwrap(), numbers);
    here.copy_from_peer(&source.slice(..10).unwrap(), &mut copy.slice_mut(5..15).unwrap()).unwrap();
    assert_eq!(here.download(&copy.slice(..15).unwrap()).unwrap(), [&numbers[..5], &numbers[..10]].concat());
    // The device itself is treated like another one.
    let mut beside = there.alloc_zeros::<u32>(LEN).unwrap();
    there.copy_from_peer(&source, &mut beside).unwrap();
    assert_eq!(there.download(&beside).unwrap(), numbers);
}

#[test]
fn a_peer_copy_is_recorded_for_both_buffers_on_its_stream() {
    let Some([there, here]) = streams() else { return };
    let mut source = there.upload(&vec![7_u8; LEN]).unwrap();
    let mut copy = here.alloc_zeros::<u8>(LEN).unwrap();
    there.memset(&mut source, 1).unwrap();
    calls();
    here.copy_from_peer(&source, &mut copy).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT, "the source was written on its own device");
    let read = there.clone_of(&source).unwrap();
    assert_eq!(waits(), [""; 0], "two may read it");
    there.memset(&mut source, 2).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT, "the copy reads it on the other device");
    assert_eq!(here.download(&copy).unwrap(), vec![1; LEN]);
    // The memory of a source that is dropped is used again only after the copy.
    here.copy_from_peer(&source, &mut copy).unwrap();
    drop(source);
    calls();
    let again = there.alloc_zeros::<u8>(LEN).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT);
    drop(read);
    assert_eq!(here.download(&copy).unwrap(), vec![2; LEN]);
    assert_eq!(there.download(&again).unwrap(), vec![0; LEN]);
}

#[test]
fn invalid_peer_copies_are_refused_before_any_call() {
    let Some([there, here]) = streams() else { return };
    let elsewhere = Device::new(&platform(), 0).unwrap().new_stream().unwrap();
    let (source, foreign) = (there.upload(&[1_u8; 4]).unwrap(), elsewhere.upload(&[1_u8; 4]).unwrap());
    let mut copy = here.alloc_zeros::<u8>(4).unwrap();
    calls();
    let wrong_stream = there.copy_from_peer(&source, &mut copy).unwrap_err();
    let wrong_platform = here.copy_from_peer(&foreign, &mut copy).unwrap_err();
    assert!(matches!(wrong_stream, Error::WrongDevice { .. }), "{wrong_stream}");
    assert!(matches!(wrong_platform, Error::WrongDevice { .. }), "{wrong_platform}");
    let short = here.copy_from_peer(&source.slice(..3).unwrap(), &mut copy).unwrap_err();
    assert!(matches!(short, Error::LengthMismatch { expected: 4, got: 3, .. }), "{short}");
    for answer in [
        here.device().can_access_peer(elsewhere.device()).map(drop),
        here.device().enable_peer_access(elsewhere.device()),
        here.device().disable_peer_access(elsewhere.device()),
    ] {
        assert!(matches!(answer, Err(Error::WrongDevice { .. })), "{answer:?}");
    }
    let empty = there.alloc_zeros::<u8>(0).unwrap();
    here.copy_from_peer(&empty, &mut copy.slice_mut(..0).unwrap()).unwrap();
    assert_eq!(calls(), [""; 0]);
}

#[test]
fn access_is_enabled_once_and_disabled() {
    let Some([there, here]) = streams() else { return };
    let (first, second) = (there.device(), here.device());
    assert!(!first.can_access_peer(first).unwrap());
    if !second.can_access_peer(first).unwrap() {
        println!("skipped: the devices have no way to each other");
        return;
    }
    for _ in 0..2 {
        second.enable_peer_access(first).unwrap();
    }
    let module = module(second);
    let add = module.function("elementwise_add_f32").unwrap();
    let (near, far) = (here.upload(&[1.0_f32; 100]).unwrap(), there.upload(&[2.0_f32; 100]).unwrap());
    let mut sum = here.alloc_zeros::<f32>(100).unwrap();
    let map = Map2 { count: 100, rank: 1, flags: 3, dims: [100; 8], a: [1; 8], b: [1; 8] };
    let mut launch = here.launch(&add, LaunchConfig::linear(100, 64));
    launch.arg(&near).arg_peer(&far).arg_mut(&mut sum).value(&map);
    // SAFETY: S9: the kernel reads a hundred elements of both, one of them on a device that it has access to.
    unsafe { launch.submit() }.unwrap();
    assert_eq!(here.download(&sum).unwrap(), [3.0; 100]);
    let mut launch = here.launch(&add, LaunchConfig::linear(100, 64));
    launch.arg(&near).arg(&far).arg_mut(&mut sum).value(&map);
    // SAFETY: S9: it is refused.
    let refused = unsafe { launch.submit() }.unwrap_err();
    assert!(matches!(refused, Error::WrongDevice { .. }), "only arg_peer takes it: {refused}");
    for _ in 0..2 {
        second.disable_peer_access(first).unwrap();
    }
    let error = first.enable_peer_access(first).unwrap_err();
    assert!(error.hip_code().is_some(), "{error}");
}

/// What cudarc 0.19 does with a source that another device's stream copies: the read is recorded on the source's own
/// stream, and the next writer waits for that. `on_the_copys_stream` is what is right.
fn naive_copy_then_write(on_the_copys_stream: bool) {
    let platform = hip_host::platform();
    let hip = platform.hip();
    let [mut source, mut copy]: [*mut c_void; 2] = [null_mut(); 2];
    let [mut owner, mut copier, mut writer]: [hipStream_t; 3] = [null_mut(); 3];
    let mut read: hipEvent_t = null_mut();
    // SAFETY: S1: live variables, live handles, and ranges inside both allocations.
    let codes = unsafe {
        [
            (hip.hipSetDevice)(0),
            (hip.hipMalloc)(&mut source, LEN),
            (hip.hipStreamCreateWithFlags)(&mut owner, 1),
            (hip.hipStreamCreateWithFlags)(&mut writer, 1),
            (hip.hipSetDevice)(if on_the_copys_stream { 1 } else { 0 }),
            (hip.hipEventCreateWithFlags)(&mut read, 2),
            (hip.hipSetDevice)(1),
            (hip.hipMalloc)(&mut copy, LEN),
            (hip.hipStreamCreateWithFlags)(&mut copier, 1),
            (hip.hipMemcpyPeerAsync)(copy, 1, source, 0, LEN, copier),
            (hip.hipEventRecord)(read, if on_the_copys_stream { copier } else { owner }),
            (hip.hipStreamWaitEvent)(writer, read, 0),
            (hip.hipMemsetAsync)(source, 9, LEN, writer),
            (hip.hipDeviceSynchronize)(),
            (hip.hipSetDevice)(0),
            (hip.hipDeviceSynchronize)(),
        ]
    };
    assert!(codes.iter().all(|code| code.0 == 0), "{codes:?}");
}

#[test]
fn a_read_recorded_on_the_sources_stream_is_a_race_and_ours_is_none() {
    if !is_host() {
        return;
    }
    if !is_child() {
        let test = "device::peers::a_read_recorded_on_the_sources_stream_is_a_race_and_ours_is_none";
        let child = again(test, &[("HIPSTACK_HOST_CHECK", "1")]);
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
        return;
    }
    naive_copy_then_write(true);
    assert_eq!(checker::take_reports(), []);
    naive_copy_then_write(false);
    let reports = checker::take_reports();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert_eq!(reports[0].bytes(), LEN, "{reports:?}");

    let platform = hip_host::platform();
    let stream = |ordinal| Device::new(&platform, ordinal).unwrap().new_stream().unwrap();
    let (owner, copier, writer) = (stream(0), stream(1), stream(0));
    let mut source = owner.upload(&vec![1_u8; LEN]).unwrap();
    let mut copy = copier.alloc_zeros::<u8>(LEN).unwrap();
    copier.copy_from_peer(&source, &mut copy).unwrap();
    writer.memset(&mut source, 9).unwrap();
    drop(source);
    drop(writer.alloc_zeros::<u8>(LEN).unwrap());
    assert_eq!(copier.download(&copy).unwrap(), vec![1; LEN]);
    assert_eq!(checker::take_reports(), []);
}
