//! How MIOpen's C functions are written: a body that returns an outcome, and common checks.

use super::{BAD, Outcome, Status};

/// Defines C functions. The body's outcome becomes the status.
macro_rules! entries {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {
        $($(#[$meta])*
        pub(crate) unsafe extern "C" fn $name($($argument: $type),*) -> $crate::Status {
            let body = || -> $crate::Outcome { $body };
            $crate::entry::status(body())
        })*
    };
}
pub(super) use entries;

/// Ends an entry point.
pub(super) fn status(outcome: Outcome) -> Status {
    outcome.err().unwrap_or(Status::miopenStatusSuccess)
}

/// Fails if the pointer is null.
pub(super) fn there<T>(pointer: *const T) -> Outcome {
    if pointer.is_null() { Err(BAD) } else { Ok(()) }
}

/// Fails if one of the pointers is null.
pub(super) fn all_there<T>(pointers: &[*const T]) -> Outcome {
    pointers.iter().try_for_each(|pointer| there(*pointer))
}

/// Stores a result through the caller's pointer.
///
/// # Safety
/// `pointer` is null or writable.
pub(super) unsafe fn give<T>(pointer: *mut T, value: T) -> Outcome {
    there(pointer)?;
    // SAFETY: S11: not null, and the C contract makes it writable.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Stores a result unless the pointer is null.
///
/// # Safety
/// As [`give`].
pub(super) unsafe fn offer<T>(pointer: *mut T, value: T) {
    if !pointer.is_null() {
        // SAFETY: S11: not null, and the C contract makes it writable.
        unsafe { pointer.write(value) };
    }
}

/// The caller's list.
///
/// # Safety
/// `pointer` is null or points to `count` values.
pub(super) unsafe fn list<T: Copy>(pointer: *const T, count: usize) -> Outcome<Vec<T>> {
    there(pointer)?;
    // SAFETY: S11: not null, and the C contract gives it that many values.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) }.to_vec())
}

/// Stores a list unless the pointer is null.
///
/// # Safety
/// `pointer` is null or has room for the values.
pub(super) unsafe fn offer_list<T: Copy>(pointer: *mut T, values: &[T]) {
    if !pointer.is_null() {
        // SAFETY: S11: not null, and the C contract makes so much writable.
        unsafe { pointer.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
    }
}
