//! Fiber stacks: small, each with a guard zone, kept for reuse and limited in number.

use crate::system::{most_mappings, page_bytes};
use corosensei::stack::{DefaultStack, Stack, StackPointer};
use parking_lot::{Condvar, Mutex};
use std::io;
use std::ops::Range;
use std::sync::LazyLock;

/// Usable bytes of a stack, before its colour offset is subtracted.
const STACK_BYTES: usize = 64 << 10;
/// Size of the inaccessible guard zone below the stack. Compilers that probe the stack do so at least once in
/// this many bytes.
const GUARD_BYTES: usize = 64 << 10;
/// Stack tops differ by multiples of this, so that they do not all compete for the same cache sets.
const COLOUR_STEP: usize = 320;
const COLOURS: usize = 12;
/// Threads that one multiprocessor holds at once. There is at least one multiprocessor, so at least this many
/// threads can run: a block of the largest size, and a cooperative grid that the device accepts.
pub(crate) const THREADS_PER_PROCESSOR: usize = 2048;

/// A stack whose top lies a little below the end of its memory.
pub(crate) struct FiberStack {
    memory: DefaultStack,
    top: StackPointer,
    /// The end of the guard zone.
    bottom: usize,
}

impl FiberStack {
    /// The inaccessible addresses below the stack.
    pub(crate) fn guard(&self) -> Range<usize> {
        self.memory.limit().get()..self.bottom
    }
}

// SAFETY: S10: the memory is DefaultStack's, guard included; the top is within it, aligned to 16 (COLOUR_STEP is
// a multiple of 16), and more than MIN_STACK_SIZE remain below it.
unsafe impl Stack for FiberStack {
    fn base(&self) -> StackPointer {
        self.top
    }

    fn limit(&self) -> StackPointer {
        self.memory.limit()
    }
}

struct Stacks {
    state: Mutex<State>,
    returned: Condvar,
}

struct State {
    free: Vec<FiberStack>,
    made: usize,
    /// Stacks that are not reserved.
    available: usize,
}

static STACKS: LazyLock<Stacks> = LazyLock::new(|| Stacks {
    state: Mutex::new(State { free: Vec::new(), made: 0, available: most() }),
    returned: Condvar::new(),
});

/// The right to take a number of stacks; they must be returned before it is dropped.
pub(crate) struct Reservation {
    count: usize,
}

/// Waits until `count` stacks are available. All or none are reserved, and a thread makes one reservation at
/// a time, so reservations cannot deadlock.
pub(crate) fn reserve(count: usize) -> Reservation {
    let mut state = STACKS.state.lock();
    STACKS.returned.wait_while(&mut state, |state| state.available < count);
    state.available -= count;
    Reservation { count }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        STACKS.state.lock().available += self.count;
        STACKS.returned.notify_all();
    }
}

/// Takes a returned stack, or maps a new one.
pub(crate) fn take() -> io::Result<FiberStack> {
    let colour = {
        let mut state = STACKS.state.lock();
        if let Some(stack) = state.free.pop() {
            return Ok(stack);
        }
        state.made += 1;
        state.made % COLOURS * COLOUR_STEP
    };
    let memory = DefaultStack::new(STACK_BYTES + COLOURS * COLOUR_STEP + GUARD_BYTES)?;
    let start = memory.limit().get() + page_bytes();
    // SAFETY: S10: the lowest part of our own memory, next to DefaultStack's guard page.
    if unsafe { libc::mprotect(start as *mut libc::c_void, GUARD_BYTES, libc::PROT_NONE) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let bottom = start + GUARD_BYTES;
    let top = StackPointer::new(memory.base().get() - colour).expect("a stack does not end at address zero");
    Ok(FiberStack { memory, top, bottom })
}

/// Keeps returned stacks for reuse.
pub(crate) fn give_back(stacks: impl Iterator<Item = FiberStack>) {
    STACKS.state.lock().free.extend(stacks);
}

/// The maximum number of stacks.
pub(crate) fn most() -> usize {
    static MOST: LazyLock<usize> = LazyLock::new(|| limit(most_mappings()));
    *MOST
}

/// The maximum number of stacks: each takes two of the process's memory mappings, and half of the mappings
/// are left to others.
fn limit(mappings: usize) -> usize {
    (mappings / 4).max(THREADS_PER_PROCESSOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_reused_at_staggered_offsets() {
        assert_eq!(limit(65_530), 16_382);
        assert_eq!(limit(0), 2048);
        let held = reserve(3);
        let (a, b) = (take().expect("memory"), take().expect("memory"));
        assert_ne!(a.top.get() % 4096, b.top.get() % 4096);
        for stack in [&a, &b] {
            assert_eq!(stack.top.get() % 16, 0);
            assert!(stack.top.get() - stack.guard().end >= STACK_BYTES);
            assert!(stack.guard().len() > GUARD_BYTES);
        }
        give_back([a, b].into_iter());
        drop(held);
    }
}
