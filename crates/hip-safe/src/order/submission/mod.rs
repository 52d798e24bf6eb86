//! Submissions: one call that gives a stream work, with the memory that the work uses.

mod memory_use;
mod to_end;

pub(crate) use memory_use::{Memory, Use};

use super::{Tracked, UsesGuard};
use crate::graph::{Capture, GraphPiece, List, NoCapture};
use crate::inline_vec::InlineVec;
use crate::memory::Allocation;
use crate::memory::PinnedMemory;
use crate::raw::{self, Failure};
use crate::stream::host_function;
use crate::{BufferArgument, DeviceSlice, DeviceSliceMut, Error, Module, Result, Stream, drop_errors};
use hip_sys::hip::hipStream_t;
use hip_sys::{Access, Extent, Platform};
use parking_lot::MutexGuard;
use smallvec::SmallVec;
use std::any::Any;
use std::ffi::c_void;
use std::sync::Arc;

/// A builder for work on a stream: first name the memory that it reads and writes, then submit it by one call. See
/// [`Stream::submission`].
///
/// Work on the same memory is ordered across streams and threads, in three steps: submit the waits, make the call, record the use. If a wait
/// fails, nothing is submitted. Until the use is recorded, no other thread can submit conflicting work.
#[must_use = "nothing happens until it is submitted"]
pub struct Submission<'a> {
    stream: &'a Stream,
    /// Sorted by key, and at most one for each piece of memory.
    uses: InlineVec<Use<'a>, 8>,
    /// Whether one of them is a piece of a graph's memory.
    any_piece: bool,
    /// The ranges that the work uses, if the platform checks them.
    extents: Option<Vec<Extent>>,
    refused: Option<Error>,
    /// The module of the kernel that runs.
    module: Option<&'a Module>,
    /// A value that a graph keeps alive for the work.
    kept: Option<Arc<dyn Any + Send + Sync>>,
    /// Set if a graph cannot contain the work: what the work is, and what to do instead.
    not_captured: Option<(&'static str, &'static str)>,
}

impl Stream {
    /// Begins work that another library does with this stream: a BLAS call, or a kernel launched by hand.
    ///
    /// ```
    /// # fn main() -> hip_safe::Result<()> {
    /// # let platform = hip_host::platform();
    /// # let stream = hip_safe::Device::new(&platform, 0)?.new_stream()?;
    /// let other = stream.device().new_stream()?;
    /// let mut numbers = stream.upload(&[1_u8, 2, 3])?;
    /// let address = numbers.device_ptr_mut();
    /// let fill = |raw| unsafe { (platform.hip().hipMemsetAsync)(address.cast(), 7, 3, raw) };
    /// // SAFETY: the call writes the three bytes that it is said to write.
    /// let status = unsafe { other.submission().write(&mut numbers).submit("filling three bytes", fill) }?;
    /// assert_eq!(status.0, 0);
    /// assert_eq!(stream.download(&numbers)?, [7, 7, 7]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn submission(&self) -> Submission<'_> {
        let extents = raw::wants_extents(self.device().platform()).then(Vec::new);
        let uses = InlineVec::new();
        Submission {
            stream: self,
            uses,
            any_piece: false,
            extents,
            refused: None,
            module: None,
            kept: None,
            not_captured: None,
        }
    }
}

impl<'a> Submission<'a> {
    /// The work reads this.
    pub fn read<S: DeviceSlice + ?Sized>(&mut self, source: &'a S) -> &mut Self {
        self.add_read(source);
        self
    }

    /// The work reads this, which may be on another device of the platform: a copy between two devices, or a kernel on a
    /// device that has access to the other ([`Device::enable_peer_access`](crate::Device::enable_peer_access)).
    pub fn read_peer<S: DeviceSlice + ?Sized>(&mut self, source: &'a S) -> &mut Self {
        let view = source.as_view();
        if let Err(error) = self.stream.device().check_same_platform("the buffer", view.owner().device()) {
            self.refuse(|| error);
        }
        self.add(Memory::Device(view.owner()), Access::READ, view.device_ptr().cast(), view.byte_len());
        self
    }

    /// The work writes this, and may read it.
    pub fn write<S: DeviceSliceMut + ?Sized>(&mut self, destination: &'a mut S) -> &mut Self {
        self.add_write(destination);
        self
    }

    /// Orders the work as if it wrote `token`: after all earlier work that names it, and before all later work. Use this for state inside a
    /// library that its calls share. The work need not use the memory itself. Work that only reads the token and is submitted by another
    /// thread at the same time may run concurrently.
    pub fn order_by<S: DeviceSlice + ?Sized>(&mut self, token: &'a S) -> &mut Self {
        let view = token.as_view();
        if host_function::is_running() {
            self.refuse(|| Error::InHostFunction);
            return self;
        }
        // The token is borrowed shared, so several threads may name it at once.
        view.owner().tracked().require_lock();
        self.add_device(view.owner(), Access::WRITE, false, view.device_ptr().cast(), view.byte_len());
        self
    }

    /// If the stream captures, keeps this alive as long as the graph: for example a library's handle whose code the work runs. A submission
    /// keeps one value at most. Outside of a capture nothing is kept.
    pub fn keep(&mut self, needed: Arc<dyn Any + Send + Sync>) -> &mut Self {
        self.kept = Some(needed);
        self
    }

    /// Says that the call waits for the device, or that a graph cannot contain the work for another reason. While the stream captures, it is
    /// refused with [`Error::Capturing`], which says `what` it is and what to do instead. [`Submission::submit`] then makes the call without
    /// locks. Other threads can read memory that this call reads; conflicting uses wait for the call's end.
    pub fn not_captured(&mut self, what: &'static str, remedy: &'static str) -> &mut Self {
        self.not_captured = Some((what, remedy));
        self
    }

    /// Submits the work by one call with the stream's device current, and returns what the call returns. The uses of the memory are locked
    /// during the call, so the closure must not use this crate: it could wait for itself. A call that waits for the device needs
    /// [`Submission::not_captured`] first.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] for memory of another device, or the driver's error if a wait before the call fails. In both cases nothing
    /// was submitted. The caller checks the result of its own call.
    ///
    /// # Safety
    /// The call submits work to this stream only, and uses the stream in no other way. The work uses no memory of this crate but the memory
    /// named here, and writes only what [`Submission::write`] was given. If the stream captures, this holds for each launch of the graph.
    pub unsafe fn submit<R>(
        &mut self,
        doing: impl std::fmt::Display,
        call: impl FnOnce(hipStream_t) -> R,
    ) -> Result<R> {
        let doing = || doing.to_string();
        let call = |p: &Platform, s: hipStream_t, extents: Option<&[Extent]>| {
            raw::announce(p, s, extents);
            let answer = call(s);
            raw::announce(p, s, None);
            Ok(answer)
        };
        match self.not_captured {
            Some(_) => self.run_to_end(doing, call),
            None => self.run(doing, call),
        }
    }

    /// The stream.
    pub(crate) fn stream(&self) -> &'a Stream {
        self.stream
    }

    /// As [`Submission::read`]. Returns the address.
    #[inline(always)]
    pub(crate) fn add_read<S: DeviceSlice + ?Sized>(&mut self, source: &'a S) -> *const c_void {
        let view = source.as_view();
        let address = view.device_ptr().cast();
        self.add_device(view.owner(), Access::READ, false, address, view.byte_len());
        address
    }

    /// As [`Submission::write`]. Returns the address.
    #[inline(always)]
    pub(crate) fn add_write<S: DeviceSliceMut + ?Sized>(&mut self, destination: &'a mut S) -> *const c_void {
        let mut view = destination.as_view_mut();
        let address = view.device_ptr_mut().cast_const().cast();
        self.add_device(view.owner(), Access::WRITE, view.is_exclusive(), address, view.byte_len());
        address
    }

    /// As [`Submission::read`] or [`Submission::write`].
    pub(crate) fn add_buffer(&mut self, buffer: &BufferArgument<'a>) {
        let BufferArgument { memory, access, exclusive, address, bytes } = *buffer;
        self.add_device(memory, access, exclusive, address.raw(), bytes);
    }

    /// The work runs a kernel of this module.
    pub(crate) fn runs(&mut self, module: &'a Module) {
        self.module = Some(module);
    }

    /// Refuses the submission with this error, if it is the first one.
    #[cold]
    pub(crate) fn refuse(&mut self, error: impl FnOnce() -> Error) {
        if self.refused.is_none() {
            self.refused = Some(error());
        }
    }

    /// Adds a use of memory on the stream's device. `exclusive`: the whole buffer is borrowed exclusively for `'a`.
    #[inline(never)]
    fn add_device(
        &mut self,
        allocation: &'a Arc<Allocation>,
        access: Access,
        exclusive: bool,
        pointer: *const c_void,
        bytes: usize,
    ) {
        if self.stream.device() != allocation.device() {
            self.refuse_owner(allocation);
        }
        let memory = Memory::Device(allocation);
        self.add_use(Use { memory, key: memory.key(), access, exclusive }, pointer, bytes);
    }

    #[cold]
    fn refuse_owner(&mut self, allocation: &Allocation) {
        if let Err(error) = self.stream.device().check_same("the buffer", allocation.device()) {
            self.refuse(|| error);
        }
    }

    /// Adds a use of memory on any device.
    pub(crate) fn add(&mut self, memory: Memory<'a>, access: Access, pointer: *const c_void, bytes: usize) {
        self.add_use(Use::of(memory, access), pointer, bytes);
    }

    #[inline(always)]
    fn add_use(&mut self, used: Use<'a>, pointer: *const c_void, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let Use { memory, key, access, .. } = used;
        if let Some(extents) = &mut self.extents {
            extents.push(Extent { pointer, bytes, access });
        }
        let known = self.uses.as_mut_slice();
        let mut index = known.len();
        while index > 0 && known[index - 1].key > key {
            index -= 1;
        }
        if index > 0 && known[index - 1].key == key {
            if access == Access::WRITE {
                known[index - 1].access = access;
            }
            known[index - 1].exclusive &= used.exclusive;
            return;
        }
        self.any_piece |= memory.graph_piece().is_some();
        self.uses.insert(index, used);
    }

    /// The memory that it uses, sorted by key.
    #[inline]
    fn memory(&self) -> impl Iterator<Item = (Memory<'a>, Access)> {
        self.uses.as_slice().iter().map(|used| (used.memory, used.access))
    }

    /// Submits the waits, makes the call, and records the uses; during a capture, adds the work to the graph.
    pub(crate) fn run<R>(
        &mut self,
        doing: impl FnOnce() -> String,
        call: impl FnOnce(&Platform, hipStream_t, Option<&[Extent]>) -> Result<R, Failure>,
    ) -> Result<R> {
        self.submit_as(Self::execute, doing, call)
    }

    /// As [`Submission::run`], for a call that returns when the work is done. No lock is held during the call. Other threads can read what
    /// this call reads; conflicting uses wait for its end.
    pub(crate) fn run_to_end<R>(
        &mut self,
        doing: impl FnOnce() -> String,
        call: impl FnOnce(&Platform, hipStream_t, Option<&[Extent]>) -> Result<R, Failure>,
    ) -> Result<R> {
        self.submit_as(Self::execute_to_end, doing, call)
    }

    #[inline]
    fn submit_as<R, D: FnOnce() -> String, C>(
        &mut self,
        execute: impl FnOnce(&mut Self, &NoCapture<'_>, D, C) -> Result<R>,
        doing: D,
        call: C,
    ) -> Result<R>
    where
        C: FnOnce(&Platform, hipStream_t, Option<&[Extent]>) -> Result<R, Failure>,
    {
        not_in_host_function()?;
        if let Some(refused) = &self.refused {
            return Err(refused.clone());
        }
        let _later = drop_errors::later();
        loop {
            match self.stream.turn().get() {
                Ok(turn) => {
                    self.stream.check_capture_by_others()?;
                    self.check_pieces(None)?;
                    return execute(self, &turn, doing, call);
                }
                Err(capture) => {
                    // `None`: the capture has just ended, so ask again.
                    if let Some(list) = capture.open()? {
                        return self.capture(&capture, list, doing, call);
                    }
                }
            }
        }
    }

    /// Refuses memory that an open capture allocated, except to that capture. It has no content before the capture ends.
    #[inline]
    fn check_pieces(&self, capture: Option<&Capture>) -> Result<()> {
        if self.any_piece { self.check_each_piece(capture) } else { Ok(()) }
    }

    #[cold]
    fn check_each_piece(&self, capture: Option<&Capture>) -> Result<()> {
        let mut pieces = self.memory().filter_map(|(memory, _)| memory.graph_piece());
        if pieces.all(|piece| piece.may_be_used_by(capture)) {
            return Ok(());
        }
        let remedy = "it gets its content when the graph is launched; allocate it before the capture";
        Err(Error::capturing("the use of the capture's memory outside of it", remedy))
    }

    /// Adds the work to a graph. No wait is submitted and no use is recorded here; each launch of the graph does both.
    #[cold]
    fn capture<R>(
        &mut self,
        capture: &Capture,
        mut list: MutexGuard<'_, List>,
        doing: impl FnOnce() -> String,
        call: impl FnOnce(&Platform, hipStream_t, Option<&[Extent]>) -> Result<R, Failure>,
    ) -> Result<R> {
        if let Some((what, remedy)) = self.not_captured {
            return Err(Error::capturing(what, remedy));
        }
        self.check_pieces(Some(capture))?;
        if self.memory().any(|(memory, _)| !memory.may_be_captured()) {
            return Err(Error::capturing(
                "the use of managed memory or of another process' memory",
                "copy it to a buffer before, and from one afterwards",
            ));
        }
        // This comes before the call, because the graph may contain a part of the work even if the call fails.
        self.memory().for_each(|(memory, access)| list.add(capture, memory, access));
        let Self { stream, extents, module, kept, .. } = self;
        module.iter().for_each(|module| list.add_module(module));
        kept.iter().for_each(|needed| list.keep(needed));
        stream.device().run(doing, |p| call(p, stream.raw(), extents.as_deref()))
    }

    /// Submits the waits, makes the call, and records the uses.
    #[inline]
    pub(crate) fn execute<R>(
        &mut self,
        turn: &NoCapture<'_>,
        doing: impl FnOnce() -> String,
        call: impl FnOnce(&Platform, hipStream_t, Option<&[Extent]>) -> Result<R, Failure>,
    ) -> Result<R> {
        let Self { stream, extents, uses, .. } = self;
        submit_sorted(stream, turn, uses.as_slice().iter().copied(), || {
            stream.device().run(doing, |p| call(p, stream.raw(), extents.as_deref()))
        })
    }
}

/// Submits the waits, makes the call, and records the uses. The uses are sorted by [`Memory::key`], with at most one for each piece of memory,
/// and locked in this order to prevent deadlocks. A failed call counts as submitted, because a part of it may have been. The caller has
/// checked [`not_in_host_function`] and holds a [`DropErrorsLater`](crate::DropErrorsLater).
#[inline]
pub(crate) fn submit_sorted<'a, R>(
    stream: &Stream,
    _turn: &NoCapture<'_>,
    uses: impl Iterator<Item = Use<'a>> + Clone,
    call: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let mut all = Guards::new();
    lock_in_order(stream, uses, &mut all)?;
    // Errors are large. Boxing them makes the successful path cheaper.
    let result = call().map_err(Box::new);
    let count = stream.timeline().note_submission();
    for (guard, access) in &mut all {
        guard.commit(stream, *access, count);
    }
    result.map_err(|error| *error)
}

/// The locked uses of a submission, each with its access.
type Guards<'a> = SmallVec<[(UsesGuard<'a>, Access); 8]>;

/// Locks all tracked memory, waiting for conflicting blocking calls, and submits the waits for conflicting uses.
#[inline]
fn lock_in_order<'a>(
    stream: &Stream,
    uses: impl Iterator<Item = Use<'a>> + Clone,
    all: &mut Guards<'a>,
) -> Result<()> {
    while let Err(busy) = lock_all(uses.clone(), all) {
        // The lock is released first, because the blocking call may wait for a thread that needs it.
        all.clear();
        busy.memory.tracked().wait_for_calls(busy.access);
    }
    all.iter().try_for_each(|(guard, access)| guard.prepare(stream, *access))
}

/// Locks all tracked memory.
///
/// # Errors
/// The first use that conflicts with a blocking call, which has to be waited for.
#[inline]
fn lock_all<'a>(uses: impl Iterator<Item = Use<'a>>, all: &mut Guards<'a>) -> Result<(), Use<'a>> {
    for used in uses {
        if used.memory.is_ordered() {
            all.push((used.lock().ok_or(used)?, used.access));
        }
    }
    Ok(())
}

/// Refuses calls in a host function. A host function must not wait for a lock that is held during driver calls, because the driver call may be
/// waiting for that function.
pub(crate) fn not_in_host_function() -> Result<()> {
    if host_function::is_running() { Err(Error::InHostFunction) } else { Ok(()) }
}
