//! The results of calls: outcomes, statuses, and the caller's output pointers.

use hip_sys::catch_panic;
use hip_sys::hip::hipError_t;
use hip_sys::miopen::miopenStatus_t;
use std::ffi::c_int;

/// The outcome of a call, before it becomes a status.
pub(super) type Outcome<T = ()> = Result<T, miopenStatus_t>;

/// An argument is invalid.
pub(super) const BAD: miopenStatus_t = miopenStatus_t::miopenStatusBadParm;
/// A value is invalid; MIOpen returns this for lists.
pub(super) const VALUE: miopenStatus_t = miopenStatus_t::miopenStatusInvalidValue;
/// No solver supports this.
pub(super) const NO_SOLVER: miopenStatus_t = miopenStatus_t::miopenStatusNotImplemented;
/// MIOpen returns this where it throws an exception without a status.
pub(super) const UNKNOWN: miopenStatus_t = miopenStatus_t::miopenStatusUnknownError;

/// The host lacks the memory that the call needs for its computation.
pub(super) const NO_MEMORY: miopenStatus_t = miopenStatus_t::miopenStatusAllocFailed;

/// The product of sizes from the caller.
///
/// # Errors
/// BadParm if it overflows.
pub(super) fn product(sizes: impl IntoIterator<Item = usize>) -> Outcome<usize> {
    sizes.into_iter().try_fold(1_usize, |product, size| product.checked_mul(size)).ok_or(BAD)
}

/// The sum of sizes from the caller.
///
/// # Errors
/// As [`product`].
pub(super) fn sum(sizes: impl IntoIterator<Item = usize>) -> Outcome<usize> {
    sizes.into_iter().try_fold(0_usize, |sum, size| sum.checked_add(size)).ok_or(BAD)
}

/// Ends an entry point: converts the outcome to a status. No panic unwinds into C.
pub(super) fn answer(call: impl FnOnce() -> Outcome) -> miopenStatus_t {
    match catch_panic(call) {
        Ok(outcome) => outcome.err().unwrap_or(miopenStatus_t::miopenStatusSuccess),
        // The panic hook has printed the message.
        Err(_) => miopenStatus_t::miopenStatusInternalError,
    }
}

/// HIP's error as MIOpen's status.
pub(super) fn of_hip(error: hipError_t) -> miopenStatus_t {
    match error {
        hipError_t::hipErrorInvalidValue => BAD,
        hipError_t::hipErrorInvalidHandle | hipError_t::hipErrorContextIsDestroyed => BAD,
        _ => UNKNOWN,
    }
}

/// `Ok` if the condition is true, else the status.
pub(super) fn check(holds: bool, status: miopenStatus_t) -> Outcome {
    if holds { Ok(()) } else { Err(status) }
}

/// Stores a result through the caller's pointer.
///
/// # Safety
/// `out` is null or writable.
pub(super) unsafe fn give<T>(out: *mut T, value: T) -> Outcome {
    check(!out.is_null(), BAD)?;
    // SAFETY: S11: not null, and the C contract makes it writable.
    unsafe { out.write(value) };
    Ok(())
}

/// Stores a result through the caller's pointer unless it is null.
///
/// # Safety
/// `out` is null or writable.
pub(super) unsafe fn offer<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: S11: not null, and the C contract makes it writable.
        unsafe { out.write(value) };
    }
}

/// Stores a list of numbers through the caller's pointer unless it is null.
///
/// # Safety
/// `out` is null or has room for all of them.
pub(super) unsafe fn offer_list(out: *mut c_int, values: impl IntoIterator<Item = usize>) {
    if !out.is_null() {
        for (index, value) in values.into_iter().enumerate() {
            // SAFETY: S11: not null, and the C contract gives it that much room.
            unsafe { out.add(index).write(int(value)) };
        }
    }
}

/// The caller's list.
///
/// # Safety
/// `pointer` is null or points to that many values.
pub(super) unsafe fn list<T: Copy>(pointer: *const T, count: c_int) -> Outcome<Vec<T>> {
    check(!pointer.is_null() && count > 0, VALUE)?;
    // SAFETY: S11: not null, and the C contract makes it that long.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count as usize) }.to_vec())
}

/// A size as C's int; the largest one if it does not fit.
pub(super) fn int(value: usize) -> c_int {
    c_int::try_from(value).unwrap_or(c_int::MAX)
}
