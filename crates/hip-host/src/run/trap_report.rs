//! The error code and message for a fault. Runs outside the handler, so it may take locks.

use super::trap::{INTERRUPT, Trap};
use super::watchdog;
use crate::failure::{ILLEGAL_ADDRESS, LAUNCH_FAILURE, TIMED_OUT};
use crate::memory;

/// Addresses below this are a null pointer plus an offset: the system maps no memory there.
const NULL_END: usize = 64 << 10;
/// `si_code` of a fault whose address the system does not know.
const NO_ADDRESS: i32 = 0x80;

/// The error code and the message.
pub(crate) fn explain(trap: &Trap) -> (u32, String) {
    match trap.signal {
        INTERRUPT => (TIMED_OUT, timed_out()),
        libc::SIGFPE => {
            (LAUNCH_FAILURE, "integer division by zero, or of the least integer by -1".to_owned())
        }
        libc::SIGILL | libc::SIGTRAP => {
            (LAUNCH_FAILURE, "illegal instruction (a trap, or code that cannot be reached)".to_owned())
        }
        _ if trap.overflow => {
            (LAUNCH_FAILURE, "stack overflow, infinite recursion? A thread has 64 KiB of stack".to_owned())
        }
        libc::SIGBUS if trap.code == libc::BUS_ADRALN => {
            (ILLEGAL_ADDRESS, format!("misaligned address {:#x}", trap.address))
        }
        _ => (ILLEGAL_ADDRESS, illegal_address(trap)),
    }
}

/// The message for a launch that took too long.
pub(crate) fn timed_out() -> String {
    let ms = watchdog::limit().map_or(0, |limit| limit.as_millis());
    format!("the launch took longer than {ms} ms (HIPSTACK_HOST_WATCHDOG_MS): an endless loop?")
}

fn illegal_address(trap: &Trap) -> String {
    if cfg!(target_arch = "x86_64") && trap.signal == libc::SIGSEGV && trap.code == NO_ADDRESS {
        return "illegal address: one that no memory can have, or not aligned for a vector instruction"
            .to_owned();
    }
    let access = match trap.write {
        Some(true) => " (written)",
        Some(false) => " (read)",
        None => "",
    };
    let address = trap.address;
    let location = match address {
        0 => "null pointer".to_owned(),
        1..NULL_END => format!("null pointer, and {address} bytes"),
        _ => memory::describe(address),
    };
    format!("illegal address {address:#x}{access}: {location}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trap(signal: i32, code: i32, address: usize) -> Trap {
        Trap { signal, code, address, overflow: false, write: None }
    }

    #[test]
    fn each_signal_has_its_code() {
        assert_eq!(explain(&trap(libc::SIGFPE, 1, 0)).0, 719);
        assert_eq!(explain(&trap(libc::SIGILL, 1, 0)).0, 719);
        assert_eq!(explain(&trap(INTERRUPT, -6, 0)).0, 702);
        let (code, why) = explain(&trap(libc::SIGSEGV, 1, 0));
        assert_eq!((code, why.as_str()), (700, "illegal address 0x0: null pointer"));
        let written = Trap { write: Some(true), ..trap(libc::SIGSEGV, 1, 40) };
        assert_eq!(explain(&written).1, "illegal address 0x28 (written): null pointer, and 40 bytes");
        let deep = Trap { overflow: true, ..trap(libc::SIGSEGV, 2, 0x7000_0000) };
        let (code, why) = explain(&deep);
        assert_eq!(code, 719);
        assert!(why.starts_with("stack overflow, infinite recursion?"), "{why}");
    }
}
