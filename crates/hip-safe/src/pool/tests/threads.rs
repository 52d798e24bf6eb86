//! A pool behind a lock, with every order of the threads that use it.

use super::*;
use crate::sync::{Arc as LoomArc, Mutex};
use loom::thread;

struct Shared {
    pool: Mutex<(Pool<Points>, Memory)>,
    /// Blocks on their way to another thread.
    sent: Mutex<Vec<Block<Points>>>,
    /// Ranges in use.
    live: Mutex<Vec<(usize, usize)>>,
    streams: [Arc<Stream>; 2],
}

impl Shared {
    fn new(limit: usize) -> LoomArc<Self> {
        LoomArc::new(Self {
            pool: Mutex::new((Pool::new(PoolConfig::default()), Memory::of(limit))),
            sent: Mutex::default(),
            live: Mutex::default(),
            streams: [0, 1].map(Stream::new),
        })
    }

    fn allocate(&self, bytes: usize, stream: usize) -> Block<Points> {
        let block = {
            let (pool, memory) = &mut *self.pool.lock();
            pool.allocate(memory, bytes, stream as u64).unwrap()
        };
        let mut live = self.live.lock();
        let (start, end) = (block.address, block.address + block.bytes);
        assert!(live.iter().all(|&(from, to)| end <= from || to <= start), "two have the same memory");
        live.push((start, end));
        block
    }

    fn free(&self, block: Block<Points>, stream: usize) {
        self.live.lock().retain(|&(start, _)| start != block.address);
        let order = block.order.and(self.streams[stream].submit());
        assert!(self.pool.lock().0.free(block.id, stream as u64, order).is_none());
    }

    fn trim(&self) {
        let (pool, memory) = &mut *self.pool.lock();
        pool.trim(memory, 0).unwrap();
    }

    fn spawn(this: &LoomArc<Self>, run: impl FnOnce(&Self) + 'static) -> thread::JoinHandle<()> {
        let shared = LoomArc::clone(this);
        thread::spawn(move || run(&shared))
    }

    /// All is freed and was counted.
    fn check_at_rest(&self, allocations: u64) {
        for block in std::mem::take(&mut *self.sent.lock()) {
            self.free(block, 1);
        }
        self.trim();
        let (pool, memory) = &*self.pool.lock();
        pool.check();
        let seen = pool.statistics();
        assert_eq!((seen.allocations, seen.frees), (allocations, allocations));
        assert_eq!((seen.allocated, seen.reserved, memory.in_use()), (0, 0, 0));
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
fn loom_trim_beside_two_threads() {
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
