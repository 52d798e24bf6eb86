//! What the program reports to the checker through `hip_sys::Extensions`: the bytes that the next operation
//! uses, its own uses of memory, and the pieces that its pools hand out.

use super::machine::Extent;
use super::shadow::Access;
use super::{judge, name, thread};
use crate::stream::Stream;
use crate::table::stream_of;
use hip_sys::hip::{hipError_t, hipStream_t};
use std::cell::RefCell;
use std::ffi::c_void;

thread_local! {
    /// A stream's id, and what the next operation on that stream uses.
    static ANNOUNCED: RefCell<Option<(u64, Vec<Extent>)>> = const { RefCell::new(None) };
}

/// Reads the extents that a caller passed; `None` if its pointer is null.
///
/// # Safety
/// `extents` is null or points to `count` values.
unsafe fn read(extents: *const hip_sys::Extent, count: usize) -> Option<Vec<Extent>> {
    if extents.is_null() {
        return None;
    }
    // SAFETY: S11: the caller's list.
    let extents = unsafe { std::slice::from_raw_parts(extents, count) };
    let read = extents.iter().filter(|extent| extent.bytes > 0 && !extent.pointer.is_null()).map(|extent| {
        let base = extent.pointer as usize;
        let access = if extent.access == hip_sys::Access::READ { Access::Read } else { Access::Write };
        Extent { range: base..base.saturating_add(extent.bytes), access }
    });
    Some(read.collect())
}

fn status(outcome: Result<(), hipError_t>) -> hipError_t {
    outcome.err().unwrap_or(hipError_t::hipSuccess)
}

/// See [`hip_sys::Extensions::announce`].
pub(crate) unsafe extern "C" fn announce(
    stream: hipStream_t,
    extents: *const hip_sys::Extent,
    count: usize,
) -> hipError_t {
    status(stream_of(stream).map(|stream| {
        // SAFETY: S11: the caller's list.
        let announced = unsafe { read(extents, count) };
        let announced = announced.map(|extents| (stream.id, extents));
        // A thread that is exiting may have lost its thread-local storage.
        let _ = ANNOUNCED.try_with(|kept| kept.replace(announced));
    }))
}

/// See [`hip_sys::Extensions::touch`].
pub(crate) unsafe extern "C" fn touch(extents: *const hip_sys::Extent, count: usize) -> hipError_t {
    // SAFETY: S11: the caller's list.
    if let Some(extents) = unsafe { read(extents, count) } {
        judge(|machine| machine.touch(thread(), "use of host memory".to_owned(), &extents));
    }
    hipError_t::hipSuccess
}

/// See [`hip_sys::Extensions::reserve`].
pub(crate) unsafe extern "C" fn reserve(
    pointer: *mut c_void,
    bytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    let base = pointer as usize;
    status(stream_of(stream).map(|_| {
        judge(|machine| {
            machine.reserved(base..base.saturating_add(bytes));
            Vec::new()
        });
    }))
}

/// See [`hip_sys::Extensions::release`].
pub(crate) unsafe extern "C" fn release(
    pointer: *mut c_void,
    bytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    let base = pointer as usize;
    status(stream_of(stream).map(|stream| {
        let extents = [Extent { range: base..base.saturating_add(bytes), access: Access::Free }];
        let what = "release of a piece of a pool".to_owned();
        judge(|machine| machine.submit(thread(), name(&stream), &[], what, &extents).1);
    }))
}

/// Takes what the calling thread announced for its next operation on the stream.
pub(super) fn take_announced(stream: &Stream) -> Option<Vec<Extent>> {
    let take =
        |kept: &RefCell<Option<(u64, Vec<Extent>)>>| kept.borrow_mut().take_if(|(id, _)| *id == stream.id);
    ANNOUNCED.try_with(take).ok().flatten().map(|(_, extents)| extents)
}
