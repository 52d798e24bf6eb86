//! One piece of work for a stream, with the memory that it uses.

mod to_end;

use super::{Taken, Tracked};
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

/// Work being put together for a stream: what it reads and writes is given first, then it is submitted by one call. See
/// [`Stream::submission`].
///
/// Work that uses the same memory is ordered, whichever streams and threads it comes from: the waits come first, and if one
/// of them fails nothing is submitted; then the call; then the memory remembers it. Meanwhile nobody else can submit work that
/// has to come before it or after it.
#[must_use = "nothing happens until it is submitted"]
pub struct Submission<'a> {
    stream: &'a Stream,
    /// At most one of each piece of memory, in the order of their keys.
    uses: InlineVec<Use<'a>, 8>,
    /// Whether one of them is a piece of a graph's memory.
    any_piece: bool,
    /// What the work uses, if the platform checks that.
    extents: Option<Vec<Extent>>,
    refused: Option<Error>,
    /// The code that runs.
    module: Option<&'a Module>,
    /// What else the work needs, for a graph to keep.
    kept: Option<Arc<dyn Any + Send + Sync>>,
    /// It cannot be part of a graph: what it is, and what to do instead.
    not_captured: Option<(&'static str, &'static str)>,
}

/// A use of memory by a submission.
#[derive(Clone, Copy)]
pub(crate) struct Use<'a> {
    memory: Memory<'a>,
    /// [`Memory::key`].
    key: usize,
    access: Access,
    /// The buffer is borrowed for this use alone.
    alone: bool,
}

/// What is used.
#[derive(Clone, Copy)]
pub(crate) enum Memory<'a> {
    Device(&'a Arc<Allocation>),
    Pinned(&'a Arc<PinnedMemory>),
    /// A graph's launches.
    Graph(&'a Tracked),
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

    /// The work comes after all other work that names this, and before all that names it next, as if it wrote it: for what a library has
    /// inside, which its calls share. The memory itself need not be used at all. Work that only reads it, and is submitted by another
    /// thread at the same time, may run beside it.
    pub fn order_by<S: DeviceSlice + ?Sized>(&mut self, token: &'a S) -> &mut Self {
        let view = token.as_view();
        if host_function::is_running() {
            self.refuse(|| Error::InHostFunction);
            return self;
        }
        // Who names it has it borrowed as others have.
        view.owner().tracked().forbid_home();
        self.add_device(view.owner(), Access::WRITE, false, view.device_ptr().cast(), view.byte_len());
        self
    }

    /// If the stream captures, the graph keeps this for as long as it may be launched: a library's handle whose code the work runs.
    /// One thing at most; outside of a capture nothing is kept.
    pub fn keep(&mut self, needed: Arc<dyn Any + Send + Sync>) -> &mut Self {
        self.kept = Some(needed);
        self
    }

    /// The call waits for the device, or the work cannot be part of a graph otherwise: while the stream captures it is refused with
    /// [`Error::Capturing`], which says `what` it is and what to do instead. In a call that [`Submission::submit`] makes then, no memory is
    /// locked: who uses the same meanwhile goes on if both read it, and waits for the call's end if not.
    pub fn not_captured(&mut self, what: &'static str, remedy: &'static str) -> &mut Self {
        self.not_captured = Some((what, remedy));
        self
    }

    /// Submits the work through one call with the stream's device current, and gives what it answers. The memory's uses are locked
    /// meanwhile, so the call is one of the library: what it used of this crate could wait for itself. One that waits for the device is
    /// announced by [`Submission::not_captured`].
    ///
    /// # Errors
    /// [`Error::WrongDevice`] for memory of another device, or what the driver answers when one of the waits before the call
    /// fails: then nothing was submitted. What the call itself answers is for the caller to read.
    ///
    /// # Safety
    /// The call submits work to this stream alone, and uses the stream in no other way; the work uses no other memory of ours than
    /// was given, and writes only what [`Submission::write`] was given. If the stream captures, that holds for each launch of
    /// the graph.
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

    /// As [`Submission::read`]. Where it is.
    #[inline(always)]
    pub(crate) fn add_read<S: DeviceSlice + ?Sized>(&mut self, source: &'a S) -> *const c_void {
        let view = source.as_view();
        let address = view.device_ptr().cast();
        self.add_device(view.owner(), Access::READ, false, address, view.byte_len());
        address
    }

    /// As [`Submission::write`]. Where it is.
    #[inline(always)]
    pub(crate) fn add_write<S: DeviceSliceMut + ?Sized>(&mut self, destination: &'a mut S) -> *const c_void {
        let mut view = destination.as_view_mut();
        let address = view.device_ptr_mut().cast_const().cast();
        self.add_device(view.owner(), Access::WRITE, view.is_alone(), address, view.byte_len());
        address
    }

    /// As [`Submission::read`] or [`Submission::write`].
    pub(crate) fn add_buffer(&mut self, buffer: &BufferArgument<'a>) {
        let BufferArgument { memory, access, alone, address, bytes } = *buffer;
        self.add_device(memory, access, alone, address.raw(), bytes);
    }

    /// A kernel of this module runs.
    pub(crate) fn runs(&mut self, module: &'a Module) {
        self.module = Some(module);
    }

    /// Notes why nothing may be submitted, if it is the first reason.
    #[cold]
    pub(crate) fn refuse(&mut self, error: impl FnOnce() -> Error) {
        if self.refused.is_none() {
            self.refused = Some(error());
        }
    }

    /// A use of device memory, which has to be on the stream's device. `alone`: the buffer is borrowed for this use alone, for `'a`.
    #[inline(never)]
    fn add_device(
        &mut self,
        allocation: &'a Arc<Allocation>,
        access: Access,
        alone: bool,
        pointer: *const c_void,
        bytes: usize,
    ) {
        if self.stream.device() != allocation.device() {
            self.refuse_owner(allocation);
        }
        let memory = Memory::Device(allocation);
        self.add_use(Use { memory, key: memory.key(), access, alone }, pointer, bytes);
    }

    #[cold]
    fn refuse_owner(&mut self, allocation: &Allocation) {
        if let Err(error) = self.stream.device().check_same("the buffer", allocation.device()) {
            self.refuse(|| error);
        }
    }

    /// A use of memory, wherever it is.
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
        let mut place = known.len();
        while place > 0 && known[place - 1].key > key {
            place -= 1;
        }
        if place > 0 && known[place - 1].key == key {
            if access == Access::WRITE {
                known[place - 1].access = access;
            }
            known[place - 1].alone &= used.alone;
            return;
        }
        self.any_piece |= memory.graph_piece().is_some();
        self.uses.insert(place, used);
    }

    /// What it uses, sorted.
    #[inline]
    fn memory(&self) -> impl Iterator<Item = (Memory<'a>, Access)> {
        self.uses.as_slice().iter().map(|used| (used.memory, used.access))
    }

    /// Waits, submits, and lets the memory remember it; or lets the graph remember it that the stream captures.
    pub(crate) fn run<R>(
        &mut self,
        doing: impl FnOnce() -> String,
        call: impl FnOnce(&Platform, hipStream_t, Option<&[Extent]>) -> Result<R, Failure>,
    ) -> Result<R> {
        self.submit_as(Self::execute, doing, call)
    }

    /// As [`Submission::run`], for a call that returns when the work is done. Nothing is locked meanwhile: others may use what this call uses
    /// if they both read, and wait for its end if they do not.
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
                    // None: it has just ended.
                    if let Some(list) = capture.open()? {
                        return self.capture(&capture, list, doing, call);
                    }
                }
            }
        }
    }

    /// Memory that a capture allocated has no content before that is over: only the capture itself may use it.
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

    /// Adds the work to a graph. Nothing waits and no memory remembers it: launches do.
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
        // Before the call: the graph may have a part of it even if it fails.
        self.memory().for_each(|(memory, access)| list.add(capture, memory, access));
        let Self { stream, extents, module, kept, .. } = self;
        module.iter().for_each(|module| list.add_module(module));
        kept.iter().for_each(|needed| list.keep(needed));
        stream.device().run(doing, |p| call(p, stream.raw(), extents.as_deref()))
    }

    /// Waits, submits, and lets the memory remember it.
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

/// Waits, calls, and lets the memory remember it. The uses are locked in the order of [`Memory::key`], at most one of each piece of
/// memory, so that two threads cannot wait for each other. A failed call counts as submitted: it may have been, in part. The caller has asked
/// [`not_in_host_function`], and has errors in drops told later.
#[inline]
pub(crate) fn submit_sorted<'a, R>(
    stream: &Stream,
    _turn: &NoCapture<'_>,
    uses: impl Iterator<Item = Use<'a>> + Clone,
    call: impl FnOnce() -> Result<R>,
) -> Result<R> {
    let mut all = AllTaken::new();
    take_in_order(stream, uses, &mut all)?;
    // Errors are large: nothing is moved about where there is none.
    let result = call().map_err(Box::new);
    let count = stream.timeline().note_submission();
    for (taken, access) in &mut all {
        taken.commit(stream, *access, count);
    }
    result.map_err(|error| *error)
}

/// The uses that a submission has locked, and what for.
type AllTaken<'a> = SmallVec<[(Taken<'a>, Access); 8]>;

/// Locks those whose order is ours, behind the calls that conflict with them, and makes the stream's next work come after what it has to
/// come after.
#[inline]
fn take_in_order<'a>(
    stream: &Stream,
    uses: impl Iterator<Item = Use<'a>> + Clone,
    all: &mut AllTaken<'a>,
) -> Result<()> {
    while let Err(busy) = take_all(uses.clone(), all) {
        // Others may have what is locked here while the call goes on, and it may wait for them.
        all.clear();
        busy.memory.tracked().wait_for_calls(busy.access);
    }
    all.iter().try_for_each(|(taken, access)| taken.prepare(stream, *access))
}

/// Locks those whose order is ours.
///
/// # Errors
/// The first one that a call keeps, which has to be waited for.
#[inline]
fn take_all<'a>(uses: impl Iterator<Item = Use<'a>>, all: &mut AllTaken<'a>) -> Result<(), Use<'a>> {
    for used in uses {
        if used.memory.is_ordered() {
            all.push((used.take().ok_or(used)?, used.access));
        }
    }
    Ok(())
}

/// In a host function no lock is waited for that others have while they call the driver: they may be waiting for that function.
pub(crate) fn not_in_host_function() -> Result<()> {
    if host_function::is_running() { Err(Error::InHostFunction) } else { Ok(()) }
}

impl<'a> Use<'a> {
    /// A use of what is not borrowed for it alone.
    pub(crate) fn of(memory: Memory<'a>, access: Access) -> Self {
        Self { memory, key: memory.key(), access, alone: false }
    }

    /// Keeps others away from the uses; `None` while a call goes on that conflicts with this one.
    #[inline]
    fn take(self) -> Option<Taken<'a>> {
        match self.take_alone() {
            Some(uses) => Some(uses),
            None => self.memory.tracked().take_for(self.access),
        }
    }

    /// The uses without their lock, if nobody else can ask for them.
    #[inline]
    fn take_alone(self) -> Option<Taken<'a>> {
        match self.memory {
            // SAFETY: S4, S8: the view that this was made of has the buffer borrowed exclusively, for longer than the result lives, and
            // a submission has each piece of memory once.
            Memory::Device(allocation) if self.alone => unsafe { allocation.uses_alone() },
            _ => None,
        }
    }
}

impl<'a> Memory<'a> {
    pub(crate) fn tracked(self) -> &'a Tracked {
        match self {
            Self::Device(allocation) => allocation.tracked(),
            Self::Pinned(memory) => memory.tracked(),
            Self::Graph(launches) => launches,
        }
    }

    /// The piece of a graph's memory that it is, if it is one. That does not change.
    fn graph_piece(self) -> Option<&'a GraphPiece> {
        match self {
            Self::Device(allocation) => allocation.graph_piece(),
            Self::Pinned(_) | Self::Graph(_) => None,
        }
    }

    /// Its place in the order in which memory is locked.
    pub(crate) fn key(self) -> usize {
        std::ptr::from_ref(self.tracked()).addr()
    }

    /// Whether a graph may use it at any time: the host has slices of managed memory, and another process ends its own.
    fn may_be_captured(self) -> bool {
        match self {
            Self::Device(allocation) => allocation.is_pooled(),
            Self::Pinned(_) => true,
            Self::Graph(_) => false,
        }
    }

    /// Whether we order its uses, not the caller.
    fn is_ordered(self) -> bool {
        match self {
            Self::Device(allocation) => allocation.is_ordered(),
            Self::Pinned(_) | Self::Graph(_) => true,
        }
    }
}
