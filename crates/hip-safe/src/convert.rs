//! Between C's numbers and strings and ours.

pub(crate) use hip_sys::text_in as text;
use std::ffi::c_int;

/// A C `int` that counts something: negative ones count nothing.
pub(crate) fn count(value: c_int) -> usize {
    usize::try_from(value).unwrap_or(0)
}

/// As [`count`], for what we keep in 32 bits.
pub(crate) fn count32(value: c_int) -> u32 {
    u32::try_from(value).unwrap_or(0)
}

/// Three C `int`s that count something.
pub(crate) fn dimensions(values: [c_int; 3]) -> [u32; 3] {
    values.map(count32)
}
