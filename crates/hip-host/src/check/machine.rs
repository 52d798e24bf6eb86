//! The order of operations as vector clocks, and the uses of memory held against it. Pure state: it is told what is
//! submitted and what is waited for, in the order of the calls, and knows nothing of time.

use super::clock::{Clock, Moment};
use super::report::{Operation, Place, Report};
use super::shadow::{Access, Shadow, Use};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// Freed ranges that are remembered, for uses that come later. Older ones are forgotten.
const FREED_KEPT: usize = 4096;

/// How a stream takes part in the null stream's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Blocking,
    NonBlocking,
}

/// A stream, as its operations name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamName {
    /// No other stream of any device has it.
    pub(crate) id: u64,
    /// What reports call it; 0 for a null stream.
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
    /// What is known when its last operation has ended.
    tail: Clock,
    submitted: u64,
    /// The program has let go of it.
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
    /// An operation is submitted by a thread to a stream, where it runs behind the stream's earlier operations and behind
    /// `after`. Gives what is known when it has ended, and what is wrong.
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
        let place = Place::Stream { stream: stream.number, device, number: state.submitted };
        let reports = self.make(&Use { at, by: Arc::new(Operation { what, place }) }, extents, &clock);
        (Arc::new(clock), reports)
    }

    /// A thread uses memory itself, or gives it back.
    pub(crate) fn touch(&mut self, thread: u64, what: String, extents: &[Extent]) -> Vec<Report> {
        let state = self.thread(thread);
        let (clock, actor) = (state.clock.clone(), state.actor);
        let at = Moment { actor, tick: clock.tick(actor) };
        let place = Place::Host { thread };
        self.make(&Use { at, by: Arc::new(Operation { what, place }) }, extents, &clock)
    }

    /// What a thread knows that has waited for a stream: for the null stream, the blocking ones are part of it.
    pub(crate) fn of_stream(&mut self, stream: StreamName) -> Clock {
        let mut clock = self.stream(stream).tail.clone();
        if stream.kind == Kind::Null {
            let blocking =
                |other: &&Stream| other.name.device == stream.device && other.name.kind == Kind::Blocking;
            self.streams.values().filter(blocking).for_each(|other| clock.join(&other.tail));
        }
        clock
    }

    /// What a thread knows that has waited for a device.
    pub(crate) fn of_device(&self, device: usize) -> Clock {
        let mut clock = Clock::default();
        let ours = self.streams.values().filter(|stream| stream.name.device == device);
        ours.for_each(|stream| clock.join(&stream.tail));
        clock
    }

    /// A thread has waited for what the clock covers.
    pub(crate) fn learn(&mut self, thread: u64, known: &Clock) {
        self.thread(thread).clock.join(known);
    }

    /// Memory is new: nobody has used it.
    pub(crate) fn allocated(&mut self, range: Range<usize>) {
        self.shadow.forget(range);
    }

    /// A piece of memory is handed out again. Its new owner has to come after the old one's uses.
    pub(crate) fn reserved(&mut self, range: Range<usize>) {
        self.shadow.revive(range);
    }

    /// The program has let go of a stream: nothing is submitted to it any more.
    pub(crate) fn dropped(&mut self, id: u64) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.gone = true;
        }
    }

    /// How many streams and threads clocks tell apart.
    #[cfg(test)]
    pub(crate) fn actors(&self) -> usize {
        self.actors
    }

    /// What an operation of the thread knows that is submitted now. What the thread does from now on is later.
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

    /// Takes a stream out that is gone and whose end every thread knows of, so that whatever comes later is behind it
    /// anyway. Another stream may go on as its actor: clocks stay as short as there are streams at one time.
    fn take_spent_actor(&mut self) -> Option<(usize, Clock)> {
        let threads = &self.threads;
        let spent = |stream: &&Stream| {
            let last = Moment { actor: stream.actor, tick: stream.tail.tick(stream.actor) };
            stream.gone && threads.values().all(|thread| thread.clock.covers(last))
        };
        let id = self.streams.values().find(spent)?.name.id;
        self.streams.remove(&id).map(|stream| (stream.actor, stream.tail))
    }

    /// A thread that is new was started by one that knew something: which one is not seen, so it knows what any knows.
    fn thread(&mut self, thread: u64) -> &mut Thread {
        let Self { threads, actors, .. } = self;
        let mut known = Clock::default();
        if !threads.contains_key(&thread) {
            for other in threads.values_mut() {
                known.join(&other.clock);
                // What it does from now on is later, and not known to the new thread.
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

    /// Makes the uses of one operation. One report for each earlier operation and rule.
    fn make(&mut self, new: &Use, extents: &[Extent], clock: &Clock) -> Vec<Report> {
        let mut reports: Vec<(*const Operation, Report)> = Vec::new();
        for Extent { range, access } in extents {
            for (conflict, old, piece) in self.shadow.use_range(range.clone(), *access, new, clock) {
                let first = Arc::as_ptr(&old.by);
                let told = reports.iter_mut().find(|(by, told)| *by == first && told.conflict == conflict);
                match told {
                    Some((_, told)) => add(&mut told.extents, piece),
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

/// Adds a piece, in increasing order and joined with its neighbours.
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
