//! Host functions in a stream.

use super::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) const CASES: &[Case] = cases!(
    "stream/host_function": nothing_to_call, gets_its_argument, runs_in_order, sees_the_work_before_it,
    the_work_behind_it_waits, on_the_null_stream
);

fn nothing_to_call(b: &Bench) -> Outcome {
    expect!(b, hipLaunchHostFunc(NULL, None, null_mut()) => VALUE);
    Ok(())
}

unsafe extern "C" fn count(pointer: *mut c_void) {
    // SAFETY: S11: the case passed a counter that outlives the stream's work.
    unsafe { &*pointer.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
}

fn gets_its_argument(b: &Bench) -> Outcome {
    let (stream, counter) = (b.stream()?, AtomicU32::new(40));
    let pointer = std::ptr::from_ref(&counter).cast_mut().cast();
    ok!(b, hipLaunchHostFunc(stream.raw, Some(count), pointer); hipLaunchHostFunc(stream.raw, Some(count), pointer));
    ok!(b, hipStreamSynchronize(stream.raw));
    same("the counter", counter.load(Ordering::SeqCst), 42)
}

/// A number, and the list to append it to.
struct Entry<'l>(u32, &'l Mutex<Vec<u32>>);

unsafe extern "C" fn append(entry: *mut c_void) {
    // SAFETY: S11: the case passed an entry that outlives the stream's work.
    let Entry(number, list) = unsafe { &*entry.cast::<Entry<'_>>() };
    if let Ok(mut list) = list.lock() {
        list.push(*number);
    }
}

fn runs_in_order(b: &Bench) -> Outcome {
    let (stream, list) = (b.stream()?, Mutex::new(Vec::new()));
    let entries: Vec<Entry<'_>> = (0..50).map(|number| Entry(number, &list)).collect();
    for entry in &entries {
        ok!(b, hipLaunchHostFunc(stream.raw, Some(append), std::ptr::from_ref(entry).cast_mut().cast()));
    }
    ok!(b, hipStreamSynchronize(stream.raw));
    let list = list.lock().map_err(|_| Failure::wrong("a host function panicked"))?;
    same_all("the order", &list, &(0..50).collect::<Vec<_>>())
}

/// Pinned memory, and what a host function read there.
struct Look {
    pointer: *const i32,
    seen: AtomicU32,
}

unsafe extern "C" fn look(at: *mut c_void) {
    // SAFETY: S11: the case passed memory that outlives the stream's work.
    unsafe {
        let look = &*at.cast::<Look>();
        look.seen.store(look.pointer.read_volatile() as u32, Ordering::SeqCst);
    }
}

fn sees_the_work_before_it(b: &Bench) -> Outcome {
    let (stream, pinned) = (b.stream()?, b.pinned::<i32>(1)?);
    let at = Look { pointer: pinned.pointer.cast(), seen: AtomicU32::new(0) };
    ok!(b, hipMemsetD32Async(pinned.pointer, 1234, 1, stream.raw));
    ok!(b, hipLaunchHostFunc(stream.raw, Some(look), std::ptr::from_ref(&at).cast_mut().cast()));
    ok!(b, hipMemsetD32Async(pinned.pointer, 5678, 1, stream.raw); hipStreamSynchronize(stream.raw));
    same("what it saw", at.seen.load(Ordering::SeqCst), 1234)
}

fn the_work_behind_it_waits(b: &Bench) -> Outcome {
    let (stream, gate, pinned) = (b.stream()?, Gate::new(), b.pinned::<i32>(1)?);
    gate.hold(b, stream.raw)?;
    ok!(b, hipMemsetD32Async(pinned.pointer, 1, 1, stream.raw));
    soon("the stream at the gate", || gate.arrived() == 1)?;
    same("the value", pinned.get(0), 0)?;
    gate.open();
    ok!(b, hipStreamSynchronize(stream.raw));
    same("the value", pinned.get(0), 1)
}

fn on_the_null_stream(b: &Bench) -> Outcome {
    let counter = AtomicU32::new(0);
    ok!(b, hipLaunchHostFunc(NULL, Some(count), std::ptr::from_ref(&counter).cast_mut().cast()));
    ok!(b, hipStreamSynchronize(NULL));
    same("the counter", counter.load(Ordering::SeqCst), 1)
}
