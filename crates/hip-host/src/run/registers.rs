//! The registers of interrupted code, as a signal handler reads and changes them.

use corosensei::trap::TrapHandlerRegs;
use libc::{c_void, ucontext_t};

/// # Safety
/// `context` is what the system passed to a handler, here and in the functions below.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn stack_pointer(context: *mut c_void) -> usize {
    // SAFETY: S16: the caller vouches for the context.
    unsafe { (*context.cast::<ucontext_t>()).uc_mcontext.gregs[libc::REG_RSP as usize] as usize }
}

/// # Safety
/// As [`stack_pointer`].
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn program_counter(context: *mut c_void) -> usize {
    // SAFETY: S16: the caller vouches for the context.
    unsafe { (*context.cast::<ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] as usize }
}

/// Whether a page fault was a write: bit 1 of the processor's error code.
///
/// # Safety
/// As [`stack_pointer`].
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn was_write(context: *mut c_void) -> Option<bool> {
    // SAFETY: S16: the caller vouches for the context.
    let registers = unsafe { &(*context.cast::<ucontext_t>()).uc_mcontext.gregs };
    let page_fault = registers[libc::REG_TRAPNO as usize] == 14;
    page_fault.then(|| registers[libc::REG_ERR as usize] & 2 != 0)
}

/// Sets where the code continues when the handler returns.
///
/// # Safety
/// As [`stack_pointer`]; the registers are those of a function that may run there.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn set(context: *mut c_void, to: TrapHandlerRegs) {
    let TrapHandlerRegs { rip, rsp, rbp, rdi, rsi } = to;
    // SAFETY: S16: the caller vouches for the context and the registers.
    let registers = unsafe { &mut (*context.cast::<ucontext_t>()).uc_mcontext.gregs };
    for (register, value) in [
        (libc::REG_RIP, rip),
        (libc::REG_RSP, rsp),
        (libc::REG_RBP, rbp),
        (libc::REG_RDI, rdi),
        (libc::REG_RSI, rsi),
    ] {
        registers[register as usize] = value as i64;
    }
    // The ABI requires the direction flag to be clear at a call; an interrupted copy may have set it.
    registers[libc::REG_EFL as usize] &= !0x400;
}

/// # Safety
/// `context` is what the system passed to a handler, here and in the functions below.
#[cfg(target_arch = "aarch64")]
pub(crate) unsafe fn stack_pointer(context: *mut c_void) -> usize {
    // SAFETY: S16: the caller vouches for the context.
    unsafe { (*context.cast::<ucontext_t>()).uc_mcontext.sp as usize }
}

/// # Safety
/// As [`stack_pointer`].
#[cfg(target_arch = "aarch64")]
pub(crate) unsafe fn program_counter(context: *mut c_void) -> usize {
    // SAFETY: S16: the caller vouches for the context.
    unsafe { (*context.cast::<ucontext_t>()).uc_mcontext.pc as usize }
}

/// Whether a fault was a write: this architecture has no plain field for it.
///
/// # Safety
/// As [`stack_pointer`].
#[cfg(target_arch = "aarch64")]
pub(crate) unsafe fn was_write(_: *mut c_void) -> Option<bool> {
    None
}

/// Sets where the code continues when the handler returns.
///
/// # Safety
/// As [`stack_pointer`]; the registers are those of a function that may run there.
#[cfg(target_arch = "aarch64")]
pub(crate) unsafe fn set(context: *mut c_void, to: TrapHandlerRegs) {
    let TrapHandlerRegs { pc, sp, x0, x1, x29, lr } = to;
    // SAFETY: S16: the caller vouches for the context and the registers.
    let registers = unsafe { &mut (*context.cast::<ucontext_t>()).uc_mcontext };
    (registers.pc, registers.sp) = (pc, sp);
    for (register, value) in [(0, x0), (1, x1), (29, x29), (30, lr)] {
        registers.regs[register] = value;
    }
}
