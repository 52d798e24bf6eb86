//! Side effects of a kernel: printed lines, failed assertions, clocks.

use crate::cases::prelude::*;
use std::fs::File;
use std::io::{Read, Seek, Write, stdout};
use std::os::fd::AsRawFd;

pub(crate) const CASES: &[Case] = cases!("kernel/output":
    assertion_that_holds, clock_moves;
    isolated: printf, printf_of_many_threads, assertion_that_fails, abort
);

/// Captures what is written to standard output meanwhile. Only for a process that runs one case.
fn captured(work: impl FnOnce() -> Outcome) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::wrong(format!("cannot capture standard output: {error}"));
    let path = std::env::temp_dir().join(format!("conformance-output-{}", std::process::id()));
    let mut file =
        File::options().read(true).write(true).create(true).truncate(true).open(&path).map_err(failed)?;
    std::fs::remove_file(&path).map_err(failed)?;
    // SAFETY: S21: this process runs one case; the descriptor is restored below.
    let kept = unsafe {
        flush();
        let kept = libc::dup(1);
        libc::dup2(file.as_raw_fd(), 1);
        kept
    };
    let outcome = work();
    // SAFETY: S21: as above.
    unsafe {
        flush();
        libc::dup2(kept, 1);
        libc::close(kept);
    }
    outcome?;
    let mut text = String::new();
    file.rewind().and_then(|()| file.read_to_string(&mut text)).map_err(failed)?;
    Ok(text)
}

/// Flushes the output buffers of Rust and C.
///
/// # Safety
/// No C stream is closed meanwhile.
unsafe fn flush() {
    // A closed standard output shows as missing text.
    let _ = stdout().flush();
    // SAFETY: S21: null means all streams of the C library.
    unsafe { libc::fflush(null_mut()) };
}

/// Numbers, text, a character: formatted as C does.
fn printf(b: &Bench) -> Outcome {
    let function = b.function("output", "print_line")?;
    let text = captured(|| {
        b.launch(&function, grid(2, 8), args![-7])?;
        b.sync()
    })?;
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let expected =
        ["block 0 thread 3: -7 word 2.50 x 123456789abc", "block 1 thread 3: -7 word 2.50 x 123456789abc"];
    same_all("lines", &lines, &expected)
}

/// Lines of different threads do not mix.
fn printf_of_many_threads(b: &Bench) -> Outcome {
    let function = b.function("output", "print_each")?;
    let text = captured(|| {
        b.launch(&function, grid(5, 100), args![])?;
        b.sync()
    })?;
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    let mut expected: Vec<String> =
        (0..500).map(|i| format!("line of {} in {} end", i % 100, i / 100)).collect();
    expected.sort_unstable();
    same_all("lines", &lines, &expected.iter().map(String::as_str).collect::<Vec<_>>())
}

/// An assertion that holds changes nothing.
fn assertion_that_holds(b: &Bench) -> Outcome {
    let out = b.filled(64, -1)?;
    b.launch(&b.function("assertion", "assert_small")?, grid(1, 64), args![&out, 64])?;
    same_all("out", &out.read()?, &(0..64).collect::<Vec<i32>>())
}

/// An assertion that fails is error 710.
fn assertion_that_fails(b: &Bench) -> Outcome {
    let out = b.filled(64, -1)?;
    b.launch(&b.function("assertion", "assert_small")?, grid(4, 64), args![&out, 3])?;
    expect!(b, hipDeviceSynchronize() => 710);
    Ok(())
}

/// A kernel that aborts is error 719.
fn abort(b: &Bench) -> Outcome {
    let out = b.filled(64, -1)?;
    b.launch(&b.function("output", "give_up")?, grid(4, 64), args![&out])?;
    expect!(b, hipDeviceSynchronize() => 719);
    Ok(())
}

/// Both clocks advance, within a launch and between launches.
fn clock_moves(b: &Bench) -> Outcome {
    let out = b.zeros::<i64>(4)?;
    let mut before = [i64::MIN; 2];
    for _ in 0..3 {
        b.launch(&b.function("output", "clocks")?, grid(1, 1), args![&out, 1_000_000])?;
        let [begin, end, wall_begin, wall_end] = out.read()?[..] else {
            return Err(Failure::wrong("four numbers"));
        };
        ensure(begin < end, format!("clock64 stood still: {begin} {end}"))?;
        ensure(wall_begin < wall_end, format!("wall_clock64 stood still: {wall_begin} {wall_end}"))?;
        ensure(before[1] <= wall_begin, format!("wall_clock64 went back: {} {wall_begin}", before[1]))?;
        before = [end, wall_end];
    }
    Ok(())
}
