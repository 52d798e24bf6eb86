//! A shared pool, with every order of the threads that use it.

use super::*;
use crate::memory::pool::SharedPool;
use crate::sync::{Arc as LoomArc, Condvar, Mutex};
use loom::thread;

/// The memory that all threads' sources have.
struct Driver<'a> {
    shared: &'a Shared,
}

struct Shared {
    pool: SharedPool<Points>,
    memory: Mutex<Memory>,
    /// Blocks on their way to another thread.
    sent: Mutex<Vec<Block<Points>>>,
    /// Ranges in use.
    live: Mutex<Vec<(usize, usize)>>,
    streams: [Arc<Stream>; 2],
    /// Whether a function that a stream calls has still to return: whoever gives memory back waits for it.
    function: Mutex<bool>,
    returned: Condvar,
}

impl Source<Points> for Driver<'_> {
    type Error = Broken;

    fn allocate(&mut self, bytes: usize) -> Result<Option<usize>, Broken> {
        self.shared.memory.lock().allocate(bytes)
    }

    fn release(&mut self, address: usize, bytes: usize, order: Points) -> Result<(), Broken> {
        let mut running = self.shared.function.lock();
        while *running {
            running = self.shared.returned.wait(running);
        }
        drop(running);
        self.shared.memory.lock().release(address, bytes, order)
    }
}

impl Shared {
    fn new(limit: usize) -> LoomArc<Self> {
        LoomArc::new(Self {
            pool: SharedPool::new(PoolConfig::default()),
            memory: Mutex::new(Memory::of(limit)),
            sent: Mutex::default(),
            live: Mutex::default(),
            streams: [0, 1].map(Stream::new),
            function: Mutex::new(false),
            returned: Condvar::default(),
        })
    }

    fn allocate(&self, bytes: usize, stream: usize) -> Block<Points> {
        let block = self.pool.allocate(&mut Driver { shared: self }, bytes, stream as u64).unwrap();
        let mut live = self.live.lock();
        let (start, end) = (block.address, block.address + block.bytes);
        assert!(live.iter().all(|&(from, to)| end <= from || to <= start), "two have the same memory");
        live.push((start, end));
        block
    }

    fn free(&self, block: Block<Points>, stream: usize) {
        self.live.lock().retain(|&(start, _)| start != block.address);
        let order = block.order.and(self.streams[stream].submit());
        assert!(self.pool.free(block.id, stream as u64, order).is_none());
    }

    fn trim(&self) {
        self.pool.trim(&mut Driver { shared: self }, 0).unwrap();
    }

    /// A function that a stream calls: it frees a block.
    fn run_function(&self, block: Block<Points>) {
        self.free(block, 0);
        *self.function.lock() = false;
        self.returned.notify_all();
    }

    fn spawn(this: &LoomArc<Self>, run: impl FnOnce(&Self) + 'static) -> thread::JoinHandle<()> {
        let shared = LoomArc::clone(this);
        thread::spawn(move || run(&shared))
    }

    /// All is freed and was counted.
    fn check_at_rest(&self, allocations: u64) {
        let sent = std::mem::take(&mut *self.sent.lock());
        for block in sent {
            self.free(block, 1);
        }
        self.trim();
        self.pool.with(|pool| {
            pool.check();
            assert!(!pool.is_busy());
        });
        let seen = self.pool.statistics();
        assert_eq!((seen.allocations, seen.frees), (allocations, allocations));
        assert_eq!((seen.allocated, seen.reserved, seen.lost), (0, 0, 0));
        assert_eq!(self.memory.lock().in_use(), 0);
    }
}

fn model(run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(run);
}

#[test]
fn loom_one_thread_allocates_and_another_frees() {
    model(|| {
        let shared = Shared::new(1 << 40);
        let other = Shared::spawn(&shared, |shared| {
            let received = shared.sent.lock().pop();
            if let Some(block) = received {
                shared.free(block, 1);
            }
            let own = shared.allocate(MIB, 1);
            shared.free(own, 1);
        });
        for _ in 0..2 {
            let block = shared.allocate(MIB, 0);
            shared.sent.lock().push(block);
        }
        other.join().unwrap();
        shared.check_at_rest(3);
    });
}

#[test]
fn loom_trim_during_calls_of_two_threads() {
    model(|| {
        // There is room for two segments only: the third one climbs the ladder.
        let shared = Shared::new(40 * MIB);
        let threads = [
            Shared::spawn(&shared, |shared| {
                let block = shared.allocate(20 * MIB, 0);
                shared.free(block, 0);
            }),
            Shared::spawn(&shared, Shared::trim),
        ];
        let block = shared.allocate(15 * MIB, 1);
        shared.free(block, 1);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        shared.check_at_rest(2);
    });
}

/// The wait of a thread that gives memory back is for a function that frees a block of the same pool.
#[test]
fn loom_trim_waits_for_a_function_that_frees() {
    model(|| {
        let shared = Shared::new(1 << 40);
        let [free, used] = [20 * MIB, MIB].map(|bytes| shared.allocate(bytes, 0));
        shared.free(free, 0);
        *shared.function.lock() = true;
        let function = Shared::spawn(&shared, move |shared| shared.run_function(used));
        shared.trim();
        function.join().unwrap();
        shared.check_at_rest(2);
    });
}

/// The same for the ladder.
#[test]
fn loom_the_ladder_waits_for_a_function_that_frees() {
    model(|| {
        let shared = Shared::new(22 * MIB);
        let [free, used] = [20 * MIB, MIB].map(|bytes| shared.allocate(bytes, 0));
        shared.free(free, 0);
        *shared.function.lock() = true;
        let function = Shared::spawn(&shared, move |shared| shared.run_function(used));
        // 20 are not enough, and there are only 2 more.
        let block = shared.allocate(20 * MIB + 512, 1);
        shared.free(block, 1);
        function.join().unwrap();
        shared.check_at_rest(3);
    });
}

/// Memory between the pool and its source is not missing.
#[test]
fn loom_memory_being_returned_is_waited_for() {
    model(|| {
        let shared = Shared::new(20 * MIB);
        let block = shared.allocate(20 * MIB, 0);
        shared.free(block, 0);
        let trim = Shared::spawn(&shared, Shared::trim);
        let block = shared.allocate(15 * MIB, 1);
        shared.free(block, 1);
        trim.join().unwrap();
        shared.check_at_rest(2);
    });
}

/// Two threads need at once what one segment has room for: the second one does not ask for another segment.
#[test]
fn loom_one_thread_asks_for_both() {
    model(|| {
        let shared = Shared::new(40 * MIB);
        let other = Shared::spawn(&shared, |shared| {
            let block = shared.allocate(2 * MIB, 1);
            shared.sent.lock().push(block);
        });
        let block = shared.allocate(2 * MIB, 0);
        shared.sent.lock().push(block);
        other.join().unwrap();
        let seen = shared.pool.statistics();
        assert_eq!((seen.misses, seen.hits, seen.retries, seen.segments), (1, 1, 0, 1));
        shared.check_at_rest(2);
    });
}

/// The same where there is room for one segment only.
#[test]
fn loom_a_request_of_another_thread_is_waited_for() {
    model(|| {
        let shared = Shared::new(20 * MIB);
        let other = Shared::spawn(&shared, |shared| {
            let block = shared.allocate(8 * MIB, 1);
            shared.free(block, 1);
        });
        let block = shared.allocate(11 * MIB, 0);
        shared.free(block, 0);
        other.join().unwrap();
        shared.check_at_rest(2);
    });
}

/// A stream ends while another thread frees what was bound to it.
#[test]
fn loom_a_stream_ends_during_calls_of_others() {
    model(|| {
        let shared = Shared::new(1 << 40);
        let block = shared.allocate(MIB, 0);
        shared.free(block, 0);
        let ends = Shared::spawn(&shared, |shared| {
            shared.streams[0].finish();
            shared.pool.forget_stream(0);
        });
        let block = shared.allocate(MIB, 1);
        shared.free(block, 1);
        ends.join().unwrap();
        let (seen, addresses) = (shared.pool.statistics(), shared.memory.lock().ranges.len());
        assert_eq!((seen.segments, addresses), (1, 1));
        shared.check_at_rest(2);
    });
}
