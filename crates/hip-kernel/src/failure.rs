//! What a kernel says before it stops itself: a record in the host's memory, which hip-safe reads after the failure.
//!
//! A kernel has as many registers as the functions that it might call, whether it panics or not. So this takes nothing of a panic's message,
//! for which it would need those of `core::fmt`, and formats no number: hip-safe does.

use core::panic::Location;
use core::sync::atomic::{AtomicU32, Ordering};

/// The address of a record, which hip-safe puts here when it loads the module; 0 otherwise.
#[cfg(not(test))]
#[unsafe(export_name = "hip_kernel_failure")]
static RECORD: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);

/// What hip-safe's `code/failure.rs` reads.
#[repr(C)]
struct Record {
    /// [`EMPTY`], [`WRITING`] or [`TOLD`].
    state: AtomicU32,
    line: u32,
    column: u32,
    block: [u32; 3],
    thread: [u32; 3],
    file_len: u32,
    file: [u8; 472],
}

const _: () = assert!(size_of::<Record>() == 512);

const EMPTY: u32 = 0;
const WRITING: u32 = 1;
const TOLD: u32 = 2;

/// Writes the location and the thread. The first thread that panics does, and no other.
#[cfg(not(test))]
#[cold]
#[inline(never)]
pub(crate) fn tell(at: &Location<'_>) {
    let record = RECORD.load(Ordering::Relaxed) as *mut Record;
    if !record.is_null() {
        // SAFETY: S25: hip-safe gives a record that outlives the module's kernels.
        unsafe { write(record, at, crate::backend::block_idx(), crate::backend::thread_idx()) };
    }
}

/// # Safety
/// The record is live, and accessed by this function alone, or by hip-safe after the launch.
#[inline(always)]
unsafe fn write(record: *mut Record, at: &Location<'_>, block: [u32; 3], thread: [u32; 3]) {
    // SAFETY: S25: the record is live, and its first word is accessed atomically.
    let state = unsafe { &(*record).state };
    if state.compare_exchange(EMPTY, WRITING, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        // SAFETY: S25: this thread alone has changed the word.
        unsafe { fill(record, at, block, thread) };
        state.store(TOLD, Ordering::Release);
    }
    // The first thread that stops ends the others, so all wait until the record is complete. A number of times, so that nothing hangs.
    let mut turns = 0;
    while state.load(Ordering::Acquire) == WRITING && turns < 1 << 20 {
        turns += 1;
    }
}

/// # Safety
/// The record is live, and this thread alone writes behind its first word.
#[inline(always)]
unsafe fn fill(record: *mut Record, at: &Location<'_>, block: [u32; 3], thread: [u32; 3]) {
    let (file, room) = (at.file().as_bytes(), size_of::<Record>() - 40);
    let len = if file.len() < room { file.len() } else { room };
    // SAFETY: S25: the caller's promise; `len` is at most the length of both texts.
    unsafe {
        (*record).line = at.line();
        (*record).column = at.column();
        (*record).block = block;
        (*record).thread = thread;
        (*record).file_len = len as u32;
        let mut index = 0;
        while index < len {
            // By volatile accesses, or the compiler makes a call of it.
            let byte = file.as_ptr().add(index).read_volatile();
            (&raw mut (*record).file).cast::<u8>().add(index).write_volatile(byte);
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AtomicU32, Location, Record, TOLD, write};

    #[test]
    fn the_first_thread_tells_its_location() {
        let (state, block, thread) = (AtomicU32::new(0), [0; 3], [0; 3]);
        let mut record = Record { state, line: 0, column: 0, block, thread, file_len: 0, file: [0; 472] };
        let here = Location::caller();
        for thread in [[7, 0, 0], [8, 0, 0]] {
            // SAFETY: S25: a local.
            unsafe { write(&raw mut record, here, [1, 2, 3], thread) };
        }
        assert_eq!(
            (record.state.into_inner(), record.line, record.column),
            (TOLD, here.line(), here.column())
        );
        assert_eq!((record.block, record.thread), ([1, 2, 3], [7, 0, 0]));
        assert_eq!(&record.file[..record.file_len as usize], here.file().as_bytes());
    }
}
