//! Deeply nested source: rewriting it must not recurse, and its time must grow linearly.

use super::rewrite;
use crate::rtc::source::REACH;
use std::thread;

const NESTED: [(&str, &str); 6] =
    [("{", "}"), ("(", ")"), ("<", ">"), ("namespace a {", "}"), ("template <class T, ", ">"), ("a<", ">")];

/// Rewrites source nested to that depth.
fn rewrite_nested((open, close): (&str, &str), deep: usize) {
    rewrite(&format!("__global__ void k{} {}", open.repeat(deep), close.repeat(deep)));
    rewrite(&open.repeat(deep));
    rewrite(&close.repeat(deep));
}

/// CPU time of this thread in nanoseconds; other threads do not count.
fn cpu_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: S11: the output pointer is live.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The time to rewrite it: the least of three measurements, since a busy machine only adds to it.
fn time(pair: (&str, &str), deep: usize) -> u64 {
    let once = |_| {
        let begun = cpu_time();
        rewrite_nested(pair, deep);
        cpu_time() - begun
    };
    (0..3).map(once).min().expect("three times")
}

/// Recursion would take more than 64 bytes of stack for each level.
#[test]
fn deep_nesting_takes_no_stack() {
    let deep = 2000;
    let rewriting = move || NESTED.iter().for_each(|pair| rewrite_nested(*pair, deep));
    thread::Builder::new().stack_size(64 * deep).spawn(rewriting).unwrap().join().unwrap();
}

/// Each level looks at most `REACH` tokens ahead. So beyond that, three times the depth takes little more
/// than three times as long. If each level looked at all others, it would take nine times as long.
#[test]
fn deep_nesting_takes_little_time() {
    for pair in NESTED {
        let (some, more) = (time(pair, 2 * REACH), time(pair, 6 * REACH));
        assert!(more < 6 * some, "{pair:?}: {some} ns and {more} ns");
    }
}
