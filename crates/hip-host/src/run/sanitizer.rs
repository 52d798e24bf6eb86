//! Annotations for a sanitizer, if the process has one: which stack runs, where a block's dynamic shared
//! memory ends, and which threads of a block synchronise.
//!
//! Kernels compiled with `-fsanitize=address` or `-fsanitize=thread` link its run-time library (`build.rs`),
//! and its functions are looked up here by name. Without it every function here is one test of a constant.
//!
//! With AddressSanitizer one launch runs at a time, on one thread, because `__shared__` variables then exist
//! only once. With ThreadSanitizer each thread of a block is a fiber of its own. It is ordered after its
//! launch and after the blocks that the same OS thread ran before, and with other threads only by barriers
//! and warp operations.

mod log;
mod runtime;

use super::MAX_SHARED;
use super::cooperative::GridBarrier;
use super::launch::Launch;
use crate::abi;
use parking_lot::{Mutex, MutexGuard};
use runtime::{Address, Runtime, Thread};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// Whether AddressSanitizer watches the kernels.
pub(crate) fn watches_addresses() -> bool {
    matches!(runtime::get(), Some(Runtime::Address(_)))
}

/// Whether ThreadSanitizer watches the kernels.
pub(crate) fn watches_threads() -> bool {
    matches!(runtime::get(), Some(Runtime::Thread(_)))
}

fn address() -> Option<&'static Address> {
    runtime::get().and_then(Runtime::address)
}

fn thread() -> Option<&'static Thread> {
    runtime::get().and_then(Runtime::thread)
}

/// Held while a launch runs if `__shared__` variables exist only once in the process.
pub(crate) struct Turn(#[expect(dead_code, reason = "held")] Option<MutexGuard<'static, ()>>);

/// Orders launches for ThreadSanitizer. Only the address is used.
static LAUNCHES: u64 = 0;

/// Notes that a launch begins, ordered after all launches that have ended.
pub(crate) fn begin_launch(launch: &Launch) -> Turn {
    static ALONE: Mutex<()> = Mutex::new(());
    if runtime::get().is_none() {
        return Turn(None);
    }
    log::note(&launch.kernel.name, launch.wave);
    if let Some(thread) = thread() {
        thread.acquire(&raw const LAUNCHES);
        thread.release(launch);
    }
    Turn(watches_addresses().then(|| ALONE.lock()))
}

/// Notes that a launch has ended on all threads.
pub(crate) fn end_launch(launch: &Launch) {
    if let Some(thread) = thread() {
        thread.acquire(launch.sanitizer_end());
        thread.release(&raw const LAUNCHES);
    }
}

/// The state of one runner's fibers.
pub(crate) struct Fibers {
    address: Option<&'static Address>,
    thread: Option<&'static Thread>,
    fibers: Vec<Fiber>,
    running: u32,
    /// The OS thread's own stack and context.
    base: Fiber,
    /// For each thread of the block, its fiber.
    of_thread: Vec<u32>,
    /// For each warp, the lanes that have not gone on from its last warp operation.
    lagging: Vec<u64>,
    /// Only their addresses are used: where a block's threads begin and end, and two barriers.
    begin: Box<u64>,
    end: Box<u64>,
    barriers: Box<[u64; 2]>,
    meeting: Box<u64>,
}

struct Fiber {
    bottom: *const c_void,
    size: usize,
    /// AddressSanitizer's fake stack of the fiber, if it has one.
    shadow: *mut c_void,
    /// ThreadSanitizer's context of the fiber.
    context: *mut c_void,
    /// Whether it has passed an odd number of the block's barriers.
    odd: bool,
}

impl Fiber {
    fn new(bottom: *const c_void, size: usize, context: *mut c_void) -> Self {
        Self { bottom, size, shadow: null_mut(), context, odd: false }
    }
}

impl Fibers {
    pub(crate) fn new() -> Self {
        Self {
            address: address(),
            thread: thread(),
            fibers: Vec::new(),
            running: 0,
            base: Fiber::new(null(), 0, null_mut()),
            of_thread: Vec::new(),
            lagging: Vec::new(),
            begin: Box::new(0),
            end: Box::new(0),
            barriers: Box::new([0; 2]),
            meeting: Box::new(0),
        }
    }

    /// Notes that the runner begins with a launch whose dynamic shared memory is at `shared`. The memory
    /// beyond it is inaccessible.
    pub(crate) fn begin_work(&mut self, launch: &Launch, shared: *mut c_void) {
        if let Some(address) = self.address {
            address.allow(shared, launch.shared_bytes as usize);
            let left = (MAX_SHARED - launch.shared_bytes) as usize;
            address.forbid(shared.wrapping_byte_add(launch.shared_bytes as usize), left);
        }
        if let Some(thread) = self.thread {
            self.base.context = thread.current();
            thread.acquire(launch);
        }
    }

    /// Notes that the runner has finished its part of the launch.
    pub(crate) fn end_work(&mut self, launch: &Launch) {
        if let Some(thread) = self.thread {
            thread.acquire(&raw const *self.end);
            thread.release(launch.sanitizer_end());
        }
    }

    /// Notes that a block begins, ordered after all blocks that this runner has run.
    pub(crate) fn begin_block(&mut self) {
        if let Some(thread) = self.thread {
            thread.acquire(&raw const *self.end);
            thread.release(&raw const *self.begin);
            self.of_thread.clear();
            self.lagging.clear();
        }
    }

    /// Notes a new fiber, with a stack of `size` bytes from `bottom`.
    pub(crate) fn add(&mut self, bottom: usize, size: usize) {
        let context = self.thread.map_or(null_mut(), |thread| {
            // The stack and the context may have been used by another runner.
            thread.acquire(&raw const LAUNCHES);
            thread.release(&raw const *self.begin);
            thread.create()
        });
        self.fibers.push(Fiber::new(bottom as *const c_void, size, context));
    }

    /// Notes that all fibers but the first `keep` were reset.
    pub(crate) fn truncate(&mut self, keep: usize) {
        for fiber in self.fibers.drain(keep.min(self.fibers.len())..) {
            if let Some(address) = self.address {
                // A failed kernel left the redzones of its frames poisoned.
                address.allow(fiber.bottom, fiber.size);
            }
            if let Some(thread) = self.thread {
                // The next user of the stack is ordered after what this fiber did on it, whether or not its
                // thread has ended.
                thread.switch(fiber.context);
                thread.release(&raw const LAUNCHES);
                thread.switch(self.base.context);
                thread.give_back(fiber.context);
            }
        }
    }

    /// Notes that the runner is about to resume the fiber.
    #[inline]
    pub(crate) fn resume(&mut self, fiber: u32) {
        self.running = fiber;
        if let Some(address) = self.address {
            let fiber = &self.fibers[fiber as usize];
            address.leave(&mut self.base.shadow, fiber.bottom, fiber.size);
        }
        if let Some(thread) = self.thread {
            thread.switch(self.fibers[fiber as usize].context);
        }
    }

    /// Notes that the runner continues.
    #[inline]
    pub(crate) fn resumed(&mut self) {
        if let Some(address) = self.address {
            address.arrive(self.base.shadow);
        }
    }

    /// Notes that the running fiber is about to yield.
    #[inline]
    pub(crate) fn suspend(&mut self) {
        if let Some(address) = self.address {
            let fiber = &mut self.fibers[self.running as usize];
            address.leave(&mut fiber.shadow, self.base.bottom, self.base.size);
        }
        if let Some(thread) = self.thread {
            thread.switch(self.base.context);
        }
    }

    /// Notes that the running fiber begins or continues.
    #[inline]
    pub(crate) fn entered(&mut self) {
        if let Some(address) = self.address {
            let (bottom, size) = address.arrive(self.fibers[self.running as usize].shadow);
            (self.base.bottom, self.base.size) = (bottom, size);
        }
    }

    /// Notes that the running fiber begins a thread of the block.
    pub(crate) fn begin_thread(&mut self, begun: &abi::Thread, block: [u32; 3]) {
        let Some(thread) = self.thread else { return };
        thread.acquire(&raw const *self.begin);
        self.fibers[self.running as usize].odd = false;
        let name = format!("thread ({}, {}, {}) of block {block:?}", begun.x, begun.y, begun.z);
        thread.name(self.fibers[self.running as usize].context, name);
        let number = begun.linear as usize;
        if self.of_thread.len() <= number {
            self.of_thread.resize(number + 1, 0);
        }
        self.of_thread[number] = self.running;
    }

    /// Notes that the running fiber's thread has ended.
    pub(crate) fn end_thread(&mut self) {
        if let Some(thread) = self.thread {
            thread.release(&raw const *self.end);
        }
    }

    /// Notes that the running thread has reached a barrier. Two addresses alternate, because a thread may
    /// reach the next barrier before another has gone on from the last.
    #[inline]
    pub(crate) fn reach_barrier(&mut self) {
        if let Some(thread) = self.thread {
            thread.release(&raw const self.barriers[usize::from(self.fibers[self.running as usize].odd)]);
        }
    }

    /// Notes that the running thread continues after the barrier.
    #[inline]
    pub(crate) fn pass_barrier(&mut self) {
        let Some(thread) = self.thread else { return };
        let odd = &mut self.fibers[self.running as usize].odd;
        thread.acquire(&raw const self.barriers[usize::from(*odd)]);
        *odd = !*odd;
    }

    /// Notes that the running thread has reached a grid sync, before which its block has passed `syncs`
    /// others.
    pub(crate) fn reach_grid(&mut self, grid: &GridBarrier, syncs: u64) {
        if let Some(thread) = self.thread {
            thread.release(grid.sanitizer_address(syncs));
        }
    }

    /// Notes that the running thread continues after the grid sync.
    pub(crate) fn pass_grid(&mut self, grid: &GridBarrier, syncs: u64) {
        if let Some(thread) = self.thread {
            thread.acquire(grid.sanitizer_address(syncs));
        }
    }

    /// Notes that the running thread, the given lane of the given warp, continues after a warp operation with
    /// the lanes of the mask. The first lane to continue orders all of them on their behalf: none of them has
    /// done anything since.
    pub(crate) fn pass_meeting(&mut self, warp: usize, lane: u32, mask: u64, wave: u32) {
        let Some(thread) = self.thread else { return };
        if self.lagging.len() <= warp {
            self.lagging.resize(warp + 1, 0);
        }
        if self.lagging[warp] == 0 {
            let lanes = (0..wave as usize).filter(|lane| mask >> lane & 1 != 0);
            let of_lane = |lane: usize| self.of_thread[warp * wave as usize + lane] as usize;
            let contexts: Vec<_> = lanes.map(|lane| self.fibers[of_lane(lane)].context).collect();
            thread.meet(&contexts, &raw const *self.meeting);
            thread.switch(self.fibers[self.running as usize].context);
            self.lagging[warp] = mask;
        }
        self.lagging[warp] &= !(1 << lane);
    }
}
