//! One call of rocSOLVER: calls of cuSOLVER on the handle's stream and workspace.

use crate::functions::{Cusolver, Handle};
use crate::library::open;
use hip_nvidia::library::{RawStream, Temporary};
use hip_nvidia_rocblas::{Above, with_handle};
use hip_sys::hip::hipError_t;
pub(crate) use hip_sys::provider::ensure;
use hip_sys::provider::{Batched, Context};
use hip_sys::rocblas::{rocblas_handle, rocblas_status};
use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

pub(crate) type Status = rocblas_status;

/// The outcome of a call: success, or another status.
pub(crate) type Outcome<T = ()> = Result<T, Status>;

pub(crate) const SIZE: Status = Status::rocblas_status_invalid_size;
pub(crate) const VALUE: Status = Status::rocblas_status_invalid_value;
pub(crate) const NOT_IMPLEMENTED: Status = Status::rocblas_status_not_implemented;
const MEMORY: Status = Status::rocblas_status_memory_error;
pub(crate) const INTERNAL: Status = Status::rocblas_status_internal_error;

/// The bytes at the beginning of a workspace that hold an `info` that nobody asked for.
const INFO_BYTES: usize = 256;

/// cuSOLVER's status as an outcome.
pub(crate) fn done(code: u32) -> Outcome {
    match code {
        0 => Ok(()),
        2 => Err(MEMORY),
        3 => Err(VALUE),
        4 => Err(Status::rocblas_status_arch_mismatch),
        9 => Err(NOT_IMPLEMENTED),
        _ => Err(INTERNAL),
    }
}

/// The driver's status as an outcome.
pub(crate) fn driven<T>(result: Result<T, hipError_t>) -> Outcome<T> {
    result.map_err(|error| if error == hipError_t::hipErrorOutOfMemory { MEMORY } else { INTERNAL })
}

/// A context of cuSOLVER, which lives as long as rocBLAS's handle.
struct Solver(Handle);

// SAFETY: S8: an address; a rocBLAS handle is used by one thread at a time.
unsafe impl Send for Solver {}
// SAFETY: S8: as above.
unsafe impl Sync for Solver {}

impl Drop for Solver {
    fn drop(&mut self) {
        if let Ok(cusolver) = open() {
            // SAFETY: S11: it was live, and nobody else has it any more. What it answers nobody waits for.
            unsafe { (cusolver.destroy)(self.0) };
        }
    }
}

/// What a call works with.
pub(crate) struct Work {
    pub(crate) cusolver: &'static Cusolver,
    pub(crate) raw: Handle,
    /// How many members the batch has.
    pub(crate) members: usize,
    pub(crate) handle: rocblas_handle,
    pub(crate) stream: RawStream,
    start: *mut c_void,
    bytes: usize,
    /// Work memory beyond the workspace.
    more: RefCell<Vec<Temporary>>,
}

impl Work {
    /// An `info` that nobody asked for.
    pub(crate) fn info(&self) -> *mut c_int {
        self.start.cast()
    }

    /// Work memory for so many elements.
    pub(crate) fn space<T>(&self, elements: usize) -> Outcome<*mut T> {
        let needed = elements.checked_mul(size_of::<T>()).and_then(|bytes| bytes.checked_add(INFO_BYTES));
        let needed = needed.ok_or(MEMORY)?;
        if needed <= self.bytes {
            return Ok(self.start.wrapping_byte_add(INFO_BYTES).cast());
        }
        // cuSOLVER asks for tens of megabytes for some small matrices.
        // SAFETY: S11: the stream is the handle's, whose device is current until the call returns.
        let memory = driven(unsafe { Temporary::new(needed, self.stream) })?;
        let start = memory.at();
        self.more.borrow_mut().push(memory);
        Ok(start)
    }
}

/// Calls `body` with cuSOLVER on the handle's stream.
pub(crate) fn with(context: Context, body: impl FnOnce(&Work) -> Outcome) -> Status {
    with_handle(context.handle, |handle: Above<'_>| {
        let members = usize::try_from(context.batch).map_err(|_| SIZE)?;
        let cusolver = open().map_err(|_| INTERNAL)?;
        let Solver(raw) = *handle.keep(|| {
            let mut raw = null_mut();
            // SAFETY: S1: a live variable; the device's context is current.
            done(unsafe { (cusolver.create)(&mut raw) })?;
            Ok(Solver(raw))
        })?;
        // SAFETY: S11: live handles.
        done(unsafe { (cusolver.set_stream)(raw, handle.stream()) })?;
        let (start, bytes) = handle.workspace();
        ensure(bytes >= INFO_BYTES, MEMORY)?;
        let (handle, stream) = (context.handle, handle.stream());
        body(&Work { cusolver, raw, members, handle, stream, start, bytes, more: RefCell::default() })
    })
}

/// The address of a member.
pub(crate) fn member<T>(operand: Batched<T>, index: usize) -> *mut T {
    operand.address.wrapping_offset(operand.stride.wrapping_mul(index as i64) as isize)
}
