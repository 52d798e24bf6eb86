//! Host functions: functions of the program that a stream calls on the host, in order with its other work.

use crate::handle::Handle;
use crate::memory::PinnedBuffer;
use crate::order::Memory;
use crate::{AnyBits, Error, Result, Stream, StreamId, Submission, drop_errors, raw};
use hip_sys::{Access, Platform};
use parking_lot::{Condvar, Mutex};
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::Arc;

type Function = Box<dyn FnOnce() + Send>;

/// The host functions that a stream has not called yet.
#[derive(Default)]
pub(crate) struct HostFunctions {
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    waiting: HashMap<u64, Function>,
    next: u64,
    running: usize,
}

/// Host functions of a destroyed stream that were never called.
pub(crate) struct NeverCalled(HashMap<u64, Function>);

/// The driver's argument for [`call`]: which function of which stream.
struct Ticket {
    functions: Arc<HostFunctions>,
    number: u64,
    stream: StreamId,
}

thread_local! {
    static RUNNING: Cell<bool> = const { Cell::new(false) };
}

impl Stream {
    /// Calls `function` once, on a thread of the driver, after everything submitted so far. Later work waits for it. If this call fails, or
    /// the stream ends without running its work, the function is dropped without a call.
    ///
    /// In the function, each method of this crate that would call the driver, or wait for a thread that may be in a driver call, returns
    /// [`Error::InHostFunction`]; docs/SAFETY.md lists them. A value whose drop would make such a call is leaked, and
    /// [`on_drop_error`](crate::on_drop_error) gets the error. Streams, and buffers that a capture allocated, are dropped on another thread
    /// instead. A panic is caught and reported there too.
    ///
    /// ```
    /// # fn main() -> hip_safe::Result<()> {
    /// # let stream = hip_safe::Device::new(&hip_host::platform(), 0)?.new_stream()?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// stream.launch_host(move || sender.send("the work so far is done").unwrap())?;
    /// assert_eq!(receiver.recv().unwrap(), "the work so far is done");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the library is too old, [`Error::Capturing`] while the stream captures a graph, or the
    /// driver's error.
    #[doc(alias = "hipLaunchHostFunc")]
    #[doc(alias = "hipStreamAddCallback")]
    pub fn launch_host(&self, function: impl FnOnce() + Send + 'static) -> Result<()> {
        self.submit_host(self.submission(), Box::new(function))
    }

    /// As [`Stream::launch_host`], for a function that reads pinned memory. It runs after the copies that write the buffer. Later writes and
    /// the drop of the buffer wait for the function.
    ///
    /// # Errors
    /// As [`Stream::launch_host`], and [`Error::WrongDevice`] for memory of another platform.
    pub fn launch_host_with<T: AnyBits>(
        &self,
        source: &PinnedBuffer<T>,
        function: impl FnOnce(&[T]) + Send + 'static,
    ) -> Result<()> {
        let (first, len) = (Handle::new(source.pointer()), source.len());
        let submission = self.with_pinned(source, Access::READ)?;
        let function = move || {
            // SAFETY: S5, S7, S12: this use is recorded before the borrow ends, so the memory is not written or freed before it is over.
            function(unsafe { std::slice::from_raw_parts(first.raw(), len) });
        };
        self.submit_host(submission, Box::new(function))
    }

    /// As [`Stream::launch_host`], for a function that writes pinned memory. It runs after the copies that use the buffer. Later uses and the
    /// drop of the buffer wait for the function.
    ///
    /// # Errors
    /// As [`Stream::launch_host_with`].
    pub fn launch_host_with_mut<T: AnyBits>(
        &self,
        destination: &mut PinnedBuffer<T>,
        function: impl FnOnce(&mut [T]) + Send + 'static,
    ) -> Result<()> {
        let (first, len) = (Handle::new(destination.pointer()), destination.len());
        let submission = self.with_pinned(destination, Access::WRITE)?;
        let function = move || {
            // SAFETY: S5, S7, S12: this use is recorded before the borrow ends, so there is no other use before it is over.
            function(unsafe { std::slice::from_raw_parts_mut(first.raw(), len) });
        };
        self.submit_host(submission, Box::new(function))
    }

    fn with_pinned<'a, T: AnyBits>(
        &'a self,
        buffer: &'a PinnedBuffer<T>,
        access: Access,
    ) -> Result<Submission<'a>> {
        self.device().check_same_platform("the pinned buffer", buffer.device())?;
        let mut submission = self.submission();
        let bytes = buffer.len() * size_of::<T>();
        submission.add(Memory::Pinned(buffer.memory()), access, buffer.pointer().cast_const().cast(), bytes);
        Ok(submission)
    }

    fn submit_host(&self, mut submission: Submission<'_>, function: Function) -> Result<()> {
        submission.not_captured(
            "a host function, which runs once",
            "submit it before, or behind a launch of the graph",
        );
        let launcher = raw::streams::host_launcher(self.device().platform())?;
        let functions = self.host_functions();
        let number = functions.add(function);
        let ticket = Ticket { functions: Arc::clone(functions), number, stream: self.id() };
        let mut ticket = Some(Box::new(ticket));
        let submitted = submission.run(
            || format!("giving {self} a host function"),
            |p: &Platform, s, extents| {
                // After a failed call the ticket stays with the driver, which may call the function all the same.
                let data = ticket.take().map_or(std::ptr::null_mut(), Box::into_raw).cast();
                raw::announce(p, s, extents);
                // SAFETY: S1, S4: the ticket is the driver's until the one call.
                unsafe { raw::streams::launch_host(p, launcher, s, call, data) }
                    .inspect_err(|_| raw::announce(p, s, None))
            },
        );
        submitted.inspect_err(|_| drop(functions.forget(number)))
    }
}

/// Whether this thread runs a host function.
// Not inlined: access to the thread-local variable is fast only in this crate's own code.
#[inline(never)]
pub(crate) fn is_running() -> bool {
    RUNNING.get()
}

/// Drops a value on another thread. It is for owners in crates above whose drop has to wait where this thread may not: in a host function
/// ([`Error::InHostFunction`]), or while it captures a graph ([`Error::Capturing`]). Nothing waits for that thread. If no thread can be
/// started, the value is leaked and this returns false.
pub fn drop_elsewhere<T: Send + 'static>(value: T) -> bool {
    elsewhere(move || drop(value))
}

/// Runs a closure on another thread, for which nothing waits. If no thread can be started, the closure is leaked and this returns false.
pub(crate) fn elsewhere(act: impl FnOnce() + Send + 'static) -> bool {
    let act = ManuallyDrop::new(act);
    std::thread::Builder::new().spawn(move || ManuallyDrop::into_inner(act)()).is_ok()
}

/// The callback that the driver gets.
unsafe extern "C" fn call(data: *mut c_void) {
    // SAFETY: S4: the pointer is the ticket that was boxed for this one call.
    let ticket = unsafe { Box::from_raw(data.cast::<Ticket>()) };
    ticket.functions.call(ticket.number, ticket.stream);
}

impl HostFunctions {
    fn add(&self, function: Function) -> u64 {
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        state.waiting.insert(number, function);
        number
    }

    /// Removes a function that was not called yet.
    fn forget(&self, number: u64) -> Option<Function> {
        self.state.lock().waiting.remove(&number)
    }

    fn call(&self, number: u64, stream: StreamId) {
        let function = {
            let mut state = self.state.lock();
            let Some(function) = state.waiting.remove(&number) else { return };
            state.running += 1;
            function
        };
        RUNNING.set(true);
        if let Err(message) = hip_sys::catch_panic(function) {
            drop_errors::report(&Error::HostFunctionPanicked { stream, message: message.into() });
        }
        RUNNING.set(false);
        self.state.lock().running -= 1;
        self.returned.notify_all();
    }

    /// Called when the stream is gone or unusable. Waits for a running function, and returns those that will never be called.
    pub(crate) fn close(&self) -> NeverCalled {
        let mut state = self.state.lock();
        let never_called = std::mem::take(&mut state.waiting);
        while state.running > 0 {
            self.returned.wait(&mut state);
        }
        NeverCalled(never_called)
    }
}

impl NeverCalled {
    /// Drops the functions. A panic in the drop of a captured value is caught.
    pub(crate) fn drop_each(self, stream: StreamId) {
        for function in self.0.into_values() {
            if let Err(message) = hip_sys::catch_panic(|| drop(function)) {
                drop_errors::report(&Error::HostFunctionPanicked { stream, message: message.into() });
            }
        }
    }
}
