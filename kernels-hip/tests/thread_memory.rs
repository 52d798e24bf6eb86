//! What the host's kernels take of every thread's stack before it has run anything.
#![cfg(target_os = "linux")]

use object::Endianness;
use object::elf::PT_TLS;
use object::read::elf::{ElfFile64, ProgramHeader};

/// Memory that blocks share is a static of the thread that runs them, and glibc takes a thread's statics from its stack: of the 2 MiB that
/// Rust gives a thread at least half have to be left.
const MOST: u64 = 1 << 20;

#[test]
fn statics_of_threads_leave_half_of_a_stack() {
    // So that they are linked in.
    std::hint::black_box(kernels_hip::host_entries());
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let program = ElfFile64::<Endianness>::parse(&*program).unwrap();
    let headers = program.elf_program_headers().iter();
    let bytes: u64 = headers
        .filter(|header| header.p_type(program.endian()) == PT_TLS)
        .map(|header| header.p_memsz(program.endian()))
        .sum();
    assert!((64 << 10..=MOST).contains(&bytes), "{bytes} bytes for each thread");
}
