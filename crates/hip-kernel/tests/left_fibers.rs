//! A thread that was left when its launch failed: its stack stays as it is, and the OS thread that ran it is in no kernel any more. One test,
//! because a device keeps its error.

use hip_kernel::{Out, Shared, barrier, kernel, thread_idx};
use hip_safe::{Device, LaunchConfig, Result};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread::sleep;
use std::time::{Duration, Instant};

const MAGIC: u64 = 0x0123_4567_89ab_cdef;

/// What the thread that outlives its kernel found on the kernel's stack.
static FOUND: AtomicU64 = AtomicU64::new(0);
/// 1 when that thread may look.
static LOOK: AtomicU64 = AtomicU64::new(0);

/// Thread 0 lends a local to an OS thread and waits; thread 1 fails the launch.
#[kernel]
fn lend(mut y: Out<u32>) {
    let local = [MAGIC; 512];
    if thread_idx().x == 1 {
        panic!("thread 1 fails");
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while LOOK.load(SeqCst) == 0 {
                sleep(Duration::from_millis(1));
            }
            let right = local.iter().all(|one| std::hint::black_box(*one) == MAGIC);
            FOUND.store(if right { MAGIC } else { 1 }, SeqCst);
        });
        barrier();
    });
    if let Some(y) = y.own() {
        *y = local[0] as u32;
    }
}

/// Uses the whole stack of many fibers.
#[kernel]
fn fill(mut y: Out<u64>, sum: Shared<u64, 1>) {
    let mut local = [7_u64; 4096];
    std::hint::black_box(&mut local);
    sum.set(0, local[0]);
    barrier();
    if let Some(y) = y.own() {
        *y = local[4095] + sum.get(0);
    }
}

/// Half of the threads wait at another barrier, which is on the same line.
#[kernel]
#[expect(clippy::if_same_then_else, reason = "the barriers are two calls")]
fn part(mut y: Out<u32>) {
    let even = thread_idx().x.is_multiple_of(2);
    let () = if even { barrier() } else { barrier() };
    if let Some(y) = y.own() {
        *y = 1;
    }
}

#[test]
fn a_left_stack_is_not_used_again() -> Result<()> {
    let failing = Device::new(&hip_host::platform(), 0)?.new_stream()?;
    let mut y = failing.alloc_zeros::<u32>(2)?;
    Lend::load(failing.device())?.launch(&failing, LaunchConfig::linear(2, 2), &mut y)?;
    let text = failing.synchronize().expect_err("the launch fails").to_string();
    assert!(text.contains("thread 1 fails"), "{text}");

    let stream = Device::new(&hip_host::platform(), 1)?.new_stream()?;
    let mut y = stream.alloc_zeros::<u64>(256)?;
    Fill::load(stream.device())?.launch(&stream, LaunchConfig::linear(256, 256), &mut y)?;
    assert_eq!(stream.download(&y)?, [14; 256]);
    LOOK.store(1, SeqCst);
    let begin = Instant::now();
    while FOUND.load(SeqCst) == 0 && begin.elapsed() < Duration::from_secs(10) {
        sleep(Duration::from_millis(1));
    }
    assert_eq!(FOUND.load(SeqCst), MAGIC, "the stack was used again");

    // Threads are left at two barriers. What asks for the running thread afterwards is told that there is none.
    let mut y = stream.alloc_zeros::<u32>(4)?;
    Part::load(stream.device())?.launch(&stream, LaunchConfig::linear(4, 4), &mut y)?;
    let text = stream.synchronize().expect_err("the launch fails").to_string();
    let line =
        include_str!("left_fibers.rs").lines().position(|line| line.contains("if even {")).unwrap_or(0) + 1;
    assert!(text.contains(&format!("2 wait at line {line}, 2 at line {line}")), "{text}");
    assert!(std::panic::catch_unwind(thread_idx).is_err());
    assert!(std::panic::catch_unwind(barrier).is_err());
    Ok(())
}
