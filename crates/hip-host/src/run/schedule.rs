//! Chooses which fiber of a block runs next. Pure state: no fiber is touched here.
//!
//! Fibers are lazy: one runs thread after thread until a thread has to wait; only then another fiber runs.
//! The block barrier opens when every live thread waits at it, so threads may return early and barriers may
//! stand in divergent code.
//!
//! The functions that a kernel calls do not allocate: the watchdog may stop a fiber anywhere in them, even
//! while it holds the allocator's lock.

use super::warp::{Arrival, LANES, Seen, Warp};
use crate::abi::{Thread, line_number};
use crate::adversary::Order;

/// The runner's next step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Resume this fiber.
    Resume(u32),
    /// Start an idle fiber, or a new one.
    Start,
    /// Every thread has ended.
    Done,
    /// Nothing can run any more; the message says why.
    Stuck(String),
}

/// The outcome of a barrier or warp operation.
pub(crate) enum Met<T> {
    /// Continue, with this result.
    Now(T),
    /// Wait to be resumed.
    Wait,
}

/// A thread's lane and warp in its block.
#[derive(Clone, Copy)]
pub(crate) struct Lane {
    pub(crate) number: u32,
    pub(crate) warp: u32,
}

#[derive(Default)]
struct Barrier {
    waiting: Vec<u32>,
    /// Line of the first waiting thread; and the other lines at which threads wait, with their counts.
    line: u32,
    elsewhere: Vec<(u32, u32)>,
    trues: u32,
    /// The result for the threads that met last.
    result: u64,
}

/// The threads of one block.
pub(crate) struct Schedule {
    size: [u32; 3],
    /// Log2 of the wave size.
    wave_bits: u32,
    total: u32,
    started: u32,
    finished: u32,
    next: [u32; 3],
    /// The running fiber, and each fiber's thread.
    current: u32,
    threads: Vec<u32>,
    /// With an adversary: the order in which threads start.
    order: Option<Order>,
    /// Fibers that can continue, from index `resumed` on.
    ready: Vec<u32>,
    resumed: usize,
    barrier: Barrier,
    warps: Vec<Warp>,
}

impl Schedule {
    pub(crate) fn new() -> Self {
        Self {
            size: [0; 3],
            wave_bits: 5,
            total: 0,
            started: 0,
            finished: 0,
            next: [0; 3],
            current: 0,
            threads: Vec::new(),
            order: None,
            ready: Vec::new(),
            resumed: 0,
            barrier: Barrier::default(),
            warps: Vec::new(),
        }
    }

    /// Prepares for a block of that size.
    pub(crate) fn begin(&mut self, size: [u32; 3], wave: u32) {
        let total = size.iter().product::<u32>();
        (self.size, self.wave_bits, self.total) = (size, wave.trailing_zeros(), total);
        (self.started, self.finished, self.next) = (0, 0, [0; 3]);
        self.ready.clear();
        self.resumed = 0;
        self.barrier.waiting.clear();
        self.barrier.elsewhere.clear();
        self.barrier.trues = 0;
        // There are never more fibers than threads. The lists get twice that capacity, so that `ready` is
        // compacted rarely; the two lists are swapped when a barrier opens.
        let most = total as usize;
        self.ready.reserve(2 * most + LANES);
        self.barrier.waiting.reserve(2 * most + LANES);
        self.barrier.elsewhere.reserve(most);
        if self.threads.len() < total as usize {
            self.threads.resize(total as usize, 0);
        }
        let warps = total.div_ceil(wave);
        while self.warps.len() < warps as usize {
            self.warps.push(Warp::new());
        }
        for (index, warp) in (0..).zip(&mut self.warps) {
            warp.reset(wave.min(total.saturating_sub(index * wave)));
        }
    }

    /// Sets the order in which the threads of the next blocks start. With an order, threads also continue
    /// after a barrier in reverse order of arrival.
    pub(crate) fn set_order(&mut self, order: Option<Order>) {
        self.order = order;
    }

    /// Index of the running fiber's thread.
    pub(crate) fn current_thread(&self) -> [u32; 3] {
        self.index(self.threads.get(self.current as usize).copied().unwrap_or(0))
    }

    /// Index of the thread with that number.
    fn index(&self, number: u32) -> [u32; 3] {
        let [x, y, _] = self.size.map(|count| count.max(1));
        [number % x, number / x % y, number / x / y]
    }

    /// Sets the fiber that is about to run.
    #[inline]
    pub(crate) fn set_current(&mut self, fiber: u32) {
        self.current = fiber;
    }

    /// Ends the running fiber's thread, if it has one, and starts the next thread on it. Returns false if
    /// none is left.
    #[inline]
    pub(crate) fn next_thread(&mut self, thread: &mut Thread) -> bool {
        if thread.linear != u32::MAX {
            self.end_thread(thread.linear);
        }
        if self.started == self.total {
            return false;
        }
        let mut number = self.started;
        if let Some(order) = &self.order {
            number = order.number_at(u64::from(number)) as u32;
            self.next = self.index(number);
        }
        let [x, y, z] = self.next;
        (thread.x, thread.y, thread.z, thread.linear) = (x, y, z, number);
        self.threads[self.current as usize] = number;
        self.started += 1;
        self.next[0] = x + 1;
        if x + 1 == self.size[0] {
            self.next = if y + 1 == self.size[1] { [0, 0, z + 1] } else { [0, y + 1, z] };
        }
        true
    }

    /// Ends the running thread, which has that number.
    #[inline]
    pub(crate) fn end_thread(&mut self, number: u32) {
        self.finished += 1;
        let warp = &mut self.warps[(number >> self.wave_bits) as usize];
        if warp.leave() {
            reserve(&mut self.ready, &mut self.resumed, LANES);
            warp.release(&mut self.ready, None);
        }
    }

    /// Notes that the running thread has reached the block barrier.
    #[inline]
    pub(crate) fn barrier(&mut self, line: u32, predicate: bool) -> Met<u64> {
        let barrier = &mut self.barrier;
        if barrier.waiting.is_empty() {
            barrier.line = line;
        } else if barrier.line != line {
            match barrier.elsewhere.iter_mut().find(|(known, _)| *known == line) {
                Some((_, count)) => *count += 1,
                None => barrier.elsewhere.push((line, 1)),
            }
        }
        barrier.trues += u32::from(predicate);
        let alive = self.total - self.finished;
        if barrier.waiting.len() as u32 + 1 == alive && barrier.elsewhere.is_empty() {
            self.open_barrier(alive);
            return Met::Now(self.barrier.result);
        }
        barrier.waiting.push(self.current);
        Met::Wait
    }

    /// The barrier's result for a thread that waited.
    pub(crate) fn result(&self) -> u64 {
        self.barrier.result
    }

    /// The running thread's lane.
    #[inline]
    pub(crate) fn lane(&self) -> Lane {
        let thread = self.threads[self.current as usize];
        Lane { number: thread & ((1 << self.wave_bits) - 1), warp: thread >> self.wave_bits }
    }

    /// Notes that the running thread, which is that lane, has reached a warp operation.
    #[inline]
    pub(crate) fn warp(&mut self, lane: Lane, line: u32, value: &[u8], predicate: bool) -> Met<()> {
        let warp = &mut self.warps[lane.warp as usize];
        let (fiber, lane) = (self.current, lane.number);
        let all_wait = warp.arrive(&Arrival { lane, line, fiber, value, predicate });
        if !all_wait {
            return Met::Wait;
        }
        reserve(&mut self.ready, &mut self.resumed, LANES);
        if warp.release(&mut self.ready, Some(lane)) { Met::Now(()) } else { Met::Wait }
    }

    /// What a lane sees after its warp operation.
    #[inline]
    pub(crate) fn seen(&self, lane: Lane) -> Seen {
        self.warps[lane.warp as usize].seen()
    }

    /// Chooses the next step. Threads that can continue come before new ones. Only when neither is left, a
    /// barrier opens or the missing lanes of a warp count as inactive.
    #[inline]
    pub(crate) fn pick(&mut self) -> Next {
        match self.next_ready() {
            Some(fiber) => Next::Resume(fiber),
            None => self.pick_slowly(),
        }
    }

    /// Takes the next fiber that can continue.
    #[inline]
    pub(crate) fn next_ready(&mut self) -> Option<u32> {
        let fiber = self.ready.get(self.resumed).copied()?;
        self.resumed += 1;
        Some(fiber)
    }

    fn pick_slowly(&mut self) -> Next {
        loop {
            if let Some(fiber) = self.next_ready() {
                return Next::Resume(fiber);
            }
            self.ready.clear();
            self.resumed = 0;
            if self.started < self.total {
                return Next::Start;
            }
            if self.finished == self.total {
                return Next::Done;
            }
            let alive = self.total - self.finished;
            if self.barrier.waiting.len() as u32 == alive {
                if !self.barrier.elsewhere.is_empty() {
                    return Next::Stuck(self.who_waits_where(alive));
                }
                self.open_barrier(alive);
                continue;
            }
            let mut released = false;
            for warp in self.warps.iter_mut().filter(|warp| warp.any_waits()) {
                warp.release(&mut self.ready, None);
                released = true;
            }
            if !released {
                return Next::Stuck(format!("{alive} threads of the block wait and none can go on"));
            }
        }
    }

    fn who_waits_where(&self, alive: u32) -> String {
        let elsewhere = self.barrier.elsewhere.iter();
        let first = alive - elsewhere.clone().map(|(_, count)| count).sum::<u32>();
        let mut text = format!(
            "a barrier is not reached by all threads of the block: {first} wait at line {}",
            line_number(self.barrier.line)
        );
        for (line, count) in elsewhere {
            text += &format!(", {count} at line {}", line_number(*line));
        }
        if self.finished > 0 {
            text += &format!(", {} have ended", self.finished);
        }
        text
    }

    fn open_barrier(&mut self, met: u32) {
        let barrier = &mut self.barrier;
        barrier.result = u64::from(met) << 32 | u64::from(barrier.trues);
        barrier.trues = 0;
        if self.order.is_some() {
            barrier.waiting.reverse();
        }
        if self.ready.len() == self.resumed {
            self.resumed = 0;
            self.ready.clear();
            std::mem::swap(&mut self.ready, &mut barrier.waiting);
        } else {
            reserve(&mut self.ready, &mut self.resumed, barrier.waiting.len());
            self.ready.append(&mut barrier.waiting);
        }
    }
}

/// Makes room for `count` more fibers that can continue, by removing those already resumed.
#[inline]
fn reserve(ready: &mut Vec<u32>, resumed: &mut usize, count: usize) {
    if ready.capacity() - ready.len() < count {
        ready.drain(..std::mem::take(resumed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends a thread, if any, and returns the index of the next.
    fn next(schedule: &mut Schedule, ended: Option<u32>) -> Option<(u32, u32, u32)> {
        let mut thread = Thread { x: 0, y: 0, z: 0, linear: ended.unwrap_or(u32::MAX) };
        schedule.next_thread(&mut thread).then_some((thread.x, thread.y, thread.z))
    }

    /// A block of two threads on fibers 0 and 1, both started.
    fn two_threads() -> Schedule {
        let mut schedule = Schedule::new();
        schedule.begin([2, 1, 1], 32);
        for fiber in 0..2 {
            assert_eq!(schedule.pick(), Next::Start);
            schedule.set_current(fiber);
            assert_eq!(next(&mut schedule, None), Some((fiber, 0, 0)));
            if fiber == 0 {
                assert!(matches!(schedule.barrier(5, true), Met::Wait));
            }
        }
        schedule
    }

    #[test]
    fn threads_count_x_first() {
        let mut schedule = Schedule::new();
        schedule.begin([2, 2, 2], 32);
        schedule.set_current(0);
        let mut seen = Vec::new();
        while let Some(thread) = next(&mut schedule, (seen.len() as u32).checked_sub(1)) {
            seen.push(thread);
        }
        let expected =
            [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 1)];
        assert_eq!(seen, expected);
        assert_eq!(schedule.pick(), Next::Done);
    }

    #[test]
    fn threads_start_in_any_order_that_is_asked_for() {
        let mut schedule = Schedule::new();
        schedule.set_order(Some(Order::backwards(8)));
        schedule.begin([2, 2, 2], 32);
        schedule.set_current(0);
        let mut ended = None;
        let mut seen = Vec::new();
        while let Some((x, y, z)) = next(&mut schedule, ended) {
            ended = Some(x + 2 * y + 4 * z);
            seen.push((x, y, z));
        }
        let expected =
            [(1, 1, 1), (0, 1, 1), (1, 0, 1), (0, 0, 1), (1, 1, 0), (0, 1, 0), (1, 0, 0), (0, 0, 0)];
        assert_eq!(seen, expected);
        assert_eq!(schedule.pick(), Next::Done);
    }

    #[test]
    fn a_barrier_does_not_wait_for_threads_that_exited() {
        let mut schedule = two_threads();
        assert!(matches!(schedule.barrier(5, false), Met::Now(result) if result == 2 << 32 | 1));
        assert!(next(&mut schedule, Some(1)).is_none());
        assert_eq!(schedule.pick(), Next::Resume(0));
        // Thread 1 has ended, so thread 0 alone passes the next barrier at once.
        schedule.set_current(0);
        assert!(matches!(schedule.barrier(6, true), Met::Now(result) if result == 1 << 32 | 1));
    }

    #[test]
    fn an_early_exit_opens_the_barrier() {
        let mut schedule = two_threads();
        assert!(next(&mut schedule, Some(1)).is_none());
        assert_eq!(schedule.pick(), Next::Resume(0));
        assert_eq!(schedule.result(), 1 << 32 | 1);
    }

    #[test]
    fn a_long_loop_of_warp_operations_needs_no_more_memory() {
        let mut schedule = Schedule::new();
        schedule.begin([2, 1, 1], 32);
        let capacity = schedule.ready.capacity();
        for fiber in 0..2 {
            schedule.set_current(fiber);
            assert_eq!(next(&mut schedule, None), Some((fiber, 0, 0)));
        }
        schedule.set_current(0);
        assert!(matches!(schedule.warp(schedule.lane(), 8, &[1], true), Met::Wait));
        // The fiber that arrives last continues and waits at the next operation, where the other arrives
        // last.
        let mut fiber = 1;
        for _ in 0..10_000 {
            schedule.set_current(fiber);
            assert!(matches!(schedule.warp(schedule.lane(), 8, &[1], true), Met::Now(())));
            assert!(matches!(schedule.warp(schedule.lane(), 8, &[1], true), Met::Wait));
            fiber = 1 - fiber;
            assert_eq!(schedule.next_ready(), Some(fiber));
        }
        assert_eq!(schedule.ready.capacity(), capacity);
    }

    #[test]
    fn barriers_on_different_lines_are_stuck() {
        let mut schedule = two_threads();
        assert!(matches!(schedule.barrier(9, false), Met::Wait));
        let Next::Stuck(message) = schedule.pick() else { panic!("not stuck") };
        assert!(message.contains("1 wait at line 5, 1 at line 9"), "{message}");
    }

    #[test]
    fn lanes_that_do_not_come_are_inactive() {
        let mut schedule = two_threads();
        let lane = schedule.lane();
        assert_eq!(lane.number, 1);
        assert!(matches!(schedule.warp(lane, 8, &[1], true), Met::Wait));
        assert_eq!(schedule.pick(), Next::Resume(1));
        schedule.set_current(1);
        assert_eq!(schedule.seen(lane).mask, 0b10);
    }
}
