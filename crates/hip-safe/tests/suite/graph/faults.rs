//! Captures and launches whose calls fail: nothing leaks, and the stream can still be used.

use crate::alone;
use crate::under_test::two_devices;
use crate::watched::{
    calls, check_outcome, check_released, device, drop_errors, fail_after, fail_every, fail_next, no_fault,
    work_calls,
};
use hip_safe::{Device, Error, PinnedBuffer, Result, Stream};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A status that no function answers by itself.
const CODE: u32 = 1999;
const LEN: usize = 1000;

/// Captures, updates and launches on two streams, with memory of the graph's own and pinned memory.
fn workload(device: &Device, stream: &Stream) -> Result<Vec<u8>> {
    let source = stream.upload(&[7_u8; LEN])?;
    let mut target = stream.alloc_zeros::<u8>(LEN)?;
    let mut pinned = PinnedBuffer::<u8>::zeroed(device, LEN)?;
    let mut kept = None;
    let mut capture = |value| {
        stream.capture(|stream| {
            let mut copy = stream.clone_of(&source)?;
            stream.memset(&mut copy.slice_mut(..10)?, value)?;
            stream.copy(&copy, &mut target)?;
            stream.copy_to_pinned(&copy, &mut pinned)?;
            kept = Some(copy);
            Ok(())
        })
    };
    let (first, second) = (capture(1)?, capture(2)?);
    let mut exec = first.instantiate()?;
    exec.launch(stream)?;
    let other = device.new_stream()?;
    exec.launch(&other)?;
    exec.update(&second)?;
    first.close()?;
    exec.launch(stream)?;
    let result = pinned.to_vec()?;
    let kept = stream.download(&kept.expect("the closure ran"))?;
    assert_eq!(kept, result);
    exec.close()?;
    second.close()?;
    Ok(result)
}

#[test]
fn every_call_fails_once() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let expected = workload(&device, &stream).unwrap();
    assert_eq!((expected[9], expected[10]), (2, 7));
    for count in 0.. {
        device.trim_memory(0).unwrap();
        calls();
        fail_after(count, CODE);
        let outcome = workload(&device, &stream);
        if no_fault() {
            // There were no more calls.
            assert_eq!(outcome.unwrap(), expected);
            // On a platform with one device the current device is never queried.
            let least = if two_devices().is_some() { 51 } else { 48 };
            assert!(count >= least, "{count} calls");
            break;
        }
        let made = calls();
        let failed = *made.get(count).expect("the call was made");
        check_outcome(outcome, &expected, count, failed);
        check_released(&RELEASED, &made, count, failed);
        assert_eq!(device.memory_statistics().allocated, 0, "call {count}, {failed}");
        // The stream executes work again.
        assert_eq!(stream.download(&stream.upload(&[5_u8]).unwrap()).unwrap(), [5], "call {count}, {failed}");
        calls();
    }
    assert_eq!(workload(&device, &stream).unwrap(), expected, "nothing is left of it");
}

/// Calls that create a resource, each with the call that releases it.
const RELEASED: [(&[&str], &str); 3] = [
    (&["hipStreamEndCapture"], "hipGraphDestroy"),
    (&["hipGraphInstantiateWithFlags"], "hipGraphExecDestroy"),
    (&["hipHostMalloc"], "hipHostFree"),
];

#[test]
fn further_errors_after_that_of_the_closure_are_reported() {
    let stream = device().new_stream().unwrap();
    drop_errors();
    let error = stream.capture(|_| {
        fail_next("hipStreamEndCapture", CODE);
        Err(Error::NotReady)
    });
    assert!(matches!(error.unwrap_err(), Error::NotReady));
    let errors = drop_errors();
    assert!(matches!(&errors[..], [end] if end.contains("ending the capture")), "{errors:?}");
    let panic = catch_unwind(AssertUnwindSafe(|| {
        stream.capture(|_| {
            fail_next("hipStreamEndCapture", CODE);
            panic!("a closure that panics")
        })
    }));
    assert!(panic.is_err());
    let errors = drop_errors();
    assert!(matches!(&errors[..], [end] if end.contains("ending the capture")), "{errors:?}");
    stream.synchronize().expect("it goes on");
}

/// Alone: until the stream is destroyed, the driver refuses waits for the device.
#[test]
fn a_stream_whose_capture_cannot_be_ended_is_unusable() {
    if !alone("graph::faults::a_stream_whose_capture_cannot_be_ended_is_unusable") {
        return;
    }
    let device = device();
    let stream = device.new_stream().unwrap();
    let mut buffer = stream.alloc_zeros::<u8>(LEN).unwrap();
    calls();
    fail_every("hipStreamEndCapture", CODE);
    let mut kept = None;
    let error = stream.capture(|stream| {
        kept = Some(stream.clone_of(&buffer)?);
        stream.memset(&mut buffer, 1)
    });
    assert_eq!(error.unwrap_err().hip_code(), Some(CODE));
    assert!(no_fault());
    calls();
    let mut kept = kept.unwrap();
    for refused in [stream.memset(&mut buffer, 2), stream.memset(&mut kept, 2), stream.synchronize()] {
        assert!(matches!(refused.unwrap_err(), Error::Capturing { .. }));
    }
    assert_eq!(work_calls(), [""; 0]);
    // The buffer is not lost.
    let other = device.new_stream().unwrap();
    other.memset(&mut buffer, 3).unwrap();
    assert_eq!(other.download(&buffer).unwrap(), [3; LEN]);
    drop((stream, buffer, kept));
    assert!(work_calls().contains(&"hipStreamDestroy"));
    assert_eq!(device.memory_statistics().allocated, 0);
}

#[test]
fn a_failing_update_that_cannot_be_undone_is_the_end_of_it() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let mut buffer = stream.alloc_zeros::<u8>(LEN).unwrap();
    let short = stream.capture(|stream| stream.memset(&mut buffer, 1)).unwrap();
    let long = stream.capture(|stream| {
        stream.memset(&mut buffer, 2)?;
        stream.memset(&mut buffer, 3)
    });
    let (long, mut exec) = (long.unwrap(), short.instantiate().unwrap());
    fail_next("hipGraphInstantiateWithFlags", CODE);
    assert!(matches!(exec.update(&long).unwrap_err(), Error::GraphUpdate { .. }));
    calls();
    assert_eq!(exec.launch(&stream).unwrap_err().hip_code(), Some(CODE));
    assert_eq!(exec.update(&short).unwrap_err().hip_code(), Some(CODE));
    exec.close().unwrap();
    assert_eq!(work_calls(), [""; 0]);
    short.instantiate().unwrap().launch(&stream).unwrap();
    assert_eq!(stream.download(&buffer).unwrap(), [1; LEN]);
}
