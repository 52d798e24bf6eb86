//! Memory that ends where an input ends: the next byte is on a page without read permission.
//!
//! The pages of the input are those of a file, so that the input survives the process that it kills.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::{null_mut, slice_from_raw_parts};

const PAGE: usize = 4096;
/// The largest input of a run, in bytes.
pub(super) const CAPACITY: usize = 2 << 20;

/// The memory for one input at a time.
pub(super) struct Guarded {
    start: *mut u8,
    /// The file's bytes: a page that starts with the input's number and length, two words of 8 bytes, and then the pages of
    /// the input.
    length: usize,
}

// SAFETY: S8: the pages belong to the value, and only it points to them.
unsafe impl Send for Guarded {}

/// The input that was being read when its process ended.
pub(super) struct Left {
    pub(super) index: u64,
    pub(super) bytes: Vec<u8>,
}

impl Guarded {
    /// Maps a new file, for inputs of at most so many bytes.
    pub(super) fn new(path: &Path, capacity: usize) -> Result<Self, String> {
        let fail = |e: std::io::Error| format!("cannot map {}: {e}", path.display());
        let options = OpenOptions::new().read(true).write(true).create(true).truncate(true).clone();
        let file = options.open(path).map_err(fail)?;
        let length = PAGE + capacity.next_multiple_of(PAGE);
        file.set_len(length as u64).map_err(fail)?;
        let start = map(&file, length).ok_or_else(|| fail(std::io::Error::last_os_error()))?;
        Ok(Self { start, length })
    }

    /// Copies an input to the end of the memory, cut if it is too long. [`Guarded::done`] ends its use.
    pub(super) fn put(&mut self, index: u64, input: &[u8]) -> &[u8] {
        let input = &input[..input.len().min(self.length - PAGE)];
        self.head(index, input.len() as u64 + 1);
        // SAFETY: S12: the pages are ours, and the input fits before their end.
        unsafe {
            let start = self.start.add(self.length - input.len());
            start.copy_from_nonoverlapping(input.as_ptr(), input.len());
            &*slice_from_raw_parts(start, input.len())
        }
    }

    /// Notes that the input was read.
    pub(super) fn done(&mut self) {
        self.head(0, 0);
    }

    fn head(&mut self, index: u64, length: u64) {
        // SAFETY: S12: the first two words of our pages.
        unsafe { self.start.cast::<[u64; 2]>().write([index, length]) };
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: S4: our own mapping, and nothing borrows from it any more. A failure leaves it mapped.
        unsafe { libc::munmap(self.start.cast(), self.length + PAGE) };
    }
}

/// The pages of the file, and one page behind them without read permission.
fn map(file: &File, length: usize) -> Option<*mut u8> {
    let (none, both) = (libc::PROT_NONE, libc::PROT_READ | libc::PROT_WRITE);
    let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: S4: new pages, and the file's over the first of them.
    unsafe {
        let start = libc::mmap(null_mut(), length + PAGE, none, anonymous, -1, 0);
        if start == libc::MAP_FAILED {
            return None;
        }
        let shared = libc::MAP_SHARED | libc::MAP_FIXED;
        let mapped = libc::mmap(start, length, both, shared, file.as_raw_fd(), 0);
        (mapped == start).then_some(start.cast())
    }
}

/// The input in a file that an ended process had mapped; `None` if it was not reading one.
pub(super) fn left_in(path: &Path) -> Option<Left> {
    let bytes = std::fs::read(path).ok()?;
    let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (index, length) = (word(0)?, usize::try_from(word(8)?.checked_sub(1)?).ok()?);
    let start = bytes.len().checked_sub(length)?;
    Some(Left { index, bytes: bytes[start..].to_vec() })
}

/// Limits this process's memory to so many bytes: a larger request ends the process, which the parent reports.
pub(super) fn limit_memory(bytes: u64) -> Result<(), String> {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: S1: the C function's contract: a live structure.
    match unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) } {
        0 => Ok(()),
        _ => Err(format!("cannot limit memory: {}", std::io::Error::last_os_error())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_ends_at_the_guard_page_and_survives_in_the_file() {
        let path = std::env::temp_dir().join(format!("xtask-fuzz-{}", std::process::id()));
        let mut guarded = Guarded::new(&path, 100).expect("a writable folder");
        let input = guarded.put(7, b"abc");
        assert_eq!(input, b"abc");
        assert!(input.as_ptr_range().end.addr().is_multiple_of(PAGE));
        let left = left_in(&path).expect("it is being read");
        assert_eq!((left.index, &left.bytes[..]), (7, &b"abc"[..]));
        guarded.done();
        assert!(left_in(&path).is_none());
        std::fs::remove_file(&path).expect("ours");
    }
}
