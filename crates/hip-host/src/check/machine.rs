//! Orders operations by vector clocks and checks the uses of memory against that order. Pure state: its input
//! is what is submitted and what is waited for, in the order of the calls. It knows no time.

use super::clock::{Clock, Moment};
use super::report::{Operation, Origin, Report};
use super::shadow::{Access, Shadow, Use};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// How many freed ranges are remembered, to detect later uses. Older ones are forgotten.
const FREED_KEPT: usize = 4096;

/// How a stream synchronises with the null stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Blocking,
    NonBlocking,
}

/// A stream, as its operations refer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamName {
    /// Unique over all devices.
    pub(crate) id: u64,
    /// The number in reports; 0 for a null stream.
    pub(crate) number: u64,
    pub(crate) device: usize,
    pub(crate) kind: Kind,
}

/// Bytes that an operation uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) range: Range<usize>,
    pub(crate) access: Access,
}

struct Stream {
    name: StreamName,
    actor: usize,
    /// The clock of its last operation.
    tail: Clock,
    submitted: u64,
    /// The program has released it.
    gone: bool,
}

struct Thread {
    actor: usize,
    clock: Clock,
}

/// All streams, threads and uses.
#[derive(Default)]
pub(crate) struct Machine {
    actors: usize,
    streams: HashMap<u64, Stream>,
    threads: HashMap<u64, Thread>,
    shadow: Shadow,
    freed: VecDeque<Range<usize>>,
}

impl Machine {
    /// Submits an operation of a thread to a stream. It runs after the stream's earlier operations and after
    /// `after`. Returns the operation's clock, and the conflicts.
    pub(crate) fn submit(
        &mut self,
        thread: u64,
        stream: StreamName,
        after: &[Arc<Clock>],
        what: String,
        extents: &[Extent],
    ) -> (Arc<Clock>, Vec<Report>) {
        let mut clock = self.depart(thread);
        for known in after {
            clock.join(known);
        }
        let (device, kind) = (stream.device, stream.kind);
        let awaited = |other: &Stream| {
            other.name.device == device
                && match kind {
                    Kind::Null => other.name.kind == Kind::Blocking,
                    Kind::Blocking => other.name.kind == Kind::Null,
                    Kind::NonBlocking => false,
                }
        };
        self.streams.values().filter(|other| awaited(other)).for_each(|other| clock.join(&other.tail));
        let state = self.stream(stream);
        clock.join(&state.tail);
        state.submitted += 1;
        let at = Moment { actor: state.actor, tick: state.tail.tick(state.actor) + 1 };
        clock.reach(at);
        state.tail = clock.clone();
        let origin = Origin::Stream { stream: stream.number, device, number: state.submitted };
        let reports = self.make(&Use { at, by: Arc::new(Operation { what, origin }) }, extents, &clock);
        (Arc::new(clock), reports)
    }

    /// Notes that a thread itself uses memory or frees it.
    pub(crate) fn touch(&mut self, thread: u64, what: String, extents: &[Extent]) -> Vec<Report> {
        let state = self.thread(thread);
        let (clock, actor) = (state.clock.clone(), state.actor);
        let at = Moment { actor, tick: clock.tick(actor) };
        let origin = Origin::Host { thread };
        self.make(&Use { at, by: Arc::new(Operation { what, origin }) }, extents, &clock)
    }

    /// The clock that a thread has after waiting for a stream. Waiting for the null stream includes the
    /// blocking streams.
    pub(crate) fn of_stream(&mut self, stream: StreamName) -> Clock {
        let mut clock = self.stream(stream).tail.clone();
        if stream.kind == Kind::Null {
            let blocking =
                |other: &&Stream| other.name.device == stream.device && other.name.kind == Kind::Blocking;
            self.streams.values().filter(blocking).for_each(|other| clock.join(&other.tail));
        }
        clock
    }

    /// The clock that a thread has after waiting for a device.
    pub(crate) fn of_device(&self, device: usize) -> Clock {
        let mut clock = Clock::default();
        let ours = self.streams.values().filter(|stream| stream.name.device == device);
        ours.for_each(|stream| clock.join(&stream.tail));
        clock
    }

    /// Notes that a thread has waited for what the clock covers.
    pub(crate) fn learn(&mut self, thread: u64, known: &Clock) {
        self.thread(thread).clock.join(known);
    }

    /// Notes that memory is new and has no history.
    pub(crate) fn allocated(&mut self, range: Range<usize>) {
        self.shadow.forget(range);
    }

    /// Notes that a piece of memory is handed out again. The uses of its old owner must happen before those
    /// of the new one.
    pub(crate) fn reserved(&mut self, range: Range<usize>) {
        self.shadow.revive(range);
    }

    /// Notes that the program has released a stream: nothing is submitted to it any more.
    pub(crate) fn dropped(&mut self, id: u64) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.gone = true;
        }
    }

    /// The number of actors, that is, the length of the clocks.
    #[cfg(test)]
    pub(crate) fn actors(&self) -> usize {
        self.actors
    }

    /// The clock that an operation inherits when the thread submits it now. Advances the thread's own tick,
    /// so that the operation does not cover what the thread does afterwards.
    fn depart(&mut self, thread: u64) -> Clock {
        let state = self.thread(thread);
        let clock = state.clock.clone();
        state.clock.reach(Moment { actor: state.actor, tick: clock.tick(state.actor) + 1 });
        clock
    }

    fn stream(&mut self, name: StreamName) -> &mut Stream {
        let reused = if self.streams.contains_key(&name.id) { None } else { self.take_spent_actor() };
        let actors = &mut self.actors;
        self.streams.entry(name.id).or_insert_with(|| {
            let (actor, tail) = reused.unwrap_or_else(|| {
                *actors += 1;
                (*actors - 1, Clock::default())
            });
            Stream { name, actor, tail, submitted: 0, gone: false }
        })
    }

    /// Removes a released stream whose last operation every thread's clock covers, so that anything later is
    /// ordered after it. Another stream may reuse its actor, which bounds the length of clocks by the number
    /// of streams that exist at one time.
    fn take_spent_actor(&mut self) -> Option<(usize, Clock)> {
        let threads = &self.threads;
        let spent = |stream: &&Stream| {
            let last = Moment { actor: stream.actor, tick: stream.tail.tick(stream.actor) };
            stream.gone && threads.values().all(|thread| thread.clock.covers(last))
        };
        let id = self.streams.values().find(spent)?.name.id;
        self.streams.remove(&id).map(|stream| (stream.actor, stream.tail))
    }

    /// The state of a thread. A new thread was started by some other thread. The checker does not see by
    /// which, so the new thread gets the joined clocks of all threads.
    fn thread(&mut self, thread: u64) -> &mut Thread {
        let Self { threads, actors, .. } = self;
        let mut known = Clock::default();
        if !threads.contains_key(&thread) {
            for other in threads.values_mut() {
                known.join(&other.clock);
                // What the other thread does from now on is not covered by the new thread's clock.
                let tick = other.clock.tick(other.actor) + 1;
                other.clock.reach(Moment { actor: other.actor, tick });
            }
        }
        threads.entry(thread).or_insert_with(|| {
            let actor = *actors;
            *actors += 1;
            known.reach(Moment { actor, tick: 1 });
            Thread { actor, clock: known }
        })
    }

    /// Records the uses of one operation. Returns one report for each conflicting earlier operation and rule.
    fn make(&mut self, new: &Use, extents: &[Extent], clock: &Clock) -> Vec<Report> {
        let mut reports: Vec<(*const Operation, Report)> = Vec::new();
        for Extent { range, access } in extents {
            for (conflict, old, piece) in self.shadow.use_range(range.clone(), *access, new, clock) {
                let first = Arc::as_ptr(&old.by);
                let known = reports.iter_mut().find(|(by, known)| *by == first && known.conflict == conflict);
                match known {
                    Some((_, known)) => add(&mut known.extents, piece),
                    None => {
                        let (first_op, second) = ((*old.by).clone(), (*new.by).clone());
                        let (extents, allocation) = (vec![piece], None);
                        let report = Report { conflict, first: first_op, second, extents, allocation };
                        reports.push((first, report));
                    }
                }
            }
            if *access == Access::Free && !range.is_empty() {
                self.remember_freed(range.clone());
            }
        }
        reports.into_iter().map(|(_, report)| report).collect()
    }

    fn remember_freed(&mut self, range: Range<usize>) {
        self.freed.push_back(range);
        if self.freed.len() > FREED_KEPT {
            let oldest = self.freed.pop_front();
            oldest.into_iter().for_each(|range| self.shadow.forget_freed(range));
        }
    }
}

/// Adds a piece. The list stays sorted, and adjacent pieces are merged.
fn add(extents: &mut Vec<Range<usize>>, piece: Range<usize>) {
    extents.push(piece);
    extents.sort_by_key(|extent| extent.start);
    extents.dedup_by(|next, before| {
        let touches = next.start <= before.end;
        if touches {
            before.end = before.end.max(next.end);
        }
        touches
    });
}
