//! Decides which operation starts when. Operations that no thread waits for rest in their streams. A thread
//! that waits starts operations one after the other until its own has ended.

use super::Adversary;
use super::choice::Topic;
use crate::dispatch;
use crate::pool::Pool;
use crate::stream::{Front, Point, Stream};
use crate::work::Released;
use parking_lot::MutexGuard;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::thread;

/// Streams that have operations, and the operations that run.
#[derive(Default)]
pub(super) struct State {
    /// In the order of their creation.
    pending: Vec<Arc<Stream>>,
    /// For each stream that runs an operation, by stream id: whether the operation is known to be stuck, that
    /// is, unlikely to end soon without help.
    running: HashMap<u64, bool>,
    /// Memory that streams have still to free, by stream id.
    released: Vec<(u64, Weak<Released>)>,
    waits: u64,
    polls: u64,
    /// Incremented by every call that submits, waits or polls.
    activity: u64,
    /// The watch thread, which detects programs that wait without a call, was started.
    watched: bool,
}

impl State {
    fn busy(&self) -> bool {
        self.running.values().any(|stuck| !stuck)
    }

    fn all_stuck(&mut self) {
        self.running.values_mut().for_each(|stuck| *stuck = true);
    }
}

/// Which operations may start.
#[derive(Clone, Copy)]
struct Allowed<'a> {
    /// By stream id: the last operation that a thread waits for.
    needed: &'a HashMap<u64, u64>,
    /// Whether operations that no thread waits for may start too.
    others: bool,
    /// Whether these include host functions and operations of late streams.
    everything: bool,
}

impl Adversary {
    /// Notes a submitted operation. It rests, but a few operations may start now.
    pub(crate) fn submitted(&'static self, stream: &Arc<Stream>, number: u64) {
        let mut state = self.state.lock();
        state.activity += 1;
        if !state.pending.iter().any(|known| known.id == stream.id) {
            state.pending.push(Arc::clone(stream));
            state.pending.sort_by_key(|stream| stream.id);
        }
        if !std::mem::replace(&mut state.watched, true) {
            // Without the watch thread a program that never calls would wait forever. Starting it fails only
            // if the machine has no thread left.
            let _ = thread::Builder::new().name("hip-host patience".to_owned()).spawn(|| self.watch());
        }
        let eager = [0, 0, 0, 0, 1, 3][(self.roll(Topic::Eager, stream.id, number) % 6) as usize];
        let allowed = Allowed { needed: &HashMap::new(), others: true, everything: false };
        for _ in 0..eager {
            self.settle(&mut state);
            if !self.start_one(&mut state, allowed) {
                return;
            }
        }
        self.settle(&mut state);
    }

    /// Notes that an operation has ended. Its stream may have more.
    pub(crate) fn finished(&self, stream: &Stream) {
        let mut state = self.state.lock();
        state.running.remove(&stream.id);
        if stream.front().is_none() {
            state.pending.retain(|pending| pending.id != stream.id);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Runs operations until all points have been reached.
    pub(crate) fn drive(&self, goal: &[Point]) {
        self.drive_or_leave(goal, false);
    }

    /// Runs operations until all points have been reached, or until the operations needed wait for the
    /// program.
    pub(crate) fn drive_if_possible(&self, goal: &[Point]) {
        self.drive_or_leave(goal, true);
    }

    /// `leave`: return as well when nothing may start and nothing has ended for a while.
    fn drive_or_leave(&self, goal: &[Point], leave: bool) {
        let mut state = self.state.lock();
        state.activity += 1;
        state.waits += 1;
        let starve = self.one_in(2, Topic::Starve, state.waits, 0);
        while !goal.iter().all(Point::ended) {
            if self.settle(&mut state) {
                continue;
            }
            let needed = needed(goal);
            let allowed = Allowed { needed: &needed, others: !starve, everything: false };
            let anything = Allowed { needed: &needed, others: true, everything: true };
            // A needed operation may itself wait for the program. In that case nothing is held back.
            if !self.start_one(&mut state, allowed)
                && !self.start_one(&mut state, anything)
                && self.changed.wait_for(&mut state, self.patience).timed_out()
                && leave
            {
                break;
            }
        }
        state.activity += 1;
    }

    /// The program polls whether the points have been reached. It may poll until they are, so an operation
    /// starts now and then.
    pub(crate) fn poll(&self, goal: &[Point]) {
        if goal.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        state.activity += 1;
        state.polls += 1;
        if self.one_in(2, Topic::Poll, state.polls, 0) {
            let needed = needed(goal);
            self.settle(&mut state);
            self.start_one(&mut state, Allowed { needed: &needed, others: true, everything: false });
            self.settle(&mut state);
        }
    }

    /// Notes memory that a stream is going to free.
    pub(crate) fn released(&self, stream: &Stream, released: &Arc<Released>) {
        self.state.lock().released.push((stream.id, Arc::downgrade(released)));
    }

    /// Memory of this size and pool that the stream has still to free, if the seed wants it reused.
    pub(crate) fn reuse(&self, stream: &Stream, size: usize, pool: &Arc<Pool>) -> Option<Arc<Released>> {
        let wanted = self.reuses();
        let mut state = self.state.lock();
        state.released.retain(|(_, released)| released.strong_count() > 0);
        let of_stream = state.released.iter().filter(|(id, _)| wanted && *id == stream.id);
        let fits = |released: &Arc<Released>| released.range.len == size && released.is_of(pool);
        of_stream.filter_map(|(_, released)| released.upgrade()).find(fits)
    }

    /// Waits while an operation runs that is expected to end. Returns whether there was one.
    fn settle(&self, state: &mut MutexGuard<'_, State>) -> bool {
        let busy = state.busy();
        while state.busy() {
            if self.changed.wait_for(state, self.patience).timed_out() && state.busy() {
                self.note("patience: the operations that run are not waited for".to_owned());
                state.all_stuck();
            }
        }
        busy
    }

    /// Starts one of the allowed operations. Returns false if there is none.
    fn start_one(&self, state: &mut MutexGuard<'_, State>, allowed: Allowed<'_>) -> bool {
        let mut best: Option<((bool, u64), Arc<Stream>, Front)> = None;
        for stream in &state.pending {
            if state.running.contains_key(&stream.id) {
                continue;
            }
            let Some(front) = stream.front() else { continue };
            let needed = allowed.needed.get(&stream.id).is_some_and(|until| front.number <= *until);
            let late = self.one_in(3, Topic::Late, stream.id, 0);
            let held_back = !needed && (!allowed.others || (front.is_host || late) && !allowed.everything);
            if held_back || !front.after.iter().all(Point::ended) {
                continue;
            }
            let rank = (!late, self.roll(Topic::Order, stream.id, front.number));
            if best.as_ref().is_none_or(|(known, ..)| rank > *known) {
                best = Some((rank, Arc::clone(stream), front));
            }
        }
        let Some((_, stream, front)) = best else { return false };
        self.note(format!(
            "start operation {} of {}: {}",
            front.number,
            if stream.is_null {
                format!("the null stream of device {}", stream.device)
            } else {
                format!("stream {}", stream.number())
            },
            front.name
        ));
        state.running.insert(stream.id, false);
        stream.grant(front.number);
        // Without the lock: if no thread is left, this call runs the operation itself.
        MutexGuard::unlocked(state, || dispatch::start(stream));
        true
    }

    /// Starts resting operations when the program has made no call for a while.
    fn watch(&self) {
        let mut last = 0;
        loop {
            thread::sleep(self.patience);
            let mut state = self.state.lock();
            let quiet = state.activity == last && !state.busy();
            last = state.activity;
            if !quiet || state.pending.is_empty() {
                continue;
            }
            let none = HashMap::new();
            let anything = Allowed { needed: &none, others: true, everything: true };
            let mut noted = false;
            while state.activity == last && self.start_one(&mut state, anything) {
                if !std::mem::replace(&mut noted, true) {
                    self.note("patience: no call for a while, everything may start".to_owned());
                }
                self.settle(&mut state);
            }
        }
    }
}

/// For each stream, the last operation that has to run before all points are reached, including what those
/// operations wait for.
fn needed(goal: &[Point]) -> HashMap<u64, u64> {
    let mut needed = HashMap::new();
    let mut open: Vec<Point> = goal.to_vec();
    while let Some(point) = open.pop() {
        let until = needed.entry(point.stream.id).or_insert(0);
        if point.number > *until {
            *until = point.number;
            open.extend(point.stream.awaited(point.number));
        }
    }
    needed
}
