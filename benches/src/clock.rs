//! CPU time.

use std::time::Duration;

/// The CPU time of this process, over all its threads. Other programs hardly affect it.
pub fn processor_time() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: S1: a live output pointer.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_grows_with_work() {
        let start = super::processor_time();
        while super::processor_time() == start {}
        assert!(super::processor_time() > start);
    }
}
