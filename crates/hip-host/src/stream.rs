//! Streams: ordered queues of operations, each drained by a dispatcher thread while it is not empty.

use crate::adversary;
use crate::check::{self, Clock};
use crate::device::{self, Device};
use crate::dispatch;
use crate::graph::capture;
use crate::run::Runner;
use crate::work::Work;
use hip_sys::hip::hipError_t;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many streams were made, null streams not counted.
static CREATED: AtomicU64 = AtomicU64::new(0);

/// A stream of a device.
pub(crate) struct Stream {
    pub(crate) device: usize,
    /// Whether it waits for the null stream, and the null stream for it.
    pub(crate) blocking: bool,
    pub(crate) flags: u32,
    /// −1 is the most urgent, 1 the least.
    pub(crate) priority: i32,
    pub(crate) is_null: bool,
    /// No other stream of any device has it. Null streams have the lowest.
    pub(crate) id: u64,
    queue: Mutex<Queue>,
    progressed: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Operation>,
    /// Operations are numbered from 1 in the order of their submission, and end in that order.
    submitted: u64,
    completed: u64,
    /// A dispatcher has the stream, or is about to.
    dispatched: bool,
    /// With an adversary: the last operation that it lets run.
    granted: u64,
}

/// The next operation of a stream that nobody runs yet, for the adversary.
pub(crate) struct Front {
    pub(crate) number: u64,
    pub(crate) after: Vec<Point>,
    pub(crate) is_host: bool,
    pub(crate) name: String,
}

struct Operation {
    after: Vec<Point>,
    work: Work,
}

/// An operation of a stream, by its number.
#[derive(Clone)]
pub(crate) struct Point {
    pub(crate) stream: Arc<Stream>,
    pub(crate) number: u64,
    /// What the checker knows of it.
    pub(crate) stamp: Option<Arc<Clock>>,
}

impl Point {
    pub(crate) fn reached(&self) -> bool {
        let reached = self.ended();
        if reached {
            check::passed(self.stamp.as_ref());
        }
        reached
    }

    /// As `reached`, for the scheduler: nobody learns of it.
    pub(crate) fn ended(&self) -> bool {
        self.stream.queue.lock().completed >= self.number
    }

    /// Waits until the operation has ended. If no dispatcher has taken up the stream yet, the caller, who has nothing
    /// else to do, runs the operations up to this one or to one that is for dispatchers: waking another thread takes longer than most of
    /// them.
    pub(crate) fn wait(&self) {
        match adversary::get() {
            Some(adversary) => adversary.drive(std::slice::from_ref(self)),
            None => dispatch::help(&self.stream, self.number),
        }
        self.wait_idly();
        check::passed(self.stamp.as_ref());
    }

    /// Waits for whoever runs the operation.
    fn wait_idly(&self) {
        let mut queue = self.stream.queue.lock();
        self.stream.progressed.wait_while(&mut queue, |queue| queue.completed < self.number);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        check::stream_dropped(self.id);
    }
}

/// Waits until all the operations have ended.
pub(crate) fn wait_for_all(points: &[Point]) {
    if let Some(adversary) = adversary::get() {
        adversary.drive(points);
    }
    points.iter().for_each(Point::wait);
}

impl Stream {
    /// The null stream of a device.
    pub(crate) fn null(device: usize) -> Self {
        Self::make(device, 0, 0, None)
    }

    /// A stream of its own, known to its device.
    pub(crate) fn create(device: &'static Device, flags: u32, priority: i32) -> Arc<Self> {
        let stream = Arc::new(Self::make(
            device.ordinal,
            flags,
            priority,
            Some(CREATED.fetch_add(1, Ordering::Relaxed)),
        ));
        device.adopt(&stream);
        stream
    }

    fn make(device: usize, flags: u32, priority: i32, created: Option<u64>) -> Self {
        let blocking = flags & hip_sys::hip::hipStreamNonBlocking == 0;
        let (queue, progressed) = (Mutex::default(), Condvar::new());
        let (is_null, id) = (created.is_none(), created.map_or(device as u64, |n| device::COUNT as u64 + n));
        Self { device, blocking, flags, priority, is_null, id, queue, progressed }
    }

    /// What messages call it: streams are counted from 1 in the order of their creation; 0 for a null stream.
    pub(crate) fn number(&self) -> u64 {
        if self.is_null { 0 } else { self.id + 1 - device::COUNT as u64 }
    }

    pub(crate) fn device(&self) -> &'static Device {
        &device::all()[self.device]
    }

    /// Takes an operation of the program's: appends it, or makes it a node of a graph if the stream is captured, and then
    /// there is no point to wait for.
    pub(crate) fn submit(
        self: &Arc<Self>,
        work: Work,
        after: Vec<Point>,
    ) -> Result<Option<Point>, hipError_t> {
        Ok(capture::take(self, work)?.map(|work| self.append(work, after)))
    }

    /// Appends an operation, which runs when those before it have ended, and `after` too. Returns at once.
    ///
    /// The null stream waits for all blocking streams, and they for it. Places are given under the device's lock,
    /// so an operation only ever waits for operations that were submitted before it.
    fn append(self: &Arc<Self>, work: Work, mut after: Vec<Point>) -> Point {
        let device = self.device();
        let order = device.order.lock();
        if self.is_null {
            after.extend(device.unfinished(true));
        } else if self.blocking {
            after.extend(device.null.last_unfinished());
        }
        let stamp = check::submitted(self, &work, &after);
        let adversary = adversary::get();
        let mut queue = self.queue.lock();
        queue.submitted += 1;
        let point = Point { stream: Arc::clone(self), number: queue.submitted, stamp };
        queue.waiting.push_back(Operation { after, work });
        let asleep = adversary.is_none() && !std::mem::replace(&mut queue.dispatched, true);
        drop(queue);
        drop(order);
        if asleep {
            dispatch::start(Arc::clone(self));
        }
        if let Some(adversary) = adversary {
            adversary.submitted(self, point.number);
        }
        point
    }

    /// The last operation, if it has not ended.
    pub(crate) fn last_unfinished(self: &Arc<Self>) -> Option<Point> {
        let queue = self.queue.lock();
        (queue.completed < queue.submitted).then(|| Point {
            stream: Arc::clone(self),
            number: queue.submitted,
            stamp: None,
        })
    }

    /// What a caller who synchronises with this stream waits for. For the null stream this includes the blocking
    /// streams, for which its next operation would wait.
    pub(crate) fn pending(self: &Arc<Self>) -> Vec<Point> {
        let mut pending = if self.is_null { self.device().unfinished(true) } else { Vec::new() };
        pending.extend(self.last_unfinished());
        pending
    }

    /// The next operation that nobody runs yet.
    pub(crate) fn front(&self) -> Option<Front> {
        let queue = self.queue.lock();
        let Operation { after, work } = queue.waiting.front()?;
        let number = queue.submitted + 1 - queue.waiting.len() as u64;
        Some(Front { number, after: after.clone(), is_host: work.calls_host(), name: work.name() })
    }

    /// What the operations up to that number wait for that nobody runs yet.
    pub(crate) fn awaited(&self, until: u64) -> Vec<Point> {
        let queue = self.queue.lock();
        let first = queue.submitted + 1 - queue.waiting.len() as u64;
        let asked = (first..=until).zip(&queue.waiting);
        asked.flat_map(|(_, operation)| operation.after.iter().cloned()).collect()
    }

    /// Lets the operations up to that number run when the stream gets a dispatcher.
    pub(crate) fn grant(&self, until: u64) {
        self.queue.lock().granted = until;
    }

    /// Runs operations until none is left. For a program's thread that waits: until the one of that number has ended, or the next one
    /// is for dispatchers; then one of those goes on. Called by the one thread that has the stream.
    pub(crate) fn drain(self: &Arc<Self>, runner: &mut Runner, waits_for: Option<u64>) {
        let adversary = adversary::get();
        let mut queue = self.queue.lock();
        let until = if adversary.is_some() { queue.granted } else { waits_for.unwrap_or(u64::MAX) };
        let may_run = |next: &Operation| waits_for.is_none() || !next.work.is_for_dispatchers();
        while queue.completed < until && queue.waiting.front().is_some_and(may_run) {
            let Some(operation) = queue.waiting.pop_front() else { break };
            drop(queue);
            for point in &operation.after {
                point.wait_idly();
            }
            operation.work.run(self.device(), runner);
            queue = self.queue.lock();
            queue.completed += 1;
            self.progressed.notify_all();
        }
        queue.dispatched = adversary.is_none() && !queue.waiting.is_empty();
        let unfinished = queue.dispatched;
        drop(queue);
        if let Some(adversary) = adversary {
            adversary.finished(self);
        }
        if unfinished {
            dispatch::start(Arc::clone(self));
        }
    }
}
