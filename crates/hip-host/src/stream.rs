//! Streams: ordered queues of operations, each drained by a dispatcher thread while it is not empty.

use crate::device::{self, Device};
use crate::dispatch;
use crate::run::Runner;
use crate::work::Work;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;

/// A stream of a device.
pub(crate) struct Stream {
    pub(crate) device: usize,
    /// Whether it waits for the null stream, and the null stream for it.
    pub(crate) blocking: bool,
    pub(crate) flags: u32,
    /// −1 is the most urgent, 1 the least.
    pub(crate) priority: i32,
    is_null: bool,
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
}

struct Operation {
    after: Vec<Point>,
    work: Work,
}

/// An operation of a stream, by its number.
#[derive(Clone)]
pub(crate) struct Point {
    stream: Arc<Stream>,
    number: u64,
}

impl Point {
    pub(crate) fn reached(&self) -> bool {
        self.stream.queue.lock().completed >= self.number
    }

    /// Waits until the operation has ended. If no dispatcher has taken up the stream yet, the caller, who has nothing
    /// else to do, runs the operations up to this one: waking another thread takes longer than most of them.
    pub(crate) fn wait(&self) {
        dispatch::help(&self.stream, self.number);
        self.wait_idly();
    }

    /// Waits for whoever runs the operation.
    fn wait_idly(&self) {
        let mut queue = self.stream.queue.lock();
        self.stream.progressed.wait_while(&mut queue, |queue| queue.completed < self.number);
    }
}

impl Stream {
    /// The null stream of a device.
    pub(crate) fn null(device: usize) -> Self {
        Self::make(device, 0, 0, true)
    }

    /// A stream of its own, known to its device.
    pub(crate) fn create(device: &'static Device, flags: u32, priority: i32) -> Arc<Self> {
        let stream = Arc::new(Self::make(device.ordinal, flags, priority, false));
        device.adopt(&stream);
        stream
    }

    fn make(device: usize, flags: u32, priority: i32, is_null: bool) -> Self {
        let blocking = flags & hip_sys::hip::hipStreamNonBlocking == 0;
        let (queue, progressed) = (Mutex::default(), Condvar::new());
        Self { device, blocking, flags, priority, is_null, queue, progressed }
    }

    pub(crate) fn device(&self) -> &'static Device {
        &device::all()[self.device]
    }

    /// Appends an operation, which runs when those before it have ended, and `after` too. Returns at once.
    ///
    /// The null stream waits for all blocking streams, and they for it. Places are given under the device's lock,
    /// so an operation only ever waits for operations that were submitted before it.
    pub(crate) fn submit(self: &Arc<Self>, work: Work, mut after: Vec<Point>) -> Point {
        let device = self.device();
        let order = device.order.lock();
        if self.is_null {
            after.extend(device.unfinished(true));
        } else if self.blocking {
            after.extend(device.null.last_unfinished());
        }
        let mut queue = self.queue.lock();
        queue.submitted += 1;
        let point = Point { stream: Arc::clone(self), number: queue.submitted };
        queue.waiting.push_back(Operation { after, work });
        let asleep = !std::mem::replace(&mut queue.dispatched, true);
        drop(queue);
        drop(order);
        if asleep {
            dispatch::start(Arc::clone(self));
        }
        point
    }

    /// The last operation, if it has not ended.
    pub(crate) fn last_unfinished(self: &Arc<Self>) -> Option<Point> {
        let queue = self.queue.lock();
        (queue.completed < queue.submitted)
            .then(|| Point { stream: Arc::clone(self), number: queue.submitted })
    }

    /// What a caller who synchronises with this stream waits for. For the null stream this includes the blocking
    /// streams, for which its next operation would wait.
    pub(crate) fn pending(self: &Arc<Self>) -> Vec<Point> {
        let mut pending = if self.is_null { self.device().unfinished(true) } else { Vec::new() };
        pending.extend(self.last_unfinished());
        pending
    }

    /// Runs operations until none is left, or the one of that number has ended; then another dispatcher goes on. Called by
    /// the one thread that has the stream.
    pub(crate) fn drain(self: &Arc<Self>, runner: &mut Runner, until: u64) {
        let mut queue = self.queue.lock();
        while queue.completed < until {
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
        queue.dispatched = !queue.waiting.is_empty();
        let unfinished = queue.dispatched;
        drop(queue);
        if unfinished {
            dispatch::start(Arc::clone(self));
        }
    }
}
