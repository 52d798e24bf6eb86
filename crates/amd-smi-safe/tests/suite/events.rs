//! Events: which are asked for, what comes, and that it ends.

use crate::fake::{build, open};
use amd_smi_safe::{AmdSmi, Error, EventKind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The library, and how many GPUs it listens to.
fn library(name: &str) -> (AmdSmi, impl Fn() -> i32) {
    let file: PathBuf = build(name, &["MAJOR=27"]);
    let smi = open(&file).expect("it opens");
    let listening = move || {
        // SAFETY: S1: the library is loaded already, and the function takes nothing.
        unsafe {
            let library = libloading::Library::new(&file).expect("it is loaded");
            library.get::<unsafe extern "C" fn() -> i32>("fake_listening").expect("it is there")()
        }
    };
    (smi, listening)
}

#[test]
fn they_come_with_their_gpu_their_kind_and_their_message() {
    let (smi, listening) = library("events");
    let gpus = smi.processors().expect("some");
    let kinds = [EventKind::THERMAL_THROTTLE, EventKind::VM_FAULT, EventKind(64)];
    let mut events = smi.events(&gpus[..2], &kinds).expect("nobody listens yet");
    assert_eq!(listening(), 2);
    assert_eq!(smi.events(&gpus[..1], &kinds).unwrap_err(), Error::EventsTaken);
    let found = events.wait(Duration::from_secs(10)).expect("they come at the third call");
    assert_eq!(found.len(), 3);
    assert_eq!((found[0].of, found[0].kind), (Some(gpus[0]), EventKind::THERMAL_THROTTLE));
    assert_eq!(found[0].message, "mask 8000000000000003", "bits 0, 1 and 63");
    assert_eq!((found[1].of, found[1].kind.to_string()), (Some(gpus[1]), "unknown (200)".into()));
    assert_eq!(found[1].message, "e".repeat(256));
    assert_eq!((found[2].of, found[2].kind, &*found[2].message), (None, EventKind::PRE_RESET, ""));
    let started = Instant::now();
    assert_eq!(events.wait(Duration::from_millis(30)), Ok(Vec::new()));
    // One of the two does not stop, which `close` tells after it stopped both.
    let error = events.close().unwrap_err();
    assert_eq!(error.to_string(), "amdsmi_stop_gpu_event_notification answered AMDSMI_STATUS_BUSY (30)");
    assert_eq!(listening(), 0);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    drop(smi.events(&gpus[..1], &kinds).expect("the others are closed"));
    assert_eq!(listening(), 0, "a drop stops too");
}

#[test]
fn what_fails_at_the_start_is_undone() {
    let (smi, listening) = library("events_start");
    let gpus = smi.processors().expect("some");
    // The third GPU refuses to listen, the fourth refuses the mask.
    assert!(matches!(smi.events(&gpus[..3], &[EventKind::VM_FAULT]), Err(Error::NoPermission { .. })));
    assert_eq!(listening(), 0);
    assert!(matches!(smi.events(&gpus[3..4], &[EventKind::VM_FAULT]), Err(Error::Status { code: 1, .. })));
    assert_eq!(listening(), 0);
    for number in [0, 65, u32::MAX] {
        let error = smi.events(&gpus[..1], &[EventKind(number)]).unwrap_err();
        assert_eq!(error, Error::NoSuchEvent(EventKind(number)));
    }
    let events = smi.events(&gpus[..1], &[EventKind::VM_FAULT]).expect("nobody is left");
    assert_eq!(events.close(), Ok(()));
}
