//! Fallible allocations, for sizes that come from a shape, a file or another library.

use crate::error::{Error, ErrorKind, Result};

/// An empty vector with capacity for `count` elements.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`] of `operation` if the allocation fails.
pub(crate) fn vec_with_capacity<T>(count: usize, operation: &'static str) -> Result<Vec<T>> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(count).map_err(|_| out_of_memory::<T>(count, operation))?;
    Ok(elements)
}

/// `count` zero bytes.
///
/// # Errors
/// As [`vec_with_capacity`].
pub(crate) fn zero_bytes(count: usize, operation: &'static str) -> Result<Vec<u8>> {
    let mut bytes = vec_with_capacity(count, operation)?;
    bytes.resize(count, 0);
    Ok(bytes)
}

/// A copy of `elements`.
///
/// # Errors
/// As [`vec_with_capacity`].
pub(crate) fn copy_of<T: Copy>(elements: &[T], operation: &'static str) -> Result<Vec<T>> {
    let mut copy = vec_with_capacity(elements.len(), operation)?;
    copy.extend_from_slice(elements);
    Ok(copy)
}

/// The error of `operation` if the allocation of `count` elements fails.
pub(crate) fn out_of_memory<T>(count: usize, operation: &'static str) -> Error {
    Error::new(operation, ErrorKind::OutOfMemory { bytes: count.saturating_mul(size_of::<T>()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_that_fails_is_an_error() {
        // 512 TiB; more than the largest capacity of a vector; and more than the address space.
        for count in [1 << 46, 1 << 60, 1 << 61, usize::MAX] {
            let error = vec_with_capacity::<f64>(count, "test").unwrap_err();
            let bytes = count.saturating_mul(8);
            assert_eq!(error.to_string(), format!("test: out of memory: {bytes} bytes asked for"));
        }
        assert_eq!(copy_of(&[1, 2], "test").unwrap(), [1, 2]);
        assert_eq!(zero_bytes(3, "test").unwrap(), [0; 3]);
    }
}
