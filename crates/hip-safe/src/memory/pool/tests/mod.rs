//! The pool against streams and memory that are numbers.

mod invariants;
mod ladder;
#[cfg(not(loom))]
mod property;
mod reuse;
#[cfg(not(loom))]
mod shared;
#[cfg(not(loom))]
mod steady;
#[cfg(loom)]
mod threads;

use super::ladder::{give_back, release, reserve};
use super::{Block, BlockId, Order, Pool, PoolConfig, PoolError, Source};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A stream: how much it was given, and how much of that it has done.
#[derive(Debug, Default)]
pub(super) struct Stream {
    number: u64,
    submitted: AtomicU64,
    completed: AtomicU64,
}

impl Stream {
    pub(super) fn new(number: u64) -> Arc<Self> {
        Arc::new(Self { number, ..Self::default() })
    }

    /// Gives it work.
    pub(super) fn submit(self: &Arc<Self>) -> Points {
        let at = self.submitted.fetch_add(1, Relaxed) + 1;
        Points(vec![Point { stream: Arc::clone(self), at }])
    }

    /// Does the first `upto` pieces of its work.
    fn complete(&self, upto: u64) {
        self.completed.fetch_max(upto.min(self.submitted.load(Relaxed)), Relaxed);
    }

    fn finish(&self) {
        self.complete(u64::MAX);
    }
}

/// A piece of a stream's work.
#[derive(Debug, Clone)]
struct Point {
    stream: Arc<Stream>,
    at: u64,
}

impl Point {
    fn is_complete(&self) -> bool {
        self.stream.completed.load(Relaxed) >= self.at
    }
}

/// The order of the tests. Its points are complete at once when their stream has done them.
#[derive(Debug, Clone, Default)]
pub(super) struct Points(Vec<Point>);

impl Points {
    fn covers(&self, point: &Point) -> bool {
        let same = |own: &&Point| own.stream.number == point.stream.number;
        point.is_complete() || self.0.iter().find(same).is_some_and(|own| own.at >= point.at)
    }

    fn and(mut self, other: Self) -> Self {
        self.merge(other);
        self
    }
}

impl Order for Points {
    fn merge(&mut self, other: Self) {
        for point in other.0 {
            match self.0.iter_mut().find(|own| own.stream.number == point.stream.number) {
                Some(own) => own.at = own.at.max(point.at),
                None => self.0.push(point),
            }
        }
    }

    fn settle(&mut self) -> bool {
        self.0.retain(|point| !point.is_complete());
        self.0.is_empty()
    }

    fn only_on(&self, stream: u64) -> bool {
        self.0.iter().all(|point| point.stream.number == stream)
    }
}

/// What a source was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Allocate(usize),
    Release(usize),
}

/// A source with a limit, which can be told to fail.
#[derive(Debug)]
pub(super) struct Memory {
    next: usize,
    limit: usize,
    /// Bytes by address.
    ranges: BTreeMap<usize, usize>,
    calls: Vec<Call>,
    /// What was released, with what had to be waited for.
    released: Vec<(usize, usize, Points)>,
    broken: bool,
}

impl Memory {
    pub(super) fn of(limit: usize) -> Self {
        Self {
            next: 1 << 20,
            limit,
            ranges: BTreeMap::new(),
            calls: Vec::new(),
            released: Vec::new(),
            broken: false,
        }
    }

    fn in_use(&self) -> usize {
        self.ranges.values().sum()
    }

    fn calls(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.calls)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken;

impl Source<Points> for Memory {
    type Error = Broken;

    fn allocate(&mut self, bytes: usize) -> Result<Option<usize>, Broken> {
        self.calls.push(Call::Allocate(bytes));
        if self.broken {
            return Err(Broken);
        }
        if bytes > self.limit.saturating_sub(self.in_use()) {
            return Ok(None);
        }
        let address = self.next;
        // Segments do not touch, so that none is taken for another one's neighbour.
        self.next += bytes + 512;
        self.ranges.insert(address, bytes);
        Ok(Some(address))
    }

    fn release(&mut self, address: usize, bytes: usize, order: Points) -> Result<(), Broken> {
        self.calls.push(Call::Release(bytes));
        assert_eq!(self.ranges.get(&address), Some(&bytes), "what was allocated is released");
        self.released.push((address, bytes, order.clone()));
        if self.broken {
            return Err(Broken);
        }
        order.0.iter().for_each(|point| point.stream.complete(point.at));
        self.ranges.remove(&address);
        Ok(())
    }
}

/// What threads do through a shared pool, by one that has it alone.
impl Pool<Points> {
    fn trim(&mut self, memory: &mut Memory, keep: usize) -> Result<usize, Broken> {
        release(&mut &mut *self, memory, keep)
    }

    fn reserve(&mut self, memory: &mut Memory, bytes: usize) -> Result<(), PoolError<Broken>> {
        reserve(&mut &mut *self, memory, bytes)
    }
}

pub(super) const KIB: usize = 1 << 10;
pub(super) const MIB: usize = 1 << 20;

type Answer = Result<Block<Points>, PoolError<Broken>>;

/// The figures of an out-of-memory error: what was asked for and the largest free block.
fn refusal(answer: Answer) -> (usize, usize) {
    match answer {
        Err(PoolError::OutOfMemory { requested, largest_free, .. }) => (requested, largest_free),
        other => panic!("{other:?}"),
    }
}
