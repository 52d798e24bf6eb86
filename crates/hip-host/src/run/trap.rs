//! Faults of kernels: a signal that arrives while a kernel runs on its fiber ends the launch, not the process.
//!
//! Each OS thread has a slot that says which fiber it runs. The handler decides from the slot and the registers alone, writes
//! down what happened and sends the fiber back to its runner, which tells the story at leisure. Whatever is not a kernel's
//! fault goes to the handler that was there before.

use super::{alt_stack, registers, sanitizer};
use corosensei::trap::CoroutineTrapHandler;
use libc::{c_int, c_void, siginfo_t};
use std::cell::Cell;
use std::ffi::CStr;
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence};

/// The signal that the watchdog interrupts a thread with. By default it is ignored, so a late one does no harm.
pub(crate) const INTERRUPT: c_int = libc::SIGURG;
/// What a machine says to code that does what it cannot do, and the watchdog's word. `__builtin_trap` is SIGTRAP on aarch64.
const SIGNALS: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, INTERRUPT];
/// A callback that takes locks or allocates wants at least so many bytes of stack.
const HEADROOM: usize = 16 << 10;

/// A fault, as the handler saw it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trap {
    pub(crate) signal: c_int,
    /// `si_code`.
    pub(crate) code: c_int,
    /// `si_addr`.
    pub(crate) address: usize,
    /// The address is in the fiber's guard zone.
    pub(crate) overflow: bool,
    /// Whether the access was a write, where the processor says so.
    pub(crate) write: Option<bool>,
}

/// How to get out of a fiber, and where its guard zone is.
pub(crate) struct Exit {
    handler: CoroutineTrapHandler<()>,
    guard: Range<usize>,
}

impl Exit {
    pub(crate) fn new(handler: CoroutineTrapHandler<()>, guard: Range<usize>) -> Self {
        Self { handler, guard }
    }
}

/// What the handler knows of an OS thread.
pub(crate) struct Slot {
    /// Of the fiber that runs, or ran last; null if there is none.
    exit: Cell<*const Exit>,
    /// The fiber is in a part of the runtime that must not be left halfway.
    shielded: Cell<bool>,
    /// The watchdog wants the launch to end.
    interrupt: AtomicBool,
    trap: Cell<Option<Trap>>,
}

thread_local! {
    // Constant and without a destructor: no more than an address, so the handler may use it.
    static SLOT: Slot = const {
        Slot { exit: Cell::new(null()), shielded: Cell::new(false), interrupt: AtomicBool::new(false), trap: Cell::new(None) }
    };
}

impl Slot {
    /// This thread's slot. It lives as long as the thread.
    pub(crate) fn of_this_thread() -> *const Self {
        SLOT.with(|slot| &raw const *slot)
    }

    /// Says which fiber is about to run; null: none that exists. One store, so that no signal sees half of it.
    #[inline]
    pub(crate) fn set_exit(&self, exit: *const Exit) {
        self.exit.set(exit);
    }

    /// What ended the fiber that just ran, if something did.
    pub(crate) fn take_trap(&self) -> Option<Trap> {
        self.trap.take()
    }

    /// Asks the thread to end its launch, or no longer.
    pub(crate) fn set_interrupt(&self, wanted: bool) {
        self.interrupt.store(wanted, Ordering::Release);
    }
}

/// Runs a part of a callback that takes locks or allocates. The watchdog waits until it is through, and a fault in it is not
/// taken for the kernel's. The part must not switch to another fiber, and gets the kernel's own memory only as a copy.
pub(crate) fn shielded<R>(part: impl FnOnce() -> R) -> R {
    SLOT.with(|slot| {
        let here = (&raw const slot).addr();
        // SAFETY: S16: the exit is null or that of the fiber that runs, which outlives this call.
        let exit = unsafe { slot.exit.get().as_ref() };
        // Without a handler nobody would end the fiber for it.
        if let Some(exit) = exit.filter(|_| FORMER.get().is_some())
            && exit.handler.stack_ptr_in_bounds(here)
            && here < exit.guard.end + HEADROOM
        {
            // Too little stack is left: a stack overflow, now, while nothing is half done.
            // SAFETY: S16: the guard zone is no memory; the read is a fault of this fiber, which the handler ends.
            unsafe { (exit.guard.start as *const u8).read_volatile() };
        }
        slot.shielded.set(true);
        // The handler reads the mark between any two instructions, so nothing of the part may move past its ends.
        compiler_fence(Ordering::SeqCst);
        let result = part();
        compiler_fence(Ordering::SeqCst);
        slot.shielded.set(false);
        result
    })
}

/// Makes ready for kernels on this thread: the process's handlers, and a stack for them.
pub(crate) fn prepare_thread() {
    static UNWANTED: OnceLock<bool> = OnceLock::new();
    let unwanted = UNWANTED.get_or_init(|| {
        // A sanitizer reports faults itself, and has to be told before a stack is left.
        let watched = sanitizer::watches_addresses() || sanitizer::watches_threads();
        watched || std::env::var("HIPSTACK_HOST_TRAPS").is_ok_and(|text| text.trim() == "0")
    });
    if *unwanted {
        return;
    }
    install();
    alt_stack::ensure();
}

/// What handled each signal before.
static FORMER: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();
/// Where the C library's and the dynamic linker's code is: it may hold its locks there.
static NOT_TO_LEAVE: OnceLock<Vec<Range<usize>>> = OnceLock::new();

fn install() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        NOT_TO_LEAVE.get_or_init(c_library_code);
        // All is known before the first handler can run.
        FORMER.get_or_init(|| {
            SIGNALS.map(|signal| {
                // SAFETY: S16: a place for the answer; zero is a valid value of each field.
                unsafe {
                    let mut former: libc::sigaction = std::mem::zeroed();
                    libc::sigaction(signal, null(), &mut former);
                    former
                }
            })
        });
        for signal in SIGNALS {
            // SAFETY: S16: the handler keeps to what a handler may do.
            unsafe {
                let mut ours: libc::sigaction = std::mem::zeroed();
                ours.sa_sigaction = on_signal as *const () as usize;
                ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
                libc::sigemptyset(&mut ours.sa_mask);
                libc::sigaddset(&mut ours.sa_mask, INTERRUPT);
                libc::sigaction(signal, &ours, null_mut());
            }
        }
    });
}

unsafe extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: S16: the system hands over a signal's information and registers, both alive until the handler returns.
    unsafe {
        let ours = SLOT.with(|slot| {
            if signal == INTERRUPT {
                interrupt(slot, info, context)
            } else {
                fault(slot, signal, info, context)
            }
        });
        if !ours {
            chain(signal, info, context);
        }
    }
}

/// Ends the fiber for the watchdog, unless it is where it must not be left: then the watchdog asks again. False if the watchdog
/// did not ask.
///
/// # Safety
/// In a handler, with what the system gave it.
unsafe fn interrupt(slot: &Slot, info: *mut siginfo_t, context: *mut c_void) -> bool {
    if !slot.interrupt.load(Ordering::Acquire) {
        return false;
    }
    // SAFETY: S16: the caller vouches for info and context; the slot's exit is that of a live fiber.
    unsafe {
        let Some(exit) = slot.exit.get().as_ref() else { return true };
        let at = registers::program_counter(context);
        let held = NOT_TO_LEAVE.get().is_some_and(|code| code.iter().any(|range| range.contains(&at)));
        let on_fiber = exit.handler.stack_ptr_in_bounds(registers::stack_pointer(context));
        if on_fiber && !held && !slot.shielded.get() && slot.trap.get().is_none() {
            let trap =
                Trap { signal: INTERRUPT, code: (*info).si_code, address: 0, overflow: false, write: None };
            leave(slot, exit, trap, context);
        }
    }
    true
}

/// Ends the fiber if the fault is its kernel's; false if it is not.
///
/// # Safety
/// As [`interrupt`].
unsafe fn fault(slot: &Slot, signal: c_int, info: *mut siginfo_t, context: *mut c_void) -> bool {
    // SAFETY: S16: as in `interrupt`.
    unsafe {
        // Another process, or a call of ours, sent it: nobody's fault.
        let sent = (*info).si_code <= 0;
        let Some(exit) = slot.exit.get().as_ref() else { return false };
        let on_fiber = exit.handler.stack_ptr_in_bounds(registers::stack_pointer(context));
        if sent || !on_fiber || slot.shielded.get() {
            return false;
        }
        let address = (*info).si_addr() as usize;
        let overflow = signal == libc::SIGSEGV && exit.guard.contains(&address);
        let write = registers::was_write(context);
        leave(slot, exit, Trap { signal, code: (*info).si_code, address, overflow, write }, context);
    }
    true
}

/// # Safety
/// As [`interrupt`]; the fiber of `exit` was interrupted, and nothing on its stack is needed any more.
unsafe fn leave(slot: &Slot, exit: &Exit, trap: Trap, context: *mut c_void) {
    slot.trap.set(Some(trap));
    // SAFETY: S10, S16: the registers are set as corosensei demands, so the fiber returns to its runner when the handler
    // does; the frames that are dropped are a kernel's, and callbacks that hold nothing.
    unsafe { registers::set(context, exit.handler.setup_trap_handler(|| ())) };
}

/// Does what would have been done without us.
///
/// # Safety
/// As [`interrupt`].
unsafe fn chain(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(index) = SIGNALS.iter().position(|known| *known == signal) else { return };
    let Some(former) = FORMER.get().map(|former| &former[index]) else { return };
    // SAFETY: S16: a handler that the program had installed, called as the system would have called it.
    unsafe {
        let sent = (*info).si_code <= 0;
        match former.sa_sigaction {
            // Ignored by default too, whoever sends it: a socket's urgent data, for one.
            libc::SIG_DFL | libc::SIG_IGN if signal == INTERRUPT => {}
            libc::SIG_IGN if sent => {}
            libc::SIG_DFL | libc::SIG_IGN => {
                // What faulted faults again, and what was sent is sent again: now it ends the process.
                let default: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &default, null_mut());
                if sent {
                    libc::raise(signal);
                }
            }
            handler if former.sa_flags & libc::SA_SIGINFO != 0 => {
                type Full = unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void);
                std::mem::transmute::<usize, Full>(handler)(signal, info, context);
            }
            handler => std::mem::transmute::<usize, unsafe extern "C" fn(c_int)>(handler)(signal),
        }
    }
}

/// The executable parts of the C library and of the dynamic linker.
fn c_library_code() -> Vec<Range<usize>> {
    unsafe extern "C" fn note(object: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: S11: the linker hands over one object, and what we gave it.
        unsafe {
            let object = &*object;
            if object.dlpi_name.is_null() || object.dlpi_phdr.is_null() {
                return 0;
            }
            let path = CStr::from_ptr(object.dlpi_name).to_string_lossy();
            let file = path.rsplit('/').next().unwrap_or_default();
            if ["libc.", "libc-", "ld-", "ld.", "libpthread"].iter().any(|start| file.starts_with(start)) {
                let parts = std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum));
                let code = parts
                    .iter()
                    .filter(|part| part.p_type == libc::PT_LOAD && part.p_flags & libc::PF_X != 0);
                (*found.cast::<Vec<Range<usize>>>()).extend(code.map(|part| {
                    let start = object.dlpi_addr as usize + part.p_vaddr as usize;
                    start..start + part.p_memsz as usize
                }));
            }
        }
        0
    }
    let mut found: Vec<Range<usize>> = Vec::new();
    // SAFETY: S11: the callback's argument is the list, alive until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut found).cast()) };
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_found() {
        let code = c_library_code();
        let in_it = |address: usize| code.iter().any(|range| range.contains(&address));
        // SAFETY: S1: a question to the linker.
        let malloc = unsafe { libc::dlsym(libc::RTLD_NEXT, c"malloc".as_ptr()) };
        // Where it is linked statically there is nothing to find.
        assert!(malloc.is_null() || in_it(malloc as usize));
        assert!(!in_it(the_c_library_is_found as *const () as usize));
    }
}
