//! Uses of memory by the stream that it was allocated on, recorded without a lock.
//!
//! That stream needs no lock while no other stream has used the memory since its last write, because its own order is enough. The same holds
//! for memory that the pool has just handed out, if all former uses are on that stream. A submission reads one atomic before its call. After
//! its number is known, it stores that number or sets a flag. The number is stored for a write of memory that has no other reference. Several
//! threads can record reads and writes of parts at the same time, so those set a flag. The flag means: whoever has to come after such a use
//! comes after everything that the stream has when they ask.
//!
//! This is correct because a submission borrows its buffers. Conflicting work anywhere begins after that borrow ends, so it sees the flag and
//! the count. Work at the same time reads as well or uses another part, and needs no order. A borrow is for one submission: two submissions of
//! one exclusive borrow would be two unordered writers. Work that does not borrow its memory, such as a graph's launches, calls
//! [`OwnStreamUses::require_lock`] first. The pieces of a graph's own memory never have this record.

use super::{Timeline, Uses};
use crate::Stream;
use crate::handle::Handle;
use hip_sys::Access;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// The stream that memory was allocated on, and its uses that were recorded without a lock.
pub(crate) struct OwnStreamUses {
    /// Null for memory that always needs the lock.
    timeline: Handle<Timeline>,
    state: AtomicU8,
    recorded: Recorded,
}

/// Other streams may have used the memory: the own stream takes the lock.
const LOCKED: u8 = 0;
/// The own stream has nothing to wait for, and takes no lock.
const LOCK_FREE: u8 = 1;
/// The own stream takes the lock from now on, always.
const ALWAYS_LOCKED: u8 = 2;

/// Uses that are not merged into [`Uses`] yet.
#[derive(Default)]
struct Recorded {
    /// Whether there were reads. An exclusive write clears it.
    reads: AtomicBool,
    /// The number of the last write, [`NO_WRITE`] or [`ANY_SUBMISSION`].
    write: AtomicU64,
}

const NO_WRITE: u64 = 0;
/// Any of the stream's submissions so far may be the last write.
const ANY_SUBMISSION: u64 = u64::MAX;

impl Default for OwnStreamUses {
    fn default() -> Self {
        Self { timeline: Handle::null(), state: AtomicU8::new(ALWAYS_LOCKED), recorded: Recorded::default() }
    }
}

impl OwnStreamUses {
    /// For memory that no other thread has yet, with the uses of its former owners.
    ///
    /// # Safety
    /// The stream lives as long as the result is used.
    #[inline]
    pub(super) unsafe fn new(stream: &Stream, former: &Uses) -> Self {
        let timeline = stream.timeline();
        let state = if former.are_all_on(timeline) { LOCK_FREE } else { LOCKED };
        let timeline = Handle::new(Arc::as_ptr(timeline).cast_mut());
        Self { timeline, state: AtomicU8::new(state), recorded: Recorded::default() }
    }

    /// Whether the stream may use the memory without the lock. The caller has the memory borrowed.
    #[inline]
    pub(crate) fn is_lock_free(&self, stream: &Stream) -> bool {
        self.state.load(Ordering::Acquire) == LOCK_FREE && self.is_of(stream.timeline())
    }

    /// Records a use by a submission of the own stream that is already counted.
    #[inline]
    pub(crate) fn record(&self, access: Access) {
        self.recorded.record(access);
    }

    /// As [`OwnStreamUses::record`], for the write of that number while no other thread can use the memory or ask about it.
    #[inline]
    pub(crate) fn record_exclusive_write(&self, count: u64) {
        // The write comes after the reads recorded so far, so they need no record of their own.
        self.recorded.reads.store(false, Ordering::Relaxed);
        self.recorded.write.store(count, Ordering::Release);
    }

    /// Merges the recorded uses into `uses`, which are locked or not shared. Afterwards the own stream needs the lock.
    #[inline]
    pub(super) fn merge_into(&self, uses: &mut Uses) {
        if self.state.load(Ordering::Relaxed) == LOCK_FREE {
            self.state.store(LOCKED, Ordering::Relaxed);
        }
        if self.recorded.any() {
            self.merge_recorded(uses);
        }
    }

    /// As [`OwnStreamUses::merge_into`], for an exclusive reference.
    #[inline]
    pub(super) fn merge_into_mut(&mut self, uses: &mut Uses) {
        if *self.state.get_mut() == LOCK_FREE {
            *self.state.get_mut() = LOCKED;
        }
        let Recorded { reads, write } = std::mem::take(&mut self.recorded);
        self.add_to(uses, write.into_inner(), reads.into_inner());
    }

    #[inline(never)]
    fn merge_recorded(&self, uses: &mut Uses) {
        let write = self.recorded.write.swap(NO_WRITE, Ordering::SeqCst);
        let reads = self.recorded.reads.swap(false, Ordering::SeqCst);
        self.add_to(uses, write, reads);
    }

    #[inline]
    fn add_to(&self, uses: &mut Uses, write: u64, reads: bool) {
        if write == NO_WRITE && !reads {
            return;
        }
        // SAFETY: S4: a use was recorded, so the timeline is not null, and its stream is alive. The reference count is not changed.
        let timeline = ManuallyDrop::new(unsafe { Arc::from_raw(self.timeline.raw().cast_const()) });
        let submitted = timeline.submitted();
        if write != NO_WRITE {
            uses.add_own_stream(&timeline, Access::WRITE, write.min(submitted));
        }
        if reads {
            uses.add_own_stream(&timeline, Access::READ, submitted);
        }
    }

    /// Ends the need for the lock if all uses are on the own stream. `uses` are locked or not shared, and complete.
    #[inline]
    pub(super) fn allow_lock_free(&self, timeline: &Arc<Timeline>, uses: &Uses) {
        if self.is_of(timeline) && self.state.load(Ordering::Relaxed) == LOCKED && uses.are_all_on(timeline) {
            self.state.store(LOCK_FREE, Ordering::Release);
        }
    }

    /// Makes every use take the lock from now on, always. The uses are locked.
    pub(super) fn require_lock(&self) {
        self.state.store(ALWAYS_LOCKED, Ordering::Relaxed);
    }

    pub(super) fn always_requires_lock(&self) -> bool {
        self.state.load(Ordering::Relaxed) == ALWAYS_LOCKED
    }

    #[inline]
    fn is_of(&self, timeline: &Arc<Timeline>) -> bool {
        std::ptr::eq(self.timeline.raw(), Arc::as_ptr(timeline))
    }
}

// These operations and the count of submissions are sequentially consistent together.
impl Recorded {
    /// Whoever swaps the flag sees our count, or the flag stays set. The flag is stored only if it is not set, because a sequentially
    /// consistent store takes as long as a lock. If it is set already, whoever swaps it later sees our count.
    #[inline]
    fn record(&self, access: Access) {
        if access == Access::READ {
            if !self.reads.load(Ordering::SeqCst) {
                self.reads.store(true, Ordering::SeqCst);
            }
        } else if self.write.load(Ordering::SeqCst) != ANY_SUBMISSION {
            self.write.store(ANY_SUBMISSION, Ordering::SeqCst);
        }
    }

    #[inline]
    fn any(&self) -> bool {
        self.reads.load(Ordering::SeqCst) | (self.write.load(Ordering::SeqCst) != NO_WRITE)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::order::{Points, Tracked, Uses};
    use crate::{Device, Stream};
    use hip_sys::Access;

    /// Memory allocated on the first stream, and the streams.
    fn memory() -> (Tracked, [Stream; 3]) {
        let streams = streams();
        // SAFETY: S4: the tests drop the streams last.
        (unsafe { Tracked::with_own_stream(&streams[0], Uses::default()) }, streams)
    }

    fn streams() -> [Stream; 3] {
        let device = Device::new(&hip_host::platform(), 0).unwrap();
        [(); 3].map(|()| device.new_stream().unwrap())
    }

    fn submit(stream: &Stream) -> u64 {
        stream.timeline().note_submission()
    }

    /// A use that takes the lock.
    fn use_locked(tracked: &Tracked, stream: &Stream, access: Access) {
        let mut guard = tracked.guard_for(access).unwrap();
        guard.commit(stream, access, submit(stream));
    }

    /// A use by the own stream without the lock.
    fn use_lock_free(tracked: &Tracked, own: &Stream, access: Access) {
        assert!(tracked.own_stream().is_lock_free(own));
        submit(own);
        tracked.own_stream().record(access);
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
    fn recorded_uses_are_merged_when_somebody_asks() {
        let (tracked, streams) = memory();
        let [own, other, _] = &streams;
        assert!(tracked.own_stream().is_lock_free(own), "nobody has used it");
        use_locked(&tracked, own, Access::WRITE);
        assert!(!tracked.own_stream().is_lock_free(other));
        use_lock_free(&tracked, own, Access::READ);
        use_lock_free(&tracked, own, Access::READ);
        assert_eq!(known(&tracked), [points(&[(own, 1)]), points(&[(own, 3)])]);
        assert!(!tracked.own_stream().is_lock_free(own), "whoever asked may use it next");

        use_locked(&tracked, own, Access::READ);
        use_lock_free(&tracked, own, Access::WRITE);
        use_lock_free(&tracked, own, Access::READ);
        // The flag of a write means the stream's last submission at the time of the question.
        assert_eq!(known(&tracked), [points(&[(own, 6)]), points(&[(own, 6)])]);
        drop(tracked);
    }

    #[test]
    fn memory_with_former_users_is_locked_until_the_own_stream_writes_it() {
        let streams = streams();
        let [own, other, _] = &streams;
        let after = |former: &[(&Stream, u64)]| {
            let mut uses = Points::default();
            former.iter().for_each(|&(stream, count)| uses.add(stream.timeline(), count));
            // SAFETY: S4: the streams are dropped last.
            unsafe { Tracked::with_own_stream(own, Uses::after(uses)) }
        };
        let own_only = after(&[(own, 4)]);
        let submitted = [(); 4].map(|()| submit(own));
        assert_eq!(submitted, [1, 2, 3, 4]);
        use_lock_free(&own_only, own, Access::READ);
        assert_eq!(known(&own_only), [points(&[(own, 4)]), points(&[(own, 5)])]);

        for former in [vec![(other, 3)], vec![(own, 4), (other, 3)]] {
            let tracked = after(&former);
            assert!(!tracked.own_stream().is_lock_free(own) && !tracked.own_stream().is_lock_free(other));
            use_locked(&tracked, own, Access::READ);
            assert!(!tracked.own_stream().is_lock_free(own), "its next write comes after the other's use");
            assert_eq!(known(&tracked)[0], points(&former));
            use_locked(&tracked, own, Access::WRITE);
            use_lock_free(&tracked, own, Access::WRITE);
        }
    }

    #[test]
    fn an_exclusive_write_is_recorded_by_its_number() {
        let (mut tracked, streams) = memory();
        let [own, other, _] = &streams;
        let write = |tracked: &Tracked| {
            assert!(tracked.own_stream().is_lock_free(own));
            tracked.own_stream().record_exclusive_write(submit(own));
        };
        write(&tracked);
        submit(own);
        assert_eq!(known(&tracked), [points(&[(own, 1)]), points(&[(own, 1)])]);
        use_locked(&tracked, own, Access::READ);
        use_lock_free(&tracked, own, Access::READ);
        write(&tracked);
        submit(own);
        // The reads before it are not counted as later ones.
        assert_eq!(known(&tracked), [points(&[(own, 5)]), points(&[(own, 5)])]);
        use_locked(&tracked, own, Access::WRITE);
        write(&tracked);
        use_lock_free(&tracked, own, Access::READ);
        assert_eq!(known(&tracked), [points(&[(own, 8)]), points(&[(own, 9)])]);
        use_locked(&tracked, own, Access::READ);
        write(&tracked);
        use_lock_free(&tracked, own, Access::WRITE);
        submit(own);
        assert_eq!(known(&tracked), [points(&[(own, 13)]), points(&[(own, 13)])]);
        use_locked(&tracked, own, Access::WRITE);
        write(&tracked);
        submit(own);
        let left = tracked.get_mut().take();
        assert_eq!(format!("{left:?}"), points(&[(own, 15)]));
        assert!(!tracked.own_stream().is_lock_free(own) && !tracked.own_stream().is_lock_free(other));
        drop(tracked);
    }

    #[test]
    fn a_use_by_another_stream_requires_the_lock_until_the_own_stream_writes() {
        let (tracked, streams) = memory();
        let [own, other, third] = &streams;
        use_locked(&tracked, own, Access::WRITE);
        use_lock_free(&tracked, own, Access::WRITE);
        use_locked(&tracked, other, Access::READ);
        assert_eq!(known(&tracked), [points(&[(own, 2)]), points(&[(own, 2), (other, 1)])]);
        use_locked(&tracked, own, Access::READ);
        assert!(!tracked.own_stream().is_lock_free(own), "its next write has to come after the other's read");
        use_locked(&tracked, own, Access::WRITE);
        use_lock_free(&tracked, own, Access::READ);
        use_locked(&tracked, third, Access::WRITE);
        assert!(!tracked.own_stream().is_lock_free(own) && !tracked.own_stream().is_lock_free(third));
        assert_eq!(known(&tracked), [points(&[(third, 1)]), points(&[(third, 1)])]);
        drop(tracked);
    }

    #[test]
    fn a_lock_free_use_of_one_part_is_kept_when_another_part_is_written() {
        for access in [Access::READ, Access::WRITE] {
            let (tracked, streams) = memory();
            let [own, other, _] = &streams;
            use_locked(&tracked, own, Access::WRITE);
            assert!(tracked.own_stream().is_lock_free(own));
            // Another stream writes the other half before the own stream's call has returned.
            use_locked(&tracked, other, Access::WRITE);
            submit(own);
            tracked.own_stream().record(access);
            let both = points(&[(other, 1), (own, 2)]);
            let written = if access == Access::READ { points(&[(other, 1)]) } else { both.clone() };
            assert_eq!(known(&tracked), [written, both]);
            drop(tracked);
        }
    }

    #[test]
    fn memory_used_without_a_borrow_always_requires_the_lock() {
        let (tracked, streams) = memory();
        let own = &streams[0];
        use_locked(&tracked, own, Access::WRITE);
        use_lock_free(&tracked, own, Access::READ);
        tracked.require_lock();
        use_locked(&tracked, own, Access::WRITE);
        assert!(!tracked.own_stream().is_lock_free(own));
        // A submission that was in progress records its use afterwards.
        submit(own);
        tracked.own_stream().record(Access::READ);
        assert_eq!(known(&tracked)[1], points(&[(own, 4)]));
        assert!(!Tracked::default().own_stream().is_lock_free(own), "memory without an own stream");
        drop(tracked);
    }

    #[test]
    fn no_use_is_lost_between_a_record_and_a_merge() {
        let (tracked, streams) = memory();
        let own = &streams[0];
        for access in [Access::READ, Access::WRITE] {
            for _ in 0..2000 {
                use_locked(&tracked, own, Access::WRITE);
                std::thread::scope(|scope| {
                    for _ in 0..2 {
                        scope.spawn(|| {
                            submit(own);
                            tracked.own_stream().record(access);
                        });
                    }
                    scope.spawn(|| drop(tracked.lock()));
                });
                assert_eq!(known(&tracked)[1], points(&[(own, own.submitted())]));
            }
        }
        drop(tracked);
    }

    #[test]
    fn the_next_owner_gets_the_recorded_uses() {
        let (mut tracked, streams) = memory();
        let own = &streams[0];
        use_locked(&tracked, own, Access::WRITE);
        use_lock_free(&tracked, own, Access::READ);
        use_lock_free(&tracked, own, Access::WRITE);
        let left = tracked.get_mut().take();
        assert_eq!(format!("{left:?}"), points(&[(own, 3)]));
        drop(tracked);
    }
}
