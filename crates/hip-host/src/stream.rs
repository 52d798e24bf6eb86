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

/// Number of streams created so far, not counting null streams.
static CREATED: AtomicU64 = AtomicU64::new(0);

/// A stream of a device.
pub(crate) struct Stream {
    pub(crate) device: usize,
    /// Whether it synchronises with the null stream.
    pub(crate) blocking: bool,
    pub(crate) flags: u32,
    /// −1 is the most urgent, 1 the least.
    pub(crate) priority: i32,
    pub(crate) is_null: bool,
    /// Unique over all devices. Null streams have the lowest ids.
    pub(crate) id: u64,
    queue: Mutex<Queue>,
    progressed: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Operation>,
    /// The submission number of the last operation submitted. Numbers start at 1, and operations end in this
    /// order.
    submitted: u64,
    completed: u64,
    /// A dispatcher has the stream, or was asked to take it.
    dispatched: bool,
    /// With an adversary: the last operation that it allows to run.
    granted: u64,
}

/// The next operation of a stream that has not started, for the adversary.
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

/// An operation of a stream, by its submission number.
#[derive(Clone)]
pub(crate) struct Point {
    pub(crate) stream: Arc<Stream>,
    pub(crate) number: u64,
    /// The operation's vector clock, if the checker runs.
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

    /// As `reached`, for the scheduler: the checker does not learn of it.
    pub(crate) fn ended(&self) -> bool {
        self.stream.queue.lock().completed >= self.number
    }

    /// Waits until the operation has ended. If no dispatcher has taken the stream yet, the caller runs the
    /// operations itself, up to this one or up to one that is for dispatchers: it has nothing else to do, and
    /// most operations take less time than waking another thread.
    pub(crate) fn wait(&self) {
        match adversary::get() {
            Some(adversary) => adversary.drive(std::slice::from_ref(self)),
            None => dispatch::help(&self.stream, self.number),
        }
        self.wait_idly();
        check::passed(self.stamp.as_ref());
    }

    /// Waits while another thread runs the operation.
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

    /// Creates a stream and adds it to its device.
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

    /// The number in messages: streams are counted from 1 in order of creation; a null stream is 0.
    pub(crate) fn number(&self) -> u64 {
        if self.is_null { 0 } else { self.id + 1 - device::COUNT as u64 }
    }

    pub(crate) fn device(&self) -> &'static Device {
        &device::all()[self.device]
    }

    /// Submits an operation: appends it, or makes it a graph node if the stream is captured. In that case
    /// there is no point to wait for.
    pub(crate) fn submit(
        self: &Arc<Self>,
        work: Work,
        after: Vec<Point>,
    ) -> Result<Option<Point>, hipError_t> {
        Ok(capture::take(self, work)?.map(|work| self.append(work, after)))
    }

    /// Appends an operation, which runs after the stream's earlier operations and after `after`. Returns at
    /// once.
    ///
    /// The null stream waits for all blocking streams, and they wait for it. Submission numbers are assigned
    /// under the device's lock, so an operation waits only for operations submitted before it and no cycle
    /// can form.
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

    /// The operations that synchronising with this stream waits for. For the null stream this includes the
    /// blocking streams, which its next operation would wait for.
    pub(crate) fn pending(self: &Arc<Self>) -> Vec<Point> {
        let mut pending = if self.is_null { self.device().unfinished(true) } else { Vec::new() };
        pending.extend(self.last_unfinished());
        pending
    }

    /// The next operation that has not started.
    pub(crate) fn front(&self) -> Option<Front> {
        let queue = self.queue.lock();
        let Operation { after, work } = queue.waiting.front()?;
        let number = queue.submitted + 1 - queue.waiting.len() as u64;
        Some(Front { number, after: after.clone(), is_host: work.calls_host(), name: work.name() })
    }

    /// What the operations up to that number, of those that have not started, wait for.
    pub(crate) fn awaited(&self, until: u64) -> Vec<Point> {
        let queue = self.queue.lock();
        let first = queue.submitted + 1 - queue.waiting.len() as u64;
        let asked = (first..=until).zip(&queue.waiting);
        asked.flat_map(|(_, operation)| operation.after.iter().cloned()).collect()
    }

    /// Allows the operations up to that number to run.
    pub(crate) fn grant(&self, until: u64) {
        self.queue.lock().granted = until;
    }

    /// Runs operations until none is left. A program's thread that waits passes the number it waits for: it
    /// stops when that operation has ended or the next one is for dispatchers, and then a dispatcher
    /// continues. Only the one thread that has the stream may call this.
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
