//! The functions that kernels call, and the call into a kernel.

use super::runner::{Pause, State, failure_at};
use super::sanitizer;
use super::schedule::Met;
use super::trap::shielded;
use super::warp::Seen;
use crate::abi;
use crate::code::Code;
use crate::failure::{ASSERT, Failure, LAUNCH_FAILURE};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::{Write, stdout};
use std::sync::LazyLock;
use std::time::Instant;

/// The table that every registered module receives.
pub(crate) static RUNTIME: abi::Runtime = abi::Runtime {
    abi: abi::ABI,
    reserved: 0,
    next_thread,
    barrier,
    warp_sync,
    fail,
    print,
    grid_sync,
    clock,
};

/// Runs the kernel of the state's launch on the calling fiber: all blocks that it can claim, or threads of
/// the one block that the runner set up.
///
/// # Safety
/// Called on a fiber of the state's runner, with a launch set; nobody holds a reference into the state.
pub(crate) unsafe fn call_entry(state: *mut State) {
    // SAFETY: S9, S10: the caller vouches for the state; the launch outlives the runner's work on it and its arguments
    // are those that the kernel declares.
    unsafe {
        let launch = &*(*state).launch;
        let arguments = launch.arguments.pointers();
        match launch.kernel.code {
            Code::Threads(entry) => entry(&raw const (*state).block, arguments),
            Code::Plain(entry) => {
                while let Some(blocks) = launch.claim() {
                    for block in blocks {
                        (*state).block.index = launch.index(block);
                        entry(&raw const (*state).block, arguments);
                    }
                }
            }
        }
    }
}

/// # Safety
/// `block` is the one that the runtime passed to the kernel.
unsafe fn state_of(block: *const abi::Block) -> *mut State {
    // SAFETY: S10: `runner` points to the state that holds the block.
    unsafe { (*block).runner.cast() }
}

/// Switches to a fiber that can go on, or to the runner if there is none; returns when resumed.
///
/// # Safety
/// As [`call_entry`].
#[inline(always)]
unsafe fn park(state: *mut State) {
    // SAFETY: S10: the running fiber stored its yielder, which lives on its stack; the reference ends before the switch.
    unsafe {
        let yielder = (*state).yielder;
        (*state).watched.suspend();
        let next = (*state).schedule.next_ready();
        if let Some(fiber) = next {
            (*state).make_current(fiber);
        }
        (*yielder).suspend(next.map_or(Pause::Parked, Pause::For));
        (*state).watched.entered();
    }
}

unsafe extern "C" fn next_thread(block: *const abi::Block, thread: *mut abi::Thread) -> c_int {
    // SAFETY: S10: called by a kernel's entry on a fiber; `thread` is that entry's local.
    unsafe {
        let state = state_of(block);
        if sanitizer::watches_threads() {
            return c_int::from(only_thread(state, &mut *thread));
        }
        c_int::from((*state).schedule.next_thread(&mut *thread))
    }
}

/// Begins the fiber's first thread, or ends it. ThreadSanitizer treats everything that runs on one fiber as
/// one thread, and everything on the fiber's stack as that thread's, so a fiber runs one thread only.
///
/// # Safety
/// As [`call_entry`].
unsafe fn only_thread(state: *mut State, thread: &mut abi::Thread) -> bool {
    // SAFETY: S10: as in `barrier`.
    unsafe {
        if thread.linear != u32::MAX {
            (*state).schedule.end_thread(thread.linear);
            (*state).watched.end_thread();
            return false;
        }
        let begun = (*state).schedule.next_thread(thread);
        if begun {
            (*state).watched.begin_thread(thread, (*state).block.index);
        }
        begun
    }
}

unsafe extern "C" fn barrier(block: *const abi::Block, line: u32, predicate: u32) -> u64 {
    // SAFETY: S10: called by a kernel on a fiber; each reference into the state ends before the switch.
    unsafe {
        let state = state_of(block);
        (*state).watched.reach_barrier();
        let result = match (*state).schedule.barrier(line, predicate != 0) {
            Met::Now(result) => result,
            Met::Wait => {
                park(state);
                (*state).schedule.result()
            }
        };
        (*state).watched.pass_barrier();
        result
    }
}

unsafe extern "C" fn warp_sync(
    block: *const abi::Block,
    line: u32,
    value: *const c_void,
    size: u32,
    predicate: u32,
    view: *mut abi::WarpView,
) {
    // SAFETY: S10: as in `barrier`; the headers pass at most 16 bytes, which are alive, and a live view.
    unsafe {
        let state = state_of(block);
        let value = std::slice::from_raw_parts(value.cast::<u8>(), size as usize);
        let lane = (*state).schedule.lane();
        if let Met::Wait = (*state).schedule.warp(lane, line, value, predicate != 0) {
            park(state);
        }
        let Seen { slots, mask, predicates } = (*state).schedule.seen(lane);
        if sanitizer::watches_threads() {
            (*state).watched.pass_meeting(lane.warp as usize, lane.number, mask, (*(*state).launch).wave);
        }
        *view = abi::WarpView { slots, mask, predicates, lane: lane.number, reserved: 0 };
    }
}

unsafe extern "C" fn fail(
    block: *const abi::Block,
    thread: *const u32,
    code: u32,
    what: *const c_char,
    file: *const c_char,
    line: u32,
) {
    // SAFETY: S10: as in `barrier`; the texts are literals of the kernel's source, and `thread` is three numbers.
    unsafe {
        let state = state_of(block);
        let thread = thread.cast::<[u32; 3]>().read();
        let failure = shielded(|| {
            let (what, file) =
                (CStr::from_ptr(what).to_string_lossy(), CStr::from_ptr(file).to_string_lossy());
            let kind = if code == ASSERT { "assertion failed: " } else { "" };
            let code = if code == 0 { LAUNCH_FAILURE } else { code };
            failure_at(state, Some(thread), code, &format!("{kind}{what}, at {file}:{line}"))
        });
        stop(state, failure);
    }
}

/// Ends the running fiber for good, because the launch has failed.
///
/// # Safety
/// As [`call_entry`]; nothing on the fiber needs dropping.
unsafe fn stop(state: *mut State, failure: Failure) -> ! {
    // SAFETY: S10: the caller vouches for the state.
    unsafe {
        // This is more than one store, and the watchdog must not stop the fiber between them.
        shielded(|| (*state).failure = Some(failure));
        (*state).watched.suspend();
        (*(*state).yielder).suspend(Pause::Failed);
    }
    // The runner resets a failed fiber and never resumes it.
    std::process::abort();
}

/// Prints at once instead of at the end of the launch: the output of a kernel that hangs shows how far it
/// got.
unsafe extern "C" fn print(_block: *const abi::Block, text: *const c_char, length: u32) {
    // SAFETY: S10: the headers pass a text of that length.
    let text = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length as usize) };
    let mut copy = shielded(|| Vec::with_capacity(text.len()));
    // Copied outside the shield, where no lock is held: the text is the kernel's memory and may be invalid.
    copy.extend_from_slice(text);
    shielded(move || {
        // A closed standard output is not the kernel's error.
        let mut out = stdout().lock();
        let _ = out.write_all(&copy).and_then(|()| out.flush());
    });
}

unsafe extern "C" fn grid_sync(block: *const abi::Block, line: u32) -> u32 {
    // SAFETY: S10: as in `barrier`.
    unsafe {
        let state = state_of(block);
        let Some(grid) = &(*(*state).launch).grid_barrier else { return 0 };
        // The block's threads meet first. Then the first thread to go on waits for the other blocks, on this
        // OS thread.
        let turn = (*state).grid_syncs;
        (*state).watched.reach_grid(grid, turn);
        barrier(block, line, 0);
        if (*state).grid_syncs == turn {
            (*state).grid_syncs += 1;
            let met =
                shielded(|| grid.wait(line).map_err(|why| failure_at(state, None, LAUNCH_FAILURE, &why)));
            if let Err(failure) = met {
                stop(state, failure);
            }
        }
        (*state).watched.pass_grid(grid, turn);
        1
    }
}

/// The start of the clock that kernels read. Runners initialise it, so that no kernel has to.
pub(crate) static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Not shielded: it takes no lock, and may be called with little stack left.
extern "C" fn clock() -> u64 {
    START.elapsed().as_nanos() as u64
}
