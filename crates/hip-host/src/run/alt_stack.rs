//! An alternate signal stack for each OS thread that runs kernels: a fiber that overflowed its stack has no
//! room for a handler.

use libc::{c_void, stack_t};
use std::cell::OnceCell;
use std::ptr::{null, null_mut};

/// Size of our stacks in bytes. Wide registers alone fill more than 10 KiB on some processors.
const BYTES: usize = 128 << 10;
/// An existing alternate stack of at least this size is kept.
const ENOUGH: usize = 48 << 10;

struct AltStack(*mut c_void);

thread_local! {
    static OURS: OnceCell<AltStack> = const { OnceCell::new() };
}

/// Ensures that the thread has an alternate stack. If no memory is left there is none, and a stack overflow
/// ends the process.
pub(crate) fn ensure() {
    // A thread that is exiting runs no kernels that could need it.
    let _ = OURS.try_with(|ours| {
        if ours.get().is_none()
            && let Some(stack) = make()
        {
            let _ = ours.set(stack);
        }
    });
}

fn current() -> stack_t {
    let mut current = stack_t { ss_sp: null_mut(), ss_flags: 0, ss_size: 0 };
    // SAFETY: S16: a live output buffer.
    unsafe { libc::sigaltstack(null(), &mut current) };
    current
}

fn make() -> Option<AltStack> {
    let present = current();
    if present.ss_flags & libc::SS_DISABLE == 0 && present.ss_size >= ENOUGH {
        return None;
    }
    // SAFETY: S16: fresh memory, which stays until the thread ends.
    unsafe {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let start = libc::mmap(null_mut(), BYTES, access, flags, -1, 0);
        if start == libc::MAP_FAILED {
            return None;
        }
        let stack = AltStack(start);
        let ours = stack_t { ss_sp: start, ss_flags: 0, ss_size: BYTES };
        (libc::sigaltstack(&ours, null_mut()) == 0).then_some(stack)
    }
}

impl Drop for AltStack {
    fn drop(&mut self) {
        // The stack that was there before is not restored: its owner may have freed it by now.
        if current().ss_sp == self.0 {
            let none = stack_t { ss_sp: null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            // SAFETY: S16: no handler runs on it, since this code runs on the thread's own stack.
            unsafe { libc::sigaltstack(&none, null_mut()) };
        }
        // SAFETY: S4: mapped by `make`, and nobody uses it any more.
        unsafe { libc::munmap(self.0, BYTES) };
    }
}
