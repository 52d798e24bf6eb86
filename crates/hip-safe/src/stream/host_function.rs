//! Functions of the program that a stream calls on the host, between its other work.

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

/// The functions that a stream has still to call.
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

/// Functions that a stream which is gone never called.
pub(crate) struct NeverCalled(HashMap<u64, Function>);

/// What the driver gets: which function of which stream.
struct Ticket {
    functions: Arc<HostFunctions>,
    number: u64,
    stream: StreamId,
}

thread_local! {
    static RUNNING: Cell<bool> = const { Cell::new(false) };
}

impl Stream {
    /// Calls `function` on a thread of the driver's, once everything submitted so far is complete; what is submitted later
    /// waits for it. It runs once. It is dropped without having run if this call fails, or the stream ends without its work.
    ///
    /// In it every call of this crate that would go to the driver, or wait for who may be in a call of the driver, answers
    /// [`Error::InHostFunction`]: docs/SAFETY.md lists them. What is dropped there and would make such a call is leaked, which
    /// [`on_drop_error`](crate::on_drop_error) tells; a stream, and a buffer that a capture allocated, go on another thread. A
    /// panic in it is caught and told there too.
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
    /// [`Error::Unsupported`] where the library is too old, [`Error::Capturing`] while the stream captures a graph, or what the
    /// driver answers.
    #[doc(alias = "hipLaunchHostFunc")]
    #[doc(alias = "hipStreamAddCallback")]
    pub fn launch_host(&self, function: impl FnOnce() + Send + 'static) -> Result<()> {
        self.submit_host(self.submission(), Box::new(function))
    }

    /// As [`Stream::launch_host`], for a function that reads pinned memory: after the copies that write it. Whoever writes the
    /// buffer next, or drops it, waits for the function.
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
            // SAFETY: S5, S7, S12: the memory knows of this use before its borrow ends, and is neither written nor freed before.
            function(unsafe { std::slice::from_raw_parts(first.raw(), len) });
        };
        self.submit_host(submission, Box::new(function))
    }

    /// As [`Stream::launch_host`], for a function that writes pinned memory: after the copies that use it. Whoever uses the
    /// buffer next, or drops it, waits for the function.
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
            // SAFETY: S5, S7, S12: the memory knows of this use before its borrow ends, and nobody else uses it before.
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
                // After a failed call it stays with the driver, which may call all the same.
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

/// Whether this thread is in a function that a stream called.
// A call of its own: the thread's variable is found at once only in this module.
#[inline(never)]
pub(crate) fn is_running() -> bool {
    RUNNING.get()
}

/// Drops something on another thread: for owners in crates above whose drop has to wait where this thread may not, in a function that a
/// stream calls ([`Error::InHostFunction`]) or while it captures a graph ([`Error::Capturing`]). Nobody waits for that thread.
/// Where no thread can be had the value is leaked; false then.
pub fn drop_elsewhere<T: Send + 'static>(value: T) -> bool {
    elsewhere(move || drop(value))
}

/// Does something on another thread, which nobody waits for. Where no thread can be had it is leaked; false then.
pub(crate) fn elsewhere(act: impl FnOnce() + Send + 'static) -> bool {
    let act = ManuallyDrop::new(act);
    std::thread::Builder::new().spawn(move || ManuallyDrop::into_inner(act)()).is_ok()
}

/// What the driver calls.
unsafe extern "C" fn call(data: *mut c_void) {
    // SAFETY: S4: it is the ticket that was made for this one call.
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

    /// It is not called any more, if it was not yet.
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

    /// The stream is gone, or out of use: waits for a function that runs, and gives those that are never called.
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
    /// Drops them, and what they captured: that may have a drop of its own that panics.
    pub(crate) fn drop_each(self, stream: StreamId) {
        for function in self.0.into_values() {
            if let Err(message) = hip_sys::catch_panic(|| drop(function)) {
                drop_errors::report(&Error::HostFunctionPanicked { stream, message: message.into() });
            }
        }
    }
}
