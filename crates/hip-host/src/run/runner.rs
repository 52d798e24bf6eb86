//! Runs blocks on one OS thread. A runner and its fibers never leave the thread that created it.

use super::callbacks::{START, call_entry};
use super::schedule::{Next, Schedule};
use super::stacks::{self, FiberStack};
use super::trap::{self, Exit, Slot, Trap};
use super::{Launch, MAX_SHARED, sanitizer, trap_report, watchdog};
use crate::abi;
use crate::code::Code;
use crate::failure::{Failure, LAUNCH_FAILURE, OUT_OF_RESOURCES};
use crate::memory;
use corosensei::stack::Stack;
use corosensei::{Coroutine, CoroutineResult};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::c_void;
use std::ptr::{NonNull, null, null_mut};
use std::sync::LazyLock;

/// Why a fiber yields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Its thread waits, and this other fiber is to run next; the state already says so.
    For(u32),
    /// Its thread waits.
    Parked,
    /// It has no thread left to run.
    Idle,
    /// Its thread failed the launch; the fiber is never resumed.
    Failed,
}

pub(crate) type Yielder = corosensei::Yielder<(), Pause>;

/// A fiber, and the exit that a fault takes out of it.
struct Fiber {
    coroutine: Coroutine<(), Pause, (), FiberStack>,
    exit: Box<Exit>,
}

/// The part of a runner that the callbacks use. It has an allocation of its own. The runner's loop and the
/// callbacks, which run while that loop resumes a fiber, both reach it through the same raw pointer and hold
/// no reference across a switch.
pub(crate) struct State {
    pub(crate) schedule: Schedule,
    pub(crate) block: abi::Block,
    /// The yielder of the running fiber.
    pub(crate) yielder: *const Yielder,
    /// The yielder of each fiber; null until the fiber first ran.
    yielders: Vec<*const Yielder>,
    pub(crate) failure: Option<Failure>,
    /// Number of grid syncs that the block has passed.
    pub(crate) grid_syncs: u64,
    /// The sanitizer's view of the fibers.
    pub(crate) watched: sanitizer::Fibers,
    /// The launch that the fibers work on.
    pub(crate) launch: *const Launch,
}

impl State {
    /// Notes which fiber is about to run.
    #[inline]
    pub(crate) fn make_current(&mut self, fiber: u32) {
        self.schedule.set_current(fiber);
        self.yielder = self.yielders[fiber as usize];
    }
}

/// Runs blocks on the thread that created it.
pub(crate) struct Runner {
    state: NonNull<State>,
    /// The thread's slot for the signal handler.
    slot: *const Slot,
    fibers: Vec<Fiber>,
    idle: Vec<u32>,
    /// With ThreadSanitizer each fiber runs one thread of a block only; these fibers become idle with the
    /// next block.
    spent: Vec<u32>,
}

const SHARED_LAYOUT: Layout = match Layout::from_size_align(MAX_SHARED as usize, 256) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two"),
};

impl Runner {
    pub(crate) fn new() -> Self {
        trap::prepare_thread();
        LazyLock::force(&START);
        // SAFETY: S15: the layout is not empty, and the memory comes zeroed.
        let shared = unsafe { alloc_zeroed(SHARED_LAYOUT) };
        if shared.is_null() {
            handle_alloc_error(SHARED_LAYOUT);
        }
        let shared = shared.cast::<c_void>();
        let (grid, block, index, shared_bytes, runner) = ([1; 3], [1; 3], [0; 3], 0, null_mut());
        let (cooperative, reserved) = (0, 0);
        let block = abi::Block { grid, block, index, shared_bytes, shared, runner, cooperative, reserved };
        let schedule = Schedule::new();
        let (yielder, yielders, failure, grid_syncs, launch) = (null(), Vec::new(), None, 0, null());
        let watched = sanitizer::Fibers::new();
        let state = State { schedule, block, yielder, yielders, failure, grid_syncs, watched, launch };
        let state = NonNull::from(Box::leak(Box::new(state)));
        // SAFETY: S4: just created, and owned by this runner alone.
        unsafe { (*state.as_ptr()).block.runner = state.as_ptr().cast() };
        let slot = Slot::of_this_thread();
        Self { state, slot, fibers: Vec::new(), idle: Vec::new(), spent: Vec::new() }
    }

    /// Runs blocks of the launch until none is left to claim. A failure is stored in the launch.
    pub(crate) fn work_on(&mut self, launch: &Launch) {
        let state = self.state.as_ptr();
        // SAFETY: S10: no fiber runs now; the launch outlives this call.
        unsafe {
            (*state).launch = launch;
            (*state).block.grid = launch.grid;
            (*state).block.block = launch.block;
            (*state).block.shared_bytes = launch.shared_bytes;
            (*state).block.cooperative = u32::from(launch.grid_barrier.is_some());
            (*state).watched.begin_work(launch, (*state).block.shared);
        }
        let outcome = match launch.kernel.code {
            Code::Plain(_) => self.run_plain(launch),
            Code::Threads(_) => self.run_threads(launch),
        };
        if let Err(failure) = outcome {
            self.discard_fibers(0);
            launch.fail(failure);
        }
        // SAFETY: S10: as above.
        unsafe {
            (*state).watched.end_work(launch);
            (*state).launch = null();
        }
    }

    /// One fiber claims and runs all the blocks, so that a failing thread can be stopped by leaving the
    /// fiber.
    fn run_plain(&mut self, launch: &Launch) -> Result<(), Failure> {
        let _watch = watchdog::watch(launch, self.slot);
        let fiber = self.idle_fiber()?;
        // SAFETY: S10: no fiber runs now.
        unsafe { (*self.state.as_ptr()).make_current(fiber) };
        self.resume(fiber).map(drop)
    }

    fn run_threads(&mut self, launch: &Launch) -> Result<(), Failure> {
        // A cooperative launch has reserved stacks for all its blocks already.
        let alone = launch.grid_barrier.is_none();
        let reservation = alone.then(|| stacks::reserve(launch.threads_per_block() as usize));
        // The watch begins after the wait for stacks, which is not the launch's fault.
        let watch = watchdog::watch(launch, self.slot);
        let outcome = self.run_claimed(launch);
        drop(watch);
        if outcome.is_err() && launch.kernel.keeps_stacks {
            self.leak_unfinished();
        }
        // One fiber stays with the thread, outside the reservation.
        self.discard_fibers(if outcome.is_ok() { 1 } else { 0 });
        drop(reservation);
        outcome
    }

    fn run_claimed(&mut self, launch: &Launch) -> Result<(), Failure> {
        while let Some(blocks) = launch.claim() {
            for block in blocks {
                // SAFETY: S10: no fiber runs now.
                unsafe {
                    let state = &mut *self.state.as_ptr();
                    state.block.index = launch.index(block);
                    state.schedule.set_order(launch.thread_order);
                    state.schedule.begin(launch.block, launch.wave);
                    state.grid_syncs = 0;
                    state.watched.begin_block();
                }
                self.run_block()?;
                launch.block_ended();
                self.idle.append(&mut self.spent);
            }
        }
        Ok(())
    }

    fn run_block(&mut self) -> Result<(), Failure> {
        let state = self.state.as_ptr();
        loop {
            // SAFETY: S10: no fiber runs now, and the reference ends with the statement.
            let next = unsafe { (*state).schedule.pick() };
            let mut fiber = match next {
                Next::Resume(fiber) => fiber,
                Next::Start => self.idle_fiber()?,
                Next::Done => return Ok(()),
                Next::Stuck(why) => {
                    // SAFETY: S10: as above.
                    return Err(unsafe { failure_at(state, None, LAUNCH_FAILURE, &why) });
                }
            };
            // SAFETY: S10: as above.
            unsafe { (*state).make_current(fiber) };
            while let Some(next) = self.resume(fiber)? {
                fiber = next;
            }
        }
    }

    /// Runs a fiber until it yields, and returns the fiber to run next, if it named one. Inlined: after a
    /// switch the processor mispredicts every return.
    #[inline(always)]
    fn resume(&mut self, fiber: u32) -> Result<Option<u32>, Failure> {
        let state = self.state.as_ptr();
        let Fiber { coroutine, exit } = &mut self.fibers[fiber as usize];
        // SAFETY: S10, S16: no fiber runs before the switch and after it. The slot is this thread's; the exit lives until
        // `discard_fibers` has taken it out of the slot.
        unsafe {
            (*state).watched.resume(fiber);
            (*self.slot).set_exit(&raw const **exit);
        }
        let result = coroutine.resume(());
        // SAFETY: S10: as above.
        unsafe { (*state).watched.resumed() };
        match result {
            CoroutineResult::Yield(Pause::For(fiber)) => Ok(Some(fiber)),
            CoroutineResult::Yield(Pause::Parked) => Ok(None),
            CoroutineResult::Yield(Pause::Idle) => {
                let fibers = if sanitizer::watches_threads() { &mut self.spent } else { &mut self.idle };
                fibers.push(fiber);
                Ok(None)
            }
            CoroutineResult::Yield(Pause::Failed) | CoroutineResult::Return(()) => Err(self.why_ended()),
        }
    }

    /// Why a fiber ended that still had threads to run: its kernel called `fail`, or a fault stopped it.
    #[cold]
    fn why_ended(&mut self) -> Failure {
        let state = self.state.as_ptr();
        // SAFETY: S10, S16: the fiber has yielded for good; the slot is this thread's.
        unsafe {
            let (reported, trap) = ((*state).failure.take(), (*self.slot).take_trap());
            let failure = match (reported, trap) {
                (Some(reported), _) => reported,
                (None, Some(trap)) => failure_of_trap(state, &trap),
                (None, None) => Failure { code: LAUNCH_FAILURE, message: "a fiber ended".to_owned() },
            };
            if trap.is_some() {
                // The fiber may have been stopped in the middle of a change to the schedule, so the schedule
                // must not even be dropped.
                std::mem::forget(std::mem::replace(&mut (*state).schedule, Schedule::new()));
            }
            failure
        }
    }

    fn idle_fiber(&mut self) -> Result<u32, Failure> {
        if let Some(fiber) = self.idle.pop() {
            return Ok(fiber);
        }
        let stack = stacks::take().map_err(|error| Failure {
            code: OUT_OF_RESOURCES,
            message: format!("no memory for another fiber's stack: {error}"),
        })?;
        let fiber = self.fibers.len();
        let state = self.state.as_ptr();
        let (limit, guard) = (stack.limit().get(), stack.guard());
        // SAFETY: S10: no fiber runs now.
        unsafe {
            (*state).yielders.push(null());
            (*state).watched.add(limit, stack.base().get() - limit);
        }
        let coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
            loop {
                // SAFETY: S10: the runner outlives its fibers and is on this thread; between switches nobody
                // else uses the state. call_entry runs the launch that the runner set before it resumed this
                // fiber.
                unsafe {
                    (&mut (*state).yielders)[fiber] = yielder;
                    (*state).yielder = yielder;
                    (*state).watched.entered();
                    call_entry(state);
                    (*state).watched.suspend();
                }
                yielder.suspend(Pause::Idle);
            }
        });
        let exit = Box::new(Exit::new(coroutine.trap_handler(), guard));
        self.fibers.push(Fiber { coroutine, exit });
        Ok(fiber as u32)
    }

    /// Leaks the fibers whose thread has not finished, stacks and all: nothing on them is dropped, so other OS threads
    /// may still use it (those of a `std::thread::scope`, say). They may use the kernel's arguments as well, so memory is
    /// kept from now on. The limit on stacks does not count leaked ones: a device keeps its error, so few launches fail in
    /// a process.
    fn leak_unfinished(&mut self) {
        // Before the launch counts as failed, so before its memory can be freed.
        memory::keep();
        // SAFETY: S16: this thread's slot. No fiber runs now, and the handler must not use the exits of leaked ones.
        unsafe { (*self.slot).set_exit(null()) };
        let finished = |fiber: &u32| self.idle.contains(fiber) || self.spent.contains(fiber);
        let finished: Vec<bool> = (0..self.fibers.len() as u32).map(|fiber| finished(&fiber)).collect();
        let fibers = std::mem::take(&mut self.fibers);
        for (fiber, finished) in fibers.into_iter().zip(finished) {
            if finished {
                self.fibers.push(fiber);
            } else {
                std::mem::forget(fiber.coroutine);
            }
        }
    }

    /// Resets all fibers but the first `keep` and returns their stacks. The kept fibers are idle.
    fn discard_fibers(&mut self, keep: usize) {
        let keep = keep.min(self.fibers.len());
        // SAFETY: S16: this thread's slot. No fiber runs now, and clearing the exit keeps the handler from
        // using fibers that are reset.
        unsafe { (*self.slot).set_exit(null()) };
        let stacks = self.fibers.drain(keep..).map(|Fiber { mut coroutine, .. }| {
            // SAFETY: S10: the stack holds this file's closure, which owns nothing, and perhaps frames of a C++ kernel,
            // of which nothing needs to be dropped. A Rust kernel's frames are not here: its fiber has finished or was
            // leaked. Nothing unwinds.
            unsafe { coroutine.force_reset() };
            coroutine.into_stack()
        });
        // SAFETY: S10: no fiber runs now.
        unsafe {
            (*self.state.as_ptr()).yielders.truncate(keep);
            (*self.state.as_ptr()).watched.truncate(keep);
        }
        stacks::give_back(stacks);
        self.idle.clear();
        self.spent.clear();
        self.idle.extend(0..keep as u32);
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.discard_fibers(0);
        // SAFETY: S4: created by `new`, and no fiber is left that could use them.
        unsafe {
            dealloc((*self.state.as_ptr()).block.shared.cast(), SHARED_LAYOUT);
            drop(Box::from_raw(self.state.as_ptr()));
        }
    }
}

/// A failure message that names the kernel, the running block, and the thread if it is known.
///
/// # Safety
/// `state` is a runner's, of this thread, with its launch set; nobody holds a reference into it.
pub(crate) unsafe fn failure_at(
    state: *mut State,
    thread: Option<[u32; 3]>,
    code: u32,
    why: &str,
) -> Failure {
    // SAFETY: S10: the caller vouches for it.
    let (kernel, [x, y, z]) = unsafe { (&(*(*state).launch).kernel.name, (*state).block.index) };
    let thread = thread.map(|[x, y, z]| format!(", thread ({x}, {y}, {z})")).unwrap_or_default();
    Failure { code, message: format!("kernel {kernel}, block ({x}, {y}, {z}){thread}: {why}") }
}

/// The failure for a fault. In a plain loop the thread's index is not known.
///
/// # Safety
/// As [`failure_at`]; the fault is that of the fiber that ran last.
unsafe fn failure_of_trap(state: *mut State, trap: &Trap) -> Failure {
    let (code, why) = trap_report::explain(trap);
    // SAFETY: S10: the caller vouches for it.
    unsafe {
        let thread = match (*(*state).launch).kernel.code {
            Code::Plain(_) => None,
            Code::Threads(_) => Some((*state).schedule.current_thread()),
        };
        failure_at(state, thread, code, &why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Kernel;
    use crate::run::launch::{Arguments, Shape};

    unsafe extern "C" fn count_blocks(block: *const abi::Block, arguments: *const *mut c_void) {
        // SAFETY: S9: the test passes one argument, the address of four counters, and a grid of that many blocks.
        unsafe {
            let counters = *(*arguments).cast::<*mut u32>();
            *counters.add((*block).index[0] as usize) += 1;
        }
    }

    #[test]
    fn every_block_runs_once() {
        let (sizes, offsets, code) = (&[8][..], &[0][..], Code::Plain(count_blocks));
        let kernel = Kernel {
            name: "count".into(),
            sizes,
            offsets,
            kernarg_size: 8,
            max_threads: 0,
            keeps_stacks: false,
            code,
        };
        let kernel = Box::leak(Box::new(kernel));
        let mut counters = [0_u32; 4];
        let packed = (counters.as_mut_ptr() as usize).to_ne_bytes();
        let shape = Shape {
            grid: [4, 1, 1],
            block: [1; 3],
            shared_bytes: 0,
            wave: 32,
            urgency: 0,
            cooperative: false,
        };
        let launch = Launch::new(kernel, Arguments::from_packed(kernel, &packed), shape);
        let mut runner = Runner::new();
        runner.work_on(&launch);
        assert_eq!(counters, [1; 4]);
        assert!(launch.take_failure().is_none());
    }
}
