//! Which work uses a piece of memory.

use super::{Home, Points, Timeline, not_in_host_function};
use crate::mutation::Wait;
use crate::stream::host_function;
use crate::{Result, Stream};
use hip_sys::Access;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// What a read and what a write of the memory has to come after.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    written: Written,
    /// The last write, or the last read of each stream since.
    used: Points,
    calls: Calls,
}

/// The calls that use the memory now and return only when they are done. What conflicts with one waits for it, with nothing locked.
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
    /// All of the uses: nobody has read it since.
    #[default]
    All,
    /// So many submissions of the first stream of the uses, the only one until it was read.
    First(u64),
    Points(Points),
}

/// Memory whose uses are ordered: an allocation on a device, pinned memory of the host, a graph.
#[derive(Default)]
pub(crate) struct Tracked {
    uses: Mutex<Uses>,
    home: Home,
    /// A call is over.
    returned: Condvar,
}

/// A call that uses memory until it returns, and has nothing locked meanwhile.
#[must_use]
pub(crate) struct Call<'a> {
    tracked: &'a Tracked,
    access: Access,
}

/// A submission's call that uses memory until it returns.
#[must_use]
pub(super) enum Begun<'a> {
    Marked(Call<'a>),
    /// Nobody else reaches the uses, so there is nobody to mark them for.
    Alone(Taken<'a>),
}

/// The uses of a piece of memory, which are nobody else's until a submission is noted there.
pub(crate) struct Taken<'a> {
    tracked: &'a Tracked,
    /// Else nobody but this reaches the uses.
    locked: bool,
    exclusive: PhantomData<&'a mut Uses>,
}

impl Deref for Taken<'_> {
    type Target = Uses;

    #[inline]
    fn deref(&self) -> &Uses {
        // SAFETY: S8: they are locked for this, or nobody else reaches them.
        unsafe { &*self.tracked.uses.data_ptr() }
    }
}

impl DerefMut for Taken<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Uses {
        // SAFETY: S8: as above.
        unsafe { &mut *self.tracked.uses.data_ptr() }
    }
}

impl Drop for Taken<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.locked {
            // SAFETY: S8: they were locked for this, which does not use them any more.
            unsafe { self.tracked.uses.force_unlock() };
        }
    }
}

impl<'a> Taken<'a> {
    #[inline]
    fn new(tracked: &'a Tracked, locked: bool) -> Self {
        let mut taken = Self { tracked, locked, exclusive: PhantomData };
        tracked.home.gather(&mut taken);
        taken
    }

    /// The stream has a submission that makes such a use.
    #[inline(always)]
    pub(crate) fn commit(&mut self, stream: &Stream, access: Access, count: u64) {
        Uses::commit(self, stream.timeline(), access, count);
        self.tracked.home.allow(stream.timeline(), self);
    }

    /// Begins a call that is the stream's next submission, which was ordered behind the work that it has to come after. Nothing is locked
    /// any more.
    pub(super) fn begin(mut self, access: Access) -> Begun<'a> {
        if !self.locked {
            return Begun::Alone(self);
        }
        self.calls.begin(access);
        Begun::Marked(Call { tracked: self.tracked, access })
    }
}

impl Begun<'_> {
    /// The call was the stream's submission of that number.
    pub(super) fn commit(self, stream: &Stream, access: Access, count: u64) {
        match self {
            Self::Marked(call) => {
                let mut uses = call.tracked.lock();
                uses.commit(stream.timeline(), access, count);
            }
            Self::Alone(mut taken) => taken.commit(stream, access, count),
        }
    }
}

impl Uses {
    /// Memory that others have used before: whoever uses it comes after them.
    pub(crate) fn after(former: Points) -> Self {
        if Wait::AfterFormerOwner.is_dropped() {
            return Self::default();
        }
        Self { written: Written::All, used: former, calls: Calls::default() }
    }

    /// Makes the stream's next work come after what such a use has to come after.
    #[inline]
    pub(super) fn prepare(&self, stream: &Stream, access: Access) -> Result<()> {
        if self.comes_after_all(stream, access) { Ok(()) } else { self.prepare_by_waits(stream, access) }
    }

    /// Whether all of them are on that stream.
    #[inline]
    pub(super) fn are_all_on(&self, timeline: &Arc<Timeline>) -> bool {
        self.used.are_all_on(timeline)
    }

    /// Whether the stream has all that such a use has to come after: it keeps that order by itself. Most memory is used on one stream.
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

    /// The stream has a submission that makes such a use.
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

    /// The stream that the memory was allocated on made such uses, not after all that is known here. Others may have used other parts.
    pub(super) fn add_home(&mut self, timeline: &Arc<Timeline>, access: Access, count: u64) {
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

    /// Everything that may still use it, leaving nothing behind.
    pub(crate) fn take(&mut self) -> Points {
        self.written = Written::All;
        std::mem::take(&mut self.used)
    }

    /// Everything that may still use it.
    pub(crate) fn all(&self) -> Points {
        self.used.clone()
    }

    /// Others have used it, or parts of it: whoever uses it comes after them.
    pub(crate) fn add_all(&mut self, former: Points) {
        if !matches!(self.written, Written::All) {
            let mut written = self.written();
            written.add_all(former.clone());
            self.written = Written::Points(written);
        }
        self.used.add_all(former);
    }

    /// As if all of the stream's work so far wrote it.
    pub(crate) fn assume_written(&mut self, stream: &Stream) {
        self.commit(stream.timeline(), Access::WRITE, stream.submitted());
    }
}

impl Tracked {
    pub(crate) fn new(uses: Uses) -> Self {
        Self { uses: Mutex::new(uses), home: Home::default(), returned: Condvar::new() }
    }

    /// As [`Tracked::new`], for memory that the stream may use without the lock: see [`Home`].
    ///
    /// # Safety
    /// The stream lives as long as the result is used.
    #[inline]
    pub(crate) unsafe fn at_home(stream: &Stream, uses: Uses) -> Self {
        // SAFETY: S4: the caller's promise.
        let home = unsafe { Home::of(stream, &uses) };
        Self { uses: Mutex::new(uses), home, returned: Condvar::new() }
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// From now on all uses are locked: those of who does not have it borrowed are among them. The caller has asked
    /// [`not_in_host_function`].
    pub(crate) fn forbid_home(&self) {
        if !self.home.is_forbidden() {
            let _uses = self.lock();
            self.home.forbid();
        }
    }

    /// As [`Tracked::forbid_home`], for who has the memory borrowed exclusively: there is nobody to lock it for.
    pub(crate) fn forbid_home_alone(&self) {
        self.home.forbid();
    }

    /// The uses, for a moment or a call of the driver, and never while the device is waited for. The caller has asked
    /// [`not_in_host_function`].
    pub(crate) fn lock(&self) -> MutexGuard<'_, Uses> {
        debug_assert!(!host_function::is_running(), "whoever has the lock may wait for that function");
        let mut uses = self.uses.lock();
        self.home.gather(&mut uses);
        uses
    }

    /// The uses without the lock.
    ///
    /// # Safety
    /// Nobody else reaches them while the result lives, by the lock or without it.
    pub(crate) unsafe fn take_alone(&self) -> Taken<'_> {
        Taken::new(self, false)
    }

    /// For a submission; `None` while a call goes on that conflicts with it: see [`Tracked::wait_for_calls`].
    #[inline]
    pub(super) fn take_for(&self, access: Access) -> Option<Taken<'_>> {
        self.taken(self.uses.lock(), access)
    }

    /// As [`Tracked::take_for`]; `None` also if another thread has the lock.
    #[inline]
    pub(crate) fn try_take_for(&self, access: Access) -> Option<Taken<'_>> {
        self.taken(self.uses.try_lock()?, access)
    }

    #[inline]
    fn taken<'a>(&'a self, uses: MutexGuard<'a, Uses>, access: Access) -> Option<Taken<'a>> {
        uses.calls.allow(access).then(|| {
            MutexGuard::leak(uses);
            Taken::new(self, true)
        })
    }

    /// Waits until no call conflicts with such a use. The caller has nothing locked: a call may wait for the device.
    #[cold]
    pub(super) fn wait_for_calls(&self, access: Access) {
        drop(self.lock_for(access));
    }

    fn lock_for(&self, access: Access) -> MutexGuard<'_, Uses> {
        let mut uses = self.uses.lock();
        while !uses.calls.allow(access) {
            self.returned.wait(&mut uses);
        }
        self.home.gather(&mut uses);
        uses
    }

    /// Begins a call of the host's own, behind those that conflict with it.
    ///
    /// # Errors
    /// [`Error::InHostFunction`](crate::Error::InHostFunction).
    pub(crate) fn begin(&self, access: Access) -> Result<Call<'_>> {
        not_in_host_function()?;
        self.lock_for(access).calls.begin(access);
        Ok(Call { tracked: self, access })
    }

    /// Waits on the host until it may be read, while others may submit work that uses it.
    ///
    /// # Errors
    /// [`Error::InHostFunction`](crate::Error::InHostFunction), or that of the wait.
    pub(crate) fn wait_for_writer(&self, wait: Wait) -> Result<()> {
        not_in_host_function()?;
        let written = self.lock().written();
        if wait.is_dropped() { Ok(()) } else { written.wait() }
    }

    /// Waits on the host until it may be written, while others may submit work that uses it.
    ///
    /// # Errors
    /// As [`Tracked::wait_for_writer`].
    pub(crate) fn wait_for_all(&self, wait: Wait) -> Result<()> {
        not_in_host_function()?;
        let used = self.lock().all();
        if wait.is_dropped() { Ok(()) } else { used.wait() }
    }

    /// Waits before the memory is released, while others may submit work that uses it. What went wrong and was got over goes to the hook.
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
        self.home.gather_mut(uses);
        uses
    }
}

impl Call<'_> {
    /// Waits on the host for all work that this call has to come after, and that was submitted before it began.
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
    fn the_last_write_is_known_behind_reads_of_any_stream() {
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

        // What others did to it may have been writes.
        uses.add_all(Point::new(b.timeline(), 9).into());
        is(&uses.written(), &[(&a, 3), (&b, 9)]);
        is(&uses.all(), &[(&a, 5), (&b, 9)]);
        uses.commit(b.timeline(), Access::WRITE, 10);
        uses.commit(a.timeline(), Access::READ, 6);
        is(&uses.written(), &[(&b, 10)]);
        is(&uses.all(), &[(&b, 10), (&a, 6)]);

        // A write of several streams' work, as former owners leave it.
        let mut uses = Uses::after(uses.take());
        uses.commit(a.timeline(), Access::READ, 7);
        is(&uses.written(), &[(&b, 10), (&a, 6)]);
    }
}
