//! Faults of kernels: a signal that arrives while a kernel runs on its fiber ends the launch instead of the
//! process.
//!
//! Each OS thread has a slot that says which fiber it runs. The handler decides from the slot and the
//! registers alone, stores what happened and makes the fiber return to its runner, which builds the message
//! outside the handler. Signals that are not a kernel's fault go to the handler that was installed before.

use super::{alt_stack, registers, sanitizer};
use corosensei::trap::CoroutineTrapHandler;
use libc::{c_int, c_void, siginfo_t};
use std::cell::Cell;
use std::ffi::CStr;
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence};

/// The signal that the watchdog interrupts a thread with. Its default action is to ignore it, so a late one
/// does no harm.
pub(crate) const INTERRUPT: c_int = libc::SIGURG;
/// The signals of processor faults, and the watchdog's. `__builtin_trap` is SIGTRAP on aarch64.
const SIGNALS: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, INTERRUPT];
/// Minimum stack in bytes for a callback that takes locks or allocates.
const HEADROOM: usize = 16 << 10;

/// A fault, as the handler saw it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trap {
    pub(crate) signal: c_int,
    /// `si_code`.
    pub(crate) code: c_int,
    /// `si_addr`.
    pub(crate) address: usize,
    /// The address is in the fiber's guard zone: a stack overflow.
    pub(crate) overflow: bool,
    /// Whether the access was a write, if the processor tells.
    pub(crate) write: Option<bool>,
}

/// The way out of a fiber, and its guard zone.
pub(crate) struct Exit {
    handler: CoroutineTrapHandler<()>,
    guard: Range<usize>,
}

impl Exit {
    pub(crate) fn new(handler: CoroutineTrapHandler<()>, guard: Range<usize>) -> Self {
        Self { handler, guard }
    }
}

/// What the handler knows about an OS thread.
pub(crate) struct Slot {
    /// The exit of the fiber that runs or ran last; null if there is none.
    exit: Cell<*const Exit>,
    /// The fiber is in a part of the runtime that must not be left halfway.
    shielded: Cell<bool>,
    /// The watchdog asks the thread to end its launch.
    interrupt: AtomicBool,
    trap: Cell<Option<Trap>>,
}

thread_local! {
    // Constant and without a destructor, so access is a plain address computation, which a handler may do.
    static SLOT: Slot = const {
        Slot { exit: Cell::new(null()), shielded: Cell::new(false), interrupt: AtomicBool::new(false), trap: Cell::new(None) }
    };
}

impl Slot {
    /// This thread's slot. It lives as long as the thread.
    pub(crate) fn of_this_thread() -> *const Self {
        SLOT.with(|slot| &raw const *slot)
    }

    /// Sets the fiber that is about to run; null if there is none. This is a single store, so a signal never
    /// sees a partial value.
    #[inline]
    pub(crate) fn set_exit(&self, exit: *const Exit) {
        self.exit.set(exit);
    }

    /// Takes the fault that ended the fiber that just ran, if any.
    pub(crate) fn take_trap(&self) -> Option<Trap> {
        self.trap.take()
    }

    /// Asks the thread to end its launch, or withdraws the request.
    pub(crate) fn set_interrupt(&self, wanted: bool) {
        self.interrupt.store(wanted, Ordering::Release);
    }
}

/// Runs a part of a callback that takes locks or allocates. The watchdog does not interrupt it, and a fault
/// in it is not attributed to the kernel. The part must not switch to another fiber, and must receive the
/// kernel's own memory as a copy.
pub(crate) fn shielded<R>(part: impl FnOnce() -> R) -> R {
    SLOT.with(|slot| {
        let here = (&raw const slot).addr();
        // SAFETY: S16: the exit is null or that of the fiber that runs, which outlives this call.
        let exit = unsafe { slot.exit.get().as_ref() };
        // Only if our handlers are installed: otherwise no handler would end the fiber.
        if let Some(exit) = exit.filter(|_| PREVIOUS_HANDLERS.get().is_some())
            && exit.handler.stack_ptr_in_bounds(here)
            && here < exit.guard.end + HEADROOM
        {
            // Too little stack is left. Causes a stack overflow now, before anything is half done.
            // SAFETY: S16: the guard zone is inaccessible; the read faults and the handler ends this fiber.
            unsafe { (exit.guard.start as *const u8).read_volatile() };
        }
        slot.shielded.set(true);
        // The handler reads the flag between any two instructions, so the compiler must not move any code of
        // the part across the stores.
        compiler_fence(Ordering::SeqCst);
        let result = part();
        compiler_fence(Ordering::SeqCst);
        slot.shielded.set(false);
        result
    })
}

/// Prepares this thread for kernels: installs the process's handlers, and ensures an alternate stack for
/// them.
pub(crate) fn prepare_thread() {
    static UNWANTED: OnceLock<bool> = OnceLock::new();
    let unwanted = UNWANTED.get_or_init(|| {
        // A sanitizer reports faults itself, and must be notified before a stack is left.
        let watched = sanitizer::watches_addresses() || sanitizer::watches_threads();
        watched || std::env::var("HIPSTACK_HOST_TRAPS").is_ok_and(|text| text.trim() == "0")
    });
    if *unwanted {
        return;
    }
    install();
    alt_stack::ensure();
}

/// The previous handler of each signal.
static PREVIOUS_HANDLERS: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();
/// Code ranges of the C library and the dynamic linker. Code there may hold a lock, so the watchdog must not
/// end a fiber in it.
static NO_INTERRUPT: OnceLock<Vec<Range<usize>>> = OnceLock::new();

fn install() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        NO_INTERRUPT.get_or_init(c_library_code);
        // Everything is stored before the first handler can run.
        PREVIOUS_HANDLERS.get_or_init(|| {
            SIGNALS.map(|signal| {
                // SAFETY: S16: a live output buffer; zero is a valid value of each field.
                unsafe {
                    let mut former: libc::sigaction = std::mem::zeroed();
                    libc::sigaction(signal, null(), &mut former);
                    former
                }
            })
        });
        for signal in SIGNALS {
            // SAFETY: S16: the handler is async-signal-safe.
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
    // SAFETY: S16: the system passes a signal's information and registers, both alive until the handler
    // returns.
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

/// Ends the fiber for the watchdog. If the fiber must not be left at this point, does nothing, and the
/// watchdog tries again. Returns false if the watchdog did not send the signal.
///
/// # Safety
/// In a handler, with the arguments that the system passed.
unsafe fn interrupt(slot: &Slot, info: *mut siginfo_t, context: *mut c_void) -> bool {
    if !slot.interrupt.load(Ordering::Acquire) {
        return false;
    }
    // SAFETY: S16: the caller vouches for info and context; the slot's exit is that of a live fiber.
    unsafe {
        let Some(exit) = slot.exit.get().as_ref() else { return true };
        let at = registers::program_counter(context);
        let held = NO_INTERRUPT.get().is_some_and(|code| code.iter().any(|range| range.contains(&at)));
        let on_fiber = exit.handler.stack_ptr_in_bounds(registers::stack_pointer(context));
        if on_fiber && !held && !slot.shielded.get() && slot.trap.get().is_none() {
            let trap =
                Trap { signal: INTERRUPT, code: (*info).si_code, address: 0, overflow: false, write: None };
            leave(slot, exit, trap, context);
        }
    }
    true
}

/// Ends the fiber if its kernel caused the fault; otherwise returns false.
///
/// # Safety
/// As [`interrupt`].
unsafe fn fault(slot: &Slot, signal: c_int, info: *mut siginfo_t, context: *mut c_void) -> bool {
    // SAFETY: S16: as in `interrupt`.
    unsafe {
        // The signal was sent by another process or by a call, so it is not a fault of this code.
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
    // SAFETY: S10, S16: the registers are set as corosensei demands, so the fiber returns to its runner when
    // the handler does; the dropped frames are a kernel's and those of callbacks that hold nothing.
    unsafe { registers::set(context, exit.handler.setup_trap_handler(|| ())) };
}

/// Forwards the signal to the previous handler.
///
/// # Safety
/// As [`interrupt`].
unsafe fn chain(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(index) = SIGNALS.iter().position(|known| *known == signal) else { return };
    let Some(former) = PREVIOUS_HANDLERS.get().map(|former| &former[index]) else { return };
    // SAFETY: S16: a handler that the program had installed, called as the system would have called it.
    unsafe {
        let sent = (*info).si_code <= 0;
        match former.sa_sigaction {
            // The default action is to ignore it too, whoever sends it: for example for a socket's urgent
            // data.
            libc::SIG_DFL | libc::SIG_IGN if signal == INTERRUPT => {}
            libc::SIG_IGN if sent => {}
            libc::SIG_DFL | libc::SIG_IGN => {
                // Restores the default action. A fault then repeats and a sent signal is raised again, and
                // the process ends.
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

/// The executable segments of the C library and the dynamic linker.
fn c_library_code() -> Vec<Range<usize>> {
    unsafe extern "C" fn note(object: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: S11: the linker passes one object, and the pointer that we gave it.
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
        // SAFETY: S1: a query of the linker.
        let malloc = unsafe { libc::dlsym(libc::RTLD_NEXT, c"malloc".as_ptr()) };
        // A statically linked C library has no object to find.
        assert!(malloc.is_null() || in_it(malloc as usize));
        assert!(!in_it(the_c_library_is_found as *const () as usize));
    }
}
