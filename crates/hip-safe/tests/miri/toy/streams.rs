//! Streams: each is a thread that does its work in order.
#![allow(non_snake_case, reason = "HIP's names")]

use super::{SUCCESS, SendPtr, set};
use hip_sys::hip::*;
use hip_sys::{HipTable, Optional};
use std::ffi::{c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

type Work = Box<dyn FnOnce() + Send>;

struct Stream {
    queue: Option<Sender<Work>>,
    thread: Option<JoinHandle<()>>,
    /// How much work there is that is not done.
    left: Arc<AtomicUsize>,
}

pub(super) fn fill(table: &mut HipTable) {
    set!(table, hipStreamCreateWithFlags, hipStreamDestroy, hipStreamSynchronize, hipStreamQuery);
    table.hipLaunchHostFunc = Optional::present(hipLaunchHostFunc, "hipLaunchHostFunc", "5.3");
}

/// Gives a stream work. The null stream does it at once.
pub(super) fn submit(stream: hipStream_t, work: impl FnOnce() + Send + 'static) {
    let stream = stream.cast::<Stream>();
    // SAFETY: S4, S11: null, or a stream that the caller has and that was not destroyed.
    let Some(stream) = (unsafe { stream.as_ref() }) else { return work() };
    let left = Arc::clone(&stream.left);
    left.fetch_add(1, Ordering::Relaxed);
    let work = move || {
        work();
        left.fetch_sub(1, Ordering::Release);
    };
    let queue = stream.queue.as_ref().expect("it is there until the end");
    queue.send(Box::new(work)).expect("its thread waits for work");
}

/// Waits for all that a stream was given.
pub(super) fn wait_for(stream: hipStream_t) {
    let (done, reached) = channel();
    submit(stream, move || done.send(()).expect("somebody waits"));
    reached.recv().expect("the stream comes so far");
}

unsafe extern "C" fn hipStreamCreateWithFlags(stream: *mut hipStream_t, _flags: c_uint) -> hipError_t {
    let (queue, work) = channel::<Work>();
    let thread = thread::spawn(move || work.into_iter().for_each(|work| work()));
    let made = Box::new(Stream { queue: Some(queue), thread: Some(thread), left: Arc::default() });
    // SAFETY: S11: the caller's out-pointer.
    unsafe { stream.write(Box::into_raw(made).cast()) };
    SUCCESS
}

/// It waits for the thread, which a driver need not.
unsafe extern "C" fn hipStreamDestroy(stream: hipStream_t) -> hipError_t {
    // SAFETY: S4, S11: it was made above, and the caller gives it up.
    let mut stream = unsafe { Box::from_raw(stream.cast::<Stream>()) };
    drop(stream.queue.take());
    let ended = stream.thread.take().expect("it is destroyed once").join();
    ended.expect("no work panics");
    SUCCESS
}

unsafe extern "C" fn hipStreamSynchronize(stream: hipStream_t) -> hipError_t {
    wait_for(stream);
    SUCCESS
}

unsafe extern "C" fn hipStreamQuery(stream: hipStream_t) -> hipError_t {
    // SAFETY: S4, S11: a stream that the caller has.
    let left = unsafe { (*stream.cast::<Stream>()).left.load(Ordering::Acquire) };
    if left == 0 { SUCCESS } else { hipError_t::hipErrorNotReady }
}

unsafe extern "C" fn hipLaunchHostFunc(
    stream: hipStream_t,
    function: hipHostFn_t,
    data: *mut c_void,
) -> hipError_t {
    let Some(function) = function else { return hipError_t::hipErrorInvalidValue };
    let data = SendPtr(data);
    // SAFETY: S11: the caller gave the function for this argument.
    submit(stream, move || unsafe { function(data.get()) });
    SUCCESS
}
