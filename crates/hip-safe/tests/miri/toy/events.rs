//! Events: who waits for one waits for the moment that it was recorded for last.
#![allow(non_snake_case, reason = "HIP's names")]

use super::streams::submit;
use super::{SUCCESS, set};
use hip_sys::HipTable;
use hip_sys::hip::*;
use std::ffi::c_uint;
use std::sync::{Arc, Condvar, Mutex};

/// What streams have passed or not.
#[derive(Default)]
struct Moment {
    passed: Mutex<bool>,
    changed: Condvar,
}

impl Moment {
    fn pass(&self) {
        *self.passed.lock().unwrap() = true;
        self.changed.notify_all();
    }

    fn has_passed(&self) -> bool {
        *self.passed.lock().unwrap()
    }

    fn wait(&self) {
        drop(self.changed.wait_while(self.passed.lock().unwrap(), |passed| !*passed).unwrap());
    }
}

/// The moment of its last record.
#[derive(Default)]
struct Event(Mutex<Option<Arc<Moment>>>);

impl Event {
    /// # Safety
    /// The event lives.
    unsafe fn moment(event: hipEvent_t) -> Option<Arc<Moment>> {
        // SAFETY: S4, S11: it was made below, and the caller has it.
        unsafe { (*event.cast::<Self>()).0.lock().unwrap().clone() }
    }
}

pub(super) fn fill(table: &mut HipTable) {
    set!(table, hipEventCreateWithFlags, hipEventDestroy, hipEventRecord, hipEventSynchronize, hipEventQuery);
    set!(table, hipStreamWaitEvent);
}

unsafe extern "C" fn hipEventCreateWithFlags(event: *mut hipEvent_t, _flags: c_uint) -> hipError_t {
    // SAFETY: S11: the caller's out-pointer.
    unsafe { event.write(Box::into_raw(Box::<Event>::default()).cast()) };
    SUCCESS
}

unsafe extern "C" fn hipEventDestroy(event: hipEvent_t) -> hipError_t {
    // SAFETY: S4, S11: it was made above, and the caller gives it up. Who waits has the moment.
    drop(unsafe { Box::from_raw(event.cast::<Event>()) });
    SUCCESS
}

unsafe extern "C" fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t {
    let moment = Arc::<Moment>::default();
    // SAFETY: S4, S11: the caller has it.
    unsafe { *(*event.cast::<Event>()).0.lock().unwrap() = Some(Arc::clone(&moment)) };
    submit(stream, move || moment.pass());
    SUCCESS
}

unsafe extern "C" fn hipStreamWaitEvent(
    stream: hipStream_t,
    event: hipEvent_t,
    _flags: c_uint,
) -> hipError_t {
    // SAFETY: S11: the caller has it.
    if let Some(moment) = unsafe { Event::moment(event) } {
        submit(stream, move || moment.wait());
    }
    SUCCESS
}

unsafe extern "C" fn hipEventSynchronize(event: hipEvent_t) -> hipError_t {
    // SAFETY: S11: the caller has it.
    if let Some(moment) = unsafe { Event::moment(event) } {
        moment.wait();
    }
    SUCCESS
}

unsafe extern "C" fn hipEventQuery(event: hipEvent_t) -> hipError_t {
    // SAFETY: S11: the caller has it.
    let passed = unsafe { Event::moment(event) }.is_none_or(|moment| moment.has_passed());
    if passed { SUCCESS } else { hipError_t::hipErrorNotReady }
}
