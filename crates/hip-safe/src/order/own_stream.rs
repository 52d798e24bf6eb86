//! Uses of memory on the stream that it was allocated on, noted without a lock.
//!
//! While no other stream has used the memory since it was written last, work on that stream has nothing to wait for; nor has it in memory
//! that was just handed out, if all that its former owners left is on that stream. So a submission looks at one atomic before its call, and
//! sets another one once it was counted. A write of memory that nobody else has leaves its number there. What several threads may note at
//! once, reads and writes of parts, is known by a flag: whoever has to come after it comes after all that the stream has when they ask.
//!
//! That is enough because a submission has its buffers borrowed. Who has to come after it, anywhere, begins when that borrow is over, and
//! sees the flag and the count. Who uses the memory at the same time reads as it does or has another part of it, and neither has to come
//! after the other. A borrow is for one submission: two of one exclusive borrow would be two writers. What uses memory that it has not
//! borrowed, as the launches of a graph do, forbids all of this before; what a graph allocated itself is never borrowed as such.

use super::{Timeline, Uses};
use crate::Stream;
use crate::handle::Handle;
use hip_sys::Access;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// The stream that memory was allocated on, and what it did without a lock.
pub(crate) struct Home {
    /// Null for memory without a home.
    timeline: Handle<Timeline>,
    state: AtomicU8,
    noted: Noted,
}

/// Others may have used it: its uses are locked.
const SHARED: u8 = 0;
/// What others did to it is nothing that the home has to wait for.
const ALONE: u8 = 1;
/// Its uses are locked for ever.
const FORBIDDEN: u8 = 2;

/// Uses since they were gathered last.
#[derive(Default)]
struct Noted {
    /// Whether there were reads, since a write that has a number if there was one.
    reads: AtomicBool,
    /// The number of the last write, [`NONE`] or [`ANY`].
    write: AtomicU64,
}

/// No write.
const NONE: u64 = 0;
/// Writes that may be any of the stream's submissions.
const ANY: u64 = u64::MAX;

impl Default for Home {
    fn default() -> Self {
        Self { timeline: Handle::null(), state: AtomicU8::new(FORBIDDEN), noted: Noted::default() }
    }
}

impl Home {
    /// Of memory that nobody has yet, and that was used so before.
    ///
    /// # Safety
    /// The stream lives as long as the result is used.
    #[inline]
    pub(super) unsafe fn of(stream: &Stream, former: &Uses) -> Self {
        let timeline = stream.timeline();
        let state = if former.are_all_on(timeline) { ALONE } else { SHARED };
        let timeline = Handle::new(Arc::as_ptr(timeline).cast_mut());
        Self { timeline, state: AtomicU8::new(state), noted: Noted::default() }
    }

    /// Whether the stream may use the memory without its lock, if it has it borrowed.
    #[inline]
    pub(crate) fn is_alone(&self, stream: &Stream) -> bool {
        self.state.load(Ordering::Acquire) == ALONE && self.is(stream.timeline())
    }

    /// The home has a submission, counted by now, that makes such a use.
    #[inline]
    pub(crate) fn note(&self, access: Access) {
        self.noted.note(access);
    }

    /// As [`Home::note`], of the write of that number, where nobody else can use the memory or ask meanwhile.
    #[inline]
    pub(crate) fn note_write_alone(&self, count: u64) {
        // It comes after the reads.
        self.noted.reads.store(false, Ordering::Relaxed);
        self.noted.write.store(count, Ordering::Release);
    }

    /// Adds what the home did to the uses, which are locked or nobody else's. From now on it needs the lock.
    #[inline]
    pub(super) fn gather(&self, uses: &mut Uses) {
        if self.state.load(Ordering::Relaxed) == ALONE {
            self.state.store(SHARED, Ordering::Relaxed);
        }
        if self.noted.any() {
            self.gather_noted(uses);
        }
    }

    /// As [`Home::gather`], where nobody else has the memory.
    #[inline]
    pub(super) fn gather_mut(&mut self, uses: &mut Uses) {
        if *self.state.get_mut() == ALONE {
            *self.state.get_mut() = SHARED;
        }
        let Noted { reads, write } = std::mem::take(&mut self.noted);
        self.add(uses, write.into_inner(), reads.into_inner());
    }

    #[inline(never)]
    fn gather_noted(&self, uses: &mut Uses) {
        let write = self.noted.write.swap(NONE, Ordering::SeqCst);
        let reads = self.noted.reads.swap(false, Ordering::SeqCst);
        self.add(uses, write, reads);
    }

    #[inline]
    fn add(&self, uses: &mut Uses, write: u64, reads: bool) {
        if write == NONE && !reads {
            return;
        }
        // SAFETY: S4: something was noted, so there is a timeline, and it lives. The reference stays its owner's.
        let timeline = ManuallyDrop::new(unsafe { Arc::from_raw(self.timeline.raw().cast_const()) });
        let submitted = timeline.submitted();
        if write != NONE {
            uses.add_home(&timeline, Access::WRITE, write.min(submitted));
        }
        if reads {
            uses.add_home(&timeline, Access::READ, submitted);
        }
    }

    /// The uses, locked or nobody else's, are all there are: the home needs no lock any more if it made them all.
    #[inline]
    pub(super) fn allow(&self, timeline: &Arc<Timeline>, uses: &Uses) {
        if self.is(timeline) && self.state.load(Ordering::Relaxed) == SHARED && uses.are_all_on(timeline) {
            self.state.store(ALONE, Ordering::Release);
        }
    }

    /// Locks from now on, for ever. The uses are locked.
    pub(super) fn forbid(&self) {
        self.state.store(FORBIDDEN, Ordering::Relaxed);
    }

    pub(super) fn is_forbidden(&self) -> bool {
        self.state.load(Ordering::Relaxed) == FORBIDDEN
    }

    #[inline]
    fn is(&self, timeline: &Arc<Timeline>) -> bool {
        std::ptr::eq(self.timeline.raw(), Arc::as_ptr(timeline))
    }
}

// All of it is in one order with the counts of submissions.
impl Noted {
    /// What was counted before is seen by who takes this, or this is still here. Most uses find it: a store in that order takes as long as
    /// a lock. Who takes it away later sees the count.
    #[inline]
    fn note(&self, access: Access) {
        if access == Access::READ {
            if !self.reads.load(Ordering::SeqCst) {
                self.reads.store(true, Ordering::SeqCst);
            }
        } else if self.write.load(Ordering::SeqCst) != ANY {
            self.write.store(ANY, Ordering::SeqCst);
        }
    }

    #[inline]
    fn any(&self) -> bool {
        self.reads.load(Ordering::SeqCst) | (self.write.load(Ordering::SeqCst) != NONE)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::order::{Points, Tracked, Uses};
    use crate::{Device, Stream};
    use hip_sys::Access;

    /// Memory that lives no longer than its stream, and other streams.
    fn memory() -> (Tracked, [Stream; 3]) {
        let streams = streams();
        // SAFETY: S4: the tests drop the streams last.
        (unsafe { Tracked::at_home(&streams[0], Uses::default()) }, streams)
    }

    fn streams() -> [Stream; 3] {
        let device = Device::new(&hip_host::platform(), 0).unwrap();
        [(); 3].map(|()| device.new_stream().unwrap())
    }

    fn submit(stream: &Stream) -> u64 {
        stream.timeline().note_submission()
    }

    /// A use with the lock.
    fn locked(tracked: &Tracked, stream: &Stream, access: Access) {
        let mut taken = tracked.take_for(access).unwrap();
        taken.commit(stream, access, submit(stream));
    }

    /// A use at home, without it.
    fn at_home(tracked: &Tracked, home: &Stream, access: Access) {
        assert!(tracked.home().is_alone(home));
        submit(home);
        tracked.home().note(access);
    }

    fn known(tracked: &Tracked) -> [String; 2] {
        let uses = tracked.lock();
        [uses.written(), uses.all()].map(|points| format!("{points:?}"))
    }

    fn points(list: &[(&Stream, u64)]) -> String {
        let points: Vec<_> =
            list.iter().map(|(stream, count)| format!("{}: {count}", stream.timeline().number())).collect();
        format!("{{{}}}", points.join(", "))
    }

    #[test]
    fn what_the_home_did_is_known_to_who_asks() {
        let (tracked, streams) = memory();
        let [home, other, _] = &streams;
        assert!(tracked.home().is_alone(home), "nobody has used it");
        locked(&tracked, home, Access::WRITE);
        assert!(!tracked.home().is_alone(other));
        at_home(&tracked, home, Access::READ);
        at_home(&tracked, home, Access::READ);
        assert_eq!(known(&tracked), [points(&[(home, 1)]), points(&[(home, 3)])]);
        assert!(!tracked.home().is_alone(home), "who asked may be about to use it");

        locked(&tracked, home, Access::READ);
        at_home(&tracked, home, Access::WRITE);
        at_home(&tracked, home, Access::READ);
        // A write is known as what the stream has when somebody asks.
        assert_eq!(known(&tracked), [points(&[(home, 6)]), points(&[(home, 6)])]);
        drop(tracked);
    }

    #[test]
    fn memory_that_others_used_before_is_locked_until_the_home_writes_it() {
        let streams = streams();
        let [home, other, _] = &streams;
        let after = |former: &[(&Stream, u64)]| {
            let mut uses = Points::default();
            former.iter().for_each(|&(stream, count)| uses.add(stream.timeline(), count));
            // SAFETY: S4: the streams are dropped last.
            unsafe { Tracked::at_home(home, Uses::after(uses)) }
        };
        let own = after(&[(home, 4)]);
        let submitted = [(); 4].map(|()| submit(home));
        assert_eq!(submitted, [1, 2, 3, 4]);
        at_home(&own, home, Access::READ);
        assert_eq!(known(&own), [points(&[(home, 4)]), points(&[(home, 5)])]);

        for former in [vec![(other, 3)], vec![(home, 4), (other, 3)]] {
            let tracked = after(&former);
            assert!(!tracked.home().is_alone(home) && !tracked.home().is_alone(other));
            locked(&tracked, home, Access::READ);
            assert!(!tracked.home().is_alone(home), "its next write comes after the other's use");
            assert_eq!(known(&tracked)[0], points(&former));
            locked(&tracked, home, Access::WRITE);
            at_home(&tracked, home, Access::WRITE);
        }
    }

    #[test]
    fn a_write_that_nobody_can_ask_for_meanwhile_is_known_by_its_number() {
        let (mut tracked, streams) = memory();
        let [home, other, _] = &streams;
        let write = |tracked: &Tracked| {
            assert!(tracked.home().is_alone(home));
            tracked.home().note_write_alone(submit(home));
        };
        write(&tracked);
        submit(home);
        assert_eq!(known(&tracked), [points(&[(home, 1)]), points(&[(home, 1)])]);
        locked(&tracked, home, Access::READ);
        at_home(&tracked, home, Access::READ);
        write(&tracked);
        submit(home);
        // The reads before it are not counted as later ones.
        assert_eq!(known(&tracked), [points(&[(home, 5)]), points(&[(home, 5)])]);
        locked(&tracked, home, Access::WRITE);
        write(&tracked);
        at_home(&tracked, home, Access::READ);
        assert_eq!(known(&tracked), [points(&[(home, 8)]), points(&[(home, 9)])]);
        locked(&tracked, home, Access::READ);
        write(&tracked);
        at_home(&tracked, home, Access::WRITE);
        submit(home);
        assert_eq!(known(&tracked), [points(&[(home, 13)]), points(&[(home, 13)])]);
        locked(&tracked, home, Access::WRITE);
        write(&tracked);
        submit(home);
        let left = tracked.get_mut().take();
        assert_eq!(format!("{left:?}"), points(&[(home, 15)]));
        assert!(!tracked.home().is_alone(home) && !tracked.home().is_alone(other));
        drop(tracked);
    }

    #[test]
    fn others_take_the_memory_away_from_its_home_until_it_writes_again() {
        let (tracked, streams) = memory();
        let [home, other, third] = &streams;
        locked(&tracked, home, Access::WRITE);
        at_home(&tracked, home, Access::WRITE);
        locked(&tracked, other, Access::READ);
        assert_eq!(known(&tracked), [points(&[(home, 2)]), points(&[(home, 2), (other, 1)])]);
        locked(&tracked, home, Access::READ);
        assert!(!tracked.home().is_alone(home), "its next write has to come after the other's read");
        locked(&tracked, home, Access::WRITE);
        at_home(&tracked, home, Access::READ);
        locked(&tracked, third, Access::WRITE);
        assert!(!tracked.home().is_alone(home) && !tracked.home().is_alone(third));
        assert_eq!(known(&tracked), [points(&[(third, 1)]), points(&[(third, 1)])]);
        drop(tracked);
    }

    #[test]
    fn a_use_at_home_of_one_part_is_not_lost_behind_a_write_of_another() {
        for access in [Access::READ, Access::WRITE] {
            let (tracked, streams) = memory();
            let [home, other, _] = &streams;
            locked(&tracked, home, Access::WRITE);
            assert!(tracked.home().is_alone(home));
            // Before the home's call has returned, somebody writes the other half.
            locked(&tracked, other, Access::WRITE);
            submit(home);
            tracked.home().note(access);
            let both = points(&[(other, 1), (home, 2)]);
            let written = if access == Access::READ { points(&[(other, 1)]) } else { both.clone() };
            assert_eq!(known(&tracked), [written, both]);
            drop(tracked);
        }
    }

    #[test]
    fn what_is_used_without_a_borrow_is_locked_for_ever() {
        let (tracked, streams) = memory();
        let home = &streams[0];
        locked(&tracked, home, Access::WRITE);
        at_home(&tracked, home, Access::READ);
        tracked.forbid_home();
        locked(&tracked, home, Access::WRITE);
        assert!(!tracked.home().is_alone(home));
        // One that was under way.
        submit(home);
        tracked.home().note(Access::READ);
        assert_eq!(known(&tracked)[1], points(&[(home, 4)]));
        assert!(!Tracked::default().home().is_alone(home), "memory without a home");
        drop(tracked);
    }

    #[test]
    fn no_use_is_lost_between_who_notes_and_who_asks() {
        let (tracked, streams) = memory();
        let home = &streams[0];
        for access in [Access::READ, Access::WRITE] {
            for _ in 0..2000 {
                locked(&tracked, home, Access::WRITE);
                std::thread::scope(|scope| {
                    for _ in 0..2 {
                        scope.spawn(|| {
                            submit(home);
                            tracked.home().note(access);
                        });
                    }
                    scope.spawn(|| drop(tracked.lock()));
                });
                assert_eq!(known(&tracked)[1], points(&[(home, home.submitted())]));
            }
        }
        drop(tracked);
    }

    #[test]
    fn who_gets_the_memory_next_is_told_what_the_home_did() {
        let (mut tracked, streams) = memory();
        let home = &streams[0];
        locked(&tracked, home, Access::WRITE);
        at_home(&tracked, home, Access::READ);
        at_home(&tracked, home, Access::WRITE);
        let left = tracked.get_mut().take();
        assert_eq!(format!("{left:?}"), points(&[(home, 3)]));
        drop(tracked);
    }
}
