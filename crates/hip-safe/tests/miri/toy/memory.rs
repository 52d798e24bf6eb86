//! Memory of devices and pinned memory: blocks of Rust's allocator, and copies by the threads of streams.
#![allow(non_snake_case, reason = "HIP's names")]

use super::streams::{submit, wait_for};
use super::{SUCCESS, SendPtr, set};
use hip_sys::HipTable;
use hip_sys::hip::*;
use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Mutex;

/// What was allocated, by its address.
static BLOCKS: Mutex<BTreeMap<usize, Layout>> = Mutex::new(BTreeMap::new());

pub(super) fn fill(table: &mut HipTable) {
    set!(table, hipMalloc, hipFree, hipMallocAsync, hipFreeAsync, hipHostMalloc, hipHostFree);
    set!(table, hipMemcpyAsync, hipMemcpyWithStream, hipMemcpyPeerAsync, hipMemsetAsync);
}

fn allocate(bytes: usize) -> *mut c_void {
    let layout = Layout::from_size_align(bytes, 512).expect("a size that a test asks for");
    assert!(bytes > 0, "nobody asks for nothing");
    // SAFETY: S15: not of zero bytes; nothing is read.
    let block = unsafe { alloc(layout) };
    assert!(!block.is_null(), "tests ask for little");
    BLOCKS.lock().unwrap().insert(block.addr(), layout);
    block.cast()
}

/// At once: no work is waited for, so that memory which is still in use is a fault.
fn free(block: *mut c_void) -> hipError_t {
    let Some(layout) = BLOCKS.lock().unwrap().remove(&block.addr()) else {
        return hipError_t::hipErrorInvalidValue;
    };
    // SAFETY: S4: it was allocated with this layout, and its owner gives it back.
    unsafe { dealloc(block.cast(), layout) };
    SUCCESS
}

unsafe extern "C" fn hipMalloc(address: *mut *mut c_void, bytes: usize) -> hipError_t {
    // SAFETY: S11: the caller's out-pointer.
    unsafe { address.write(allocate(bytes)) };
    SUCCESS
}

unsafe extern "C" fn hipFree(address: *mut c_void) -> hipError_t {
    free(address)
}

unsafe extern "C" fn hipMallocAsync(
    address: *mut *mut c_void,
    bytes: usize,
    _stream: hipStream_t,
) -> hipError_t {
    // SAFETY: S11: the caller's out-pointer.
    unsafe { hipMalloc(address, bytes) }
}

unsafe extern "C" fn hipFreeAsync(address: *mut c_void, _stream: hipStream_t) -> hipError_t {
    free(address)
}

unsafe extern "C" fn hipHostMalloc(address: *mut *mut c_void, bytes: usize, _flags: c_uint) -> hipError_t {
    // SAFETY: S11: the caller's out-pointer.
    unsafe { hipMalloc(address, bytes) }
}

unsafe extern "C" fn hipHostFree(address: *mut c_void) -> hipError_t {
    free(address)
}

unsafe extern "C" fn hipMemcpyAsync(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    _kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    let (to, from) = (SendPtr(to.cast::<u8>()), SendPtr(from.cast_mut().cast::<u8>()));
    // SAFETY: S2, S7: the caller keeps both ranges until the copy is done.
    submit(stream, move || unsafe { std::ptr::copy(from.get(), to.get(), bytes) });
    SUCCESS
}

unsafe extern "C" fn hipMemcpyWithStream(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    // SAFETY: S11: the same arguments.
    unsafe { hipMemcpyAsync(to, from, bytes, kind, stream) };
    wait_for(stream);
    SUCCESS
}

unsafe extern "C" fn hipMemcpyPeerAsync(
    to: *mut c_void,
    _to_device: c_int,
    from: *const c_void,
    _from_device: c_int,
    bytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    // SAFETY: S11: the same ranges; all devices have the same memory.
    unsafe { hipMemcpyAsync(to, from, bytes, hipMemcpyKind::hipMemcpyDeviceToDevice, stream) }
}

unsafe extern "C" fn hipMemsetAsync(
    to: *mut c_void,
    byte: c_int,
    bytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    let to = SendPtr(to.cast::<u8>());
    // SAFETY: S2: the caller keeps the range until the work is done.
    submit(stream, move || unsafe { to.get().write_bytes(byte as u8, bytes) });
    SUCCESS
}
