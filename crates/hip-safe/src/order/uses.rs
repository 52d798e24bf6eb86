//! The record of uses of a piece of memory: the last write and the reads since.

use super::{OwnStreamUses, Points, Timeline, not_in_host_function};
use crate::mutation::Wait;
use crate::stream::host_function;
use crate::{Result, Stream};
use hip_sys::Access;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The uses that a later read or write has to come after.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    written: Written,
    /// The last write, or the last read of each stream since.
    used: Points,
    calls: Calls,
}

/// Blocking calls that use the memory now. Conflicting uses wait for their end without holding a lock.
#[derive(Debug, Default)]
struct Calls {
    reading: usize,
    writing: bool,
}

impl Calls {
    #[inline]
    fn allow(&self, access: Access) -> bool {
        !self.writing && (access == Access::READ || self.reading == 0)
    }

    fn begin(&mut self, access: Access) {
        if access == Access::READ {
            self.reading += 1;
        } else {
            self.writing = true;
        }
    }
}

/// The last write.
#[derive(Debug, Default)]
enum Written {
    /// All points of the uses. There was no read since.
    #[default]
    All,
    /// This submission number, on the stream of the first point. That stream wrote alone.
    First(u64),
    Points(Points),
}

/// Memory whose uses are ordered: an allocation on a device, pinned memory of the host, a graph.
#[derive(Default)]
pub(crate) struct Tracked {
    uses: Mutex<Uses>,
    own_stream: OwnStreamUses,
    /// Notified when a blocking call has returned.
    returned: Condvar,
}

/// A blocking call that uses memory until this is dropped. It holds no lock.
#[must_use]
pub(crate) struct Call<'a> {
    tracked: &'a Tracked,
    access: Access,
}

/// A use of memory by the blocking call of a submission.
#[must_use]
pub(super) enum Begun<'a> {
    Marked(Call<'a>),
    /// No other thread can reach the uses, so the call is not marked there.
    Exclusive(UsesGuard<'a>),
}

/// Exclusive access to the uses of a piece of memory, until a submission is recorded there.
pub(crate) struct UsesGuard<'a> {
    tracked: &'a Tracked,
    /// Whether this holds the lock. If not, no other thread can reach the uses.
    locked: bool,
    exclusive: PhantomData<&'a mut Uses>,
}

impl Deref for UsesGuard<'_> {
    type Target = Uses;

    #[inline]
    fn deref(&self) -> &Uses {
        // SAFETY: S8: this holds the lock, or no other thread can reach the uses.
        unsafe { &*self.tracked.uses.data_ptr() }
    }
}

impl DerefMut for UsesGuard<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Uses {
        // SAFETY: S8: as above.
        unsafe { &mut *self.tracked.uses.data_ptr() }
    }
}

impl Drop for UsesGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.locked {
            // SAFETY: S8: this holds the lock, and does not use it after this.
            unsafe { self.tracked.uses.force_unlock() };
        }
    }
}

impl<'a> UsesGuard<'a> {
    #[inline]
    fn new(tracked: &'a Tracked, locked: bool) -> Self {
        let mut guard = Self { tracked, locked, exclusive: PhantomData };
        tracked.own_stream.merge_into(&mut guard);
        guard
    }

    /// Records a use by the stream's submission of this number.
    #[inline(always)]
    pub(crate) fn commit(&mut self, stream: &Stream, access: Access, count: u64) {
        Uses::commit(self, stream.timeline(), access, count);
        self.tracked.own_stream.allow_lock_free(stream.timeline(), self);
    }

    /// Begins a blocking call that is the stream's next submission, and releases the lock. The waits before it were submitted.
    pub(super) fn begin(mut self, access: Access) -> Begun<'a> {
        if !self.locked {
            return Begun::Exclusive(self);
        }
        self.calls.begin(access);
        Begun::Marked(Call { tracked: self.tracked, access })
    }
}

impl Begun<'_> {
    /// Records the call as the stream's submission of this number, and ends it.
    pub(super) fn commit(self, stream: &Stream, access: Access, count: u64) {
        match self {
            Self::Marked(call) => {
                let mut uses = call.tracked.lock();
                uses.commit(stream.timeline(), access, count);
            }
            Self::Exclusive(mut guard) => guard.commit(stream, access, count),
        }
    }
}

impl Uses {
    /// For memory that former owners used: every use comes after theirs.
    pub(crate) fn after(former: Points) -> Self {
        if Wait::AfterFormerOwner.is_dropped() {
            return Self::default();
        }
        Self { written: Written::All, used: former, calls: Calls::default() }
    }

    /// Makes the stream's next submission come after all uses that conflict with this access.
    #[inline]
    pub(super) fn prepare(&self, stream: &Stream, access: Access) -> Result<()> {
        if self.comes_after_all(stream, access) { Ok(()) } else { self.prepare_by_waits(stream, access) }
    }

    /// Whether all uses are on this stream.
    #[inline]
    pub(super) fn are_all_on(&self, timeline: &Arc<Timeline>) -> bool {
        self.used.are_all_on(timeline)
    }

    /// Whether all uses that conflict with this access are on this stream, so that no wait is needed. Most memory is used on one stream.
    #[inline]
    pub(crate) fn comes_after_all(&self, stream: &Stream, access: Access) -> bool {
        match (access, &self.written) {
            (Access::READ, Written::First(_)) => self.used.first_is_on(stream.timeline()),
            (Access::READ, Written::Points(written)) => written.are_all_on(stream.timeline()),
            _ => self.used.are_all_on(stream.timeline()),
        }
    }

    #[inline(never)]
    fn prepare_by_waits(&self, stream: &Stream, access: Access) -> Result<()> {
        let wait = if access == Access::READ { Wait::ReadAfterWrite } else { Wait::WriteAfterUse };
        if wait.is_dropped() {
            return Ok(());
        }
        match (access, &self.written) {
            (Access::READ, Written::First(count)) => {
                self.used.first(*count).map_or(Ok(()), |first| stream.come_after(&first))
            }
            (Access::READ, Written::Points(written)) => written.order_before(stream),
            _ => self.used.order_before(stream),
        }
    }

    /// As [`UsesGuard::commit`].
    #[inline(always)]
    fn commit(&mut self, timeline: &Arc<Timeline>, access: Access, count: u64) {
        // Most memory is used on one stream.
        if let Some(point) = self.used.only_on(timeline) {
            let former = point.count;
            point.count = former.max(count);
            match (access, &self.written) {
                (Access::READ, Written::All) => self.written = Written::First(former),
                (Access::READ, _) | (_, Written::All) => {}
                _ => self.written = Written::All,
            }
            return;
        }
        self.commit_among_others(timeline, access, count);
    }

    #[inline(never)]
    fn commit_among_others(&mut self, timeline: &Arc<Timeline>, access: Access, count: u64) {
        if access == Access::READ {
            if matches!(self.written, Written::All) {
                self.written = match self.used.only() {
                    Some(point) => Written::First(point.count),
                    None => Written::Points(self.used.clone()),
                };
            }
            self.used.add(timeline, count);
        } else {
            self.written = Written::All;
            self.used.set(timeline, count);
        }
    }

    /// Adds a use by the own stream that did not wait for the uses known here: those may be of other parts.
    pub(super) fn add_own_stream(&mut self, timeline: &Arc<Timeline>, access: Access, count: u64) {
        if access == Access::READ || self.used.are_all_on(timeline) {
            self.commit(timeline, access, count);
        } else {
            self.written = Written::All;
            self.used.add(timeline, count);
        }
    }

    /// The last write.
    pub(super) fn written(&self) -> Points {
        match &self.written {
            Written::All => self.used.clone(),
            Written::First(count) => self.used.first(*count).map_or_else(Points::default, Points::from),
            Written::Points(written) => written.clone(),
        }
    }

    /// All uses, leaving none behind.
    pub(crate) fn take(&mut self) -> Points {
        self.written = Written::All;
        std::mem::take(&mut self.used)
    }

    /// All uses.
    pub(crate) fn all(&self) -> Points {
        self.used.clone()
    }

    /// Adds uses that may be writes, of all or parts of the memory.
    pub(crate) fn add_all(&mut self, former: Points) {
        if !matches!(self.written, Written::All) {
            let mut written = self.written();
            written.add_all(former.clone());
            self.written = Written::Points(written);
        }
        self.used.add_all(former);
    }

    /// Records a write by the stream's last submission.
    pub(crate) fn assume_written(&mut self, stream: &Stream) {
        self.commit(stream.timeline(), Access::WRITE, stream.submitted());
    }
}

impl Tracked {
    pub(crate) fn new(uses: Uses) -> Self {
        Self { uses: Mutex::new(uses), own_stream: OwnStreamUses::default(), returned: Condvar::new() }
    }

    /// As [`Tracked::new`], for memory that this stream may use without the lock: see [`OwnStreamUses`].
    ///
    /// # Safety
    /// The stream lives as long as the result is used.
    #[inline]
    pub(crate) unsafe fn with_own_stream(stream: &Stream, uses: Uses) -> Self {
        // SAFETY: S4: the caller's promise.
        let own_stream = unsafe { OwnStreamUses::new(stream, &uses) };
        Self { uses: Mutex::new(uses), own_stream, returned: Condvar::new() }
    }

    pub(crate) fn own_stream(&self) -> &OwnStreamUses {
        &self.own_stream
    }

    /// Makes every use take the lock from now on, because some uses do not borrow the memory. The caller has checked
    /// [`not_in_host_function`].
    pub(crate) fn require_lock(&self) {
        if !self.own_stream.always_requires_lock() {
            let _uses = self.lock();
            self.own_stream.require_lock();
        }
    }

    /// As [`Tracked::require_lock`], for a caller that has the memory borrowed exclusively, and so needs no lock for this.
    pub(crate) fn require_lock_exclusive(&self) {
        self.own_stream.require_lock();
    }

    /// Locks the uses, for no longer than a driver call, and never while waiting for the device. The caller has checked
    /// [`not_in_host_function`].
    pub(crate) fn lock(&self) -> MutexGuard<'_, Uses> {
        debug_assert!(
            !host_function::is_running(),
            "the thread that holds the lock may wait for this host function"
        );
        let mut uses = self.uses.lock();
        self.own_stream.merge_into(&mut uses);
        uses
    }

    /// The uses without the lock.
    ///
    /// # Safety
    /// No other thread reaches them while the result lives, with the lock or without it.
    pub(crate) unsafe fn exclusive_guard(&self) -> UsesGuard<'_> {
        UsesGuard::new(self, false)
    }

    /// Locks the uses for a submission. `None` during a blocking call that conflicts with it: see [`Tracked::wait_for_calls`].
    #[inline]
    pub(super) fn guard_for(&self, access: Access) -> Option<UsesGuard<'_>> {
        self.guard(self.uses.lock(), access)
    }

    /// As [`Tracked::guard_for`]; `None` also if another thread has the lock.
    #[inline]
    pub(crate) fn try_guard_for(&self, access: Access) -> Option<UsesGuard<'_>> {
        self.guard(self.uses.try_lock()?, access)
    }

    #[inline]
    fn guard<'a>(&'a self, uses: MutexGuard<'a, Uses>, access: Access) -> Option<UsesGuard<'a>> {
        uses.calls.allow(access).then(|| {
            MutexGuard::leak(uses);
            UsesGuard::new(self, true)
        })
    }

    /// Waits until no blocking call conflicts with this access. The caller holds no lock, because such a call may wait for the device.
    #[cold]
    pub(super) fn wait_for_calls(&self, access: Access) {
        drop(self.lock_for(access));
    }

    fn lock_for(&self, access: Access) -> MutexGuard<'_, Uses> {
        let mut uses = self.uses.lock();
        while !uses.calls.allow(access) {
            self.returned.wait(&mut uses);
        }
        self.own_stream.merge_into(&mut uses);
        uses
    }

    /// Begins a blocking call of the host's own, after those that conflict with it.
    ///
    /// # Errors
    /// [`Error::InHostFunction`](crate::Error::InHostFunction).
    pub(crate) fn begin(&self, access: Access) -> Result<Call<'_>> {
        not_in_host_function()?;
        self.lock_for(access).calls.begin(access);
        Ok(Call { tracked: self, access })
    }

    /// Waits on the host for the last write. Other threads may submit work on the memory meanwhile.
    ///
    /// # Errors
    /// [`Error::InHostFunction`](crate::Error::InHostFunction), or that of the wait.
    pub(crate) fn wait_for_writer(&self, wait: Wait) -> Result<()> {
        not_in_host_function()?;
        let written = self.lock().written();
        if wait.is_dropped() { Ok(()) } else { written.wait() }
    }

    /// Waits on the host for all uses. Other threads may submit work on the memory meanwhile.
    ///
    /// # Errors
    /// As [`Tracked::wait_for_writer`].
    pub(crate) fn wait_for_all(&self, wait: Wait) -> Result<()> {
        not_in_host_function()?;
        let used = self.lock().all();
        if wait.is_dropped() { Ok(()) } else { used.wait() }
    }

    /// Waits for all uses before the memory is released. If a stream cannot be waited for but its device can, the first error goes to the
    /// hook.
    ///
    /// # Errors
    /// As [`Tracked::wait_for_writer`].
    pub(crate) fn wait_to_release(&self, wait: Wait) -> Result<()> {
        not_in_host_function()?;
        let used = self.lock().all();
        if wait.is_dropped() { Ok(()) } else { used.wait_to_release() }
    }

    pub(crate) fn get_mut(&mut self) -> &mut Uses {
        let uses = self.uses.get_mut();
        self.own_stream.merge_into_mut(uses);
        uses
    }
}

impl Call<'_> {
    /// Waits on the host for all work that was submitted before this call began and conflicts with it.
    pub(crate) fn wait(&self, wait: Wait) -> Result<()> {
        let uses = self.tracked.lock();
        let before = if self.access == Access::READ { uses.written() } else { uses.all() };
        drop(uses);
        if wait.is_dropped() { Ok(()) } else { before.wait() }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let mut uses = self.tracked.lock();
        let calls = &mut uses.calls;
        if self.access == Access::READ {
            calls.reading -= 1;
        } else {
            calls.writing = false;
        }
        let last = calls.allow(Access::WRITE);
        drop(uses);
        if last {
            self.tracked.returned.notify_all();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Device;
    use crate::order::Point;

    #[test]
    fn the_last_write_is_kept_through_reads_on_any_stream() {
        let device = Device::new(&hip_host::platform(), 0).unwrap();
        let [a, b] = [(); 2].map(|()| device.new_stream().unwrap());
        let is = |points: &Points, expected: &[(&Stream, u64)]| {
            let mut known = Points::default();
            for &(stream, count) in expected {
                known.add(stream.timeline(), count);
            }
            assert_eq!(format!("{points:?}"), format!("{known:?}"));
        };
        let mut uses = Uses::default();
        uses.commit(a.timeline(), Access::WRITE, 3);
        is(&uses.written(), &[(&a, 3)]);
        uses.commit(a.timeline(), Access::READ, 5);
        uses.commit(b.timeline(), Access::READ, 2);
        is(&uses.written(), &[(&a, 3)]);
        is(&uses.all(), &[(&a, 5), (&b, 2)]);

        // Uses of former owners count as writes.
        uses.add_all(Point::new(b.timeline(), 9).into());
        is(&uses.written(), &[(&a, 3), (&b, 9)]);
        is(&uses.all(), &[(&a, 5), (&b, 9)]);
        uses.commit(b.timeline(), Access::WRITE, 10);
        uses.commit(a.timeline(), Access::READ, 6);
        is(&uses.written(), &[(&b, 10)]);
        is(&uses.all(), &[(&b, 10), (&a, 6)]);

        // Uses of former owners on several streams count as one write.
        let mut uses = Uses::after(uses.take());
        uses.commit(a.timeline(), Access::READ, 7);
        is(&uses.written(), &[(&b, 10), (&a, 6)]);
    }
}
