//! Faults that are not a kernel's end the process as usual, and the program's own handlers see them.

#[macro_use]
mod common;

use common::apart::{apart, left_by};
use common::shape;
use hip_sys::hip::hipMemcpyKind;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// The process ends by that signal, without a report about a kernel.
fn dies_of(name: &str, signal: c_int, environment: &[(&str, &str)], body: impl FnOnce(&common::Hip)) {
    if let Some(left) = left_by(name, environment, body) {
        assert_eq!(left.signal, Some(signal), "{}", left.text);
        assert!(!left.text.contains("error 700"), "{}", left.text);
    }
}

fn read_nowhere() {
    // SAFETY: S2: deliberately violated; the process ends here.
    let word = unsafe { std::ptr::with_exposed_provenance::<u32>(0x10_0000).read_volatile() };
    println!("{word}");
}

/// The result of waiting for the kernel.
fn read_nowhere_in_a_kernel(hip: &common::Hip) -> u32 {
    let (mut from, mut at, mut to) = (0x10_0000 as *mut c_void, 0_i64, null_mut::<c_void>());
    let kernel = hip.function("test_faults", "read_at");
    hip.launch(kernel, shape(1, 64), null_mut(), arguments![to, from, at]);
    call!(hip, hipDeviceSynchronize())
}

unsafe extern "C" fn fault_in_a_host_function(_: *mut c_void) {
    read_nowhere();
}

#[test]
fn a_fault_of_the_program() {
    dies_of("a_fault_of_the_program", libc::SIGSEGV, &[], |hip| {
        hip.works();
        read_nowhere();
    });
}

#[test]
fn a_fault_of_a_host_function_in_a_stream() {
    dies_of("a_fault_of_a_host_function_in_a_stream", libc::SIGSEGV, &[], |hip| {
        hip.works();
        let stream = hip.stream(1);
        assert_eq!(
            call_optional!(hip, hipLaunchHostFunc(stream, Some(fault_in_a_host_function), null_mut())),
            0
        );
        ok!(hip, hipStreamSynchronize(stream));
    });
}

#[test]
fn a_copy_from_memory_that_the_program_took_away() {
    dies_of("a_copy_from_memory_that_the_program_took_away", libc::SIGSEGV, &[], |hip| {
        hip.works();
        let out = hip.zeros::<u8>(4096);
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: S1: a mapping of this test's own.
        let page = unsafe { libc::mmap(null_mut(), 4096, access, flags, -1, 0) };
        ok!(hip, hipHostRegister(page, 4096, 0));
        // Only protected: if it were unmapped, another thread's new memory might be mapped there.
        // SAFETY: S1: as above; it is not used here any more.
        assert_eq!(unsafe { libc::mprotect(page, 4096, libc::PROT_NONE) }, 0);
        let kind = hipMemcpyKind::hipMemcpyHostToDevice;
        call!(hip, hipMemcpy(out.pointer, page, 4096, kind));
    });
}

#[test]
fn a_stack_overflow_of_the_program() {
    #[expect(unconditional_recursion, reason = "overflows the stack")]
    fn deeper(depth: &mut u64) -> u64 {
        let mut here = [*depth; 64];
        *depth += 1;
        std::hint::black_box(&mut here);
        deeper(depth) + here[7]
    }
    // Rust's own handler prints its message and aborts.
    let left = left_by("a_stack_overflow_of_the_program", &[], |hip| {
        hip.works();
        println!("{}", deeper(&mut 0));
    });
    if let Some(left) = left {
        assert_eq!(left.signal, Some(libc::SIGABRT), "{}", left.text);
        assert!(left.text.contains("has overflowed its stack"), "{}", left.text);
    }
}

#[test]
fn a_signal_that_somebody_sent() {
    dies_of("a_signal_that_somebody_sent", libc::SIGFPE, &[], |hip| {
        hip.works();
        // SAFETY: S1: a signal to this process.
        unsafe { libc::kill(libc::getpid(), libc::SIGFPE) };
        std::thread::sleep(std::time::Duration::from_secs(100));
    });
}

unsafe extern "C" fn own_handler(_: c_int, info: *mut libc::siginfo_t, _: *mut c_void) {
    // SAFETY: S16: the system's information; write and _exit are async-signal-safe.
    unsafe {
        if (*info).si_addr().addr() == 0x10_0000 {
            let text = b"the program's own handler\n";
            libc::write(2, text.as_ptr().cast(), text.len());
            libc::_exit(0);
        }
    }
}

#[test]
fn a_handler_of_the_program() {
    let text = apart("a_handler_of_the_program", &[], |hip| {
        // SAFETY: S16: an async-signal-safe handler, installed before any kernel has run.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = own_handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGSEGV, &action, null_mut());
        }
        // A kernel's fault still fails the launch.
        assert_eq!(read_nowhere_in_a_kernel(hip), 700);
        hip.is_broken_with(700);
        read_nowhere();
        unreachable!();
    });
    if let Some(text) = text {
        assert!(text.contains("the program's own handler"), "{text}");
    }
}

#[test]
fn urgent_data_that_the_program_ignores_leaves_the_watchdog_its_signal() {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;
    apart("urgent_data_that_the_program_ignores_leaves_the_watchdog_its_signal", &[], |hip| {
        // SAFETY: S16: no kernel has run yet, so the signal is not in use.
        unsafe { libc::signal(libc::SIGURG, libc::SIG_IGN) };
        hip.works();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let sender = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let (receiver, _) = listener.accept().expect("it has connected");
        let mut byte = 7_u8;
        let buffer = (&raw mut byte).cast::<c_void>();
        // SAFETY: S1, S16: sockets and a byte of this test's own; a live output buffer.
        let handler = unsafe {
            assert_eq!(libc::fcntl(receiver.as_raw_fd(), libc::F_SETOWN, libc::getpid()), 0);
            assert_eq!(libc::send(sender.as_raw_fd(), buffer, 1, libc::MSG_OOB), 1);
            assert!(common::gate::soon(|| libc::recv(receiver.as_raw_fd(), buffer, 1, libc::MSG_OOB) == 1));
            let mut now: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGURG, std::ptr::null(), &mut now);
            now.sa_sigaction
        };
        assert!(![libc::SIG_DFL, libc::SIG_IGN].contains(&handler));
    });
}

#[test]
fn no_handler_if_so_wished() {
    let environment = &[("HIPSTACK_HOST_TRAPS", "0")];
    dies_of("no_handler_if_so_wished", libc::SIGSEGV, environment, |hip| {
        read_nowhere_in_a_kernel(hip);
    });
}
