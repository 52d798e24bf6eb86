//! Stream-ordered copies of matrices.

use super::check::{NOT_IMPLEMENTED, Outcome};
use super::handle::{Handle, driven};
use hip_nvidia::library::copy_rows;
use std::ffi::c_void;

/// A batch of matrices: the number of rows, columns and matrices, and each side's leading dimension and stride in elements.
#[derive(Clone, Copy)]
pub(super) struct Matrices {
    pub(super) rows: i64,
    pub(super) columns: i64,
    pub(super) count: i64,
    /// The size of an element in bytes.
    pub(super) bytes: usize,
    pub(super) from: (*const c_void, i64, i64),
    pub(super) to: (*mut c_void, i64, i64),
}

/// Copies each matrix of the batch.
///
/// # Safety
/// The matrices are live until the stream has copied them; source and target do not overlap.
pub(super) unsafe fn move_matrices(handle: &Handle, all: Matrices) -> Outcome {
    let (from, from_leading, from_stride) = all.from;
    let (to, to_leading, to_stride) = all.to;
    // Contiguous matrices are copied as one matrix with more columns.
    let follow = all.count == 1
        || follows(all.columns, from_leading, from_stride) && follows(all.columns, to_leading, to_stride);
    let (columns, count) =
        if follow { (all.columns.checked_mul(all.count), 1) } else { (Some(all.columns), all.count) };
    let size = |elements: i64| usize::try_from(elements).ok()?.checked_mul(all.bytes);
    let (Some(columns), Some(width), Some(from_pitch), Some(to_pitch)) =
        (columns, size(all.rows), size(from_leading), size(to_leading))
    else {
        return Err(NOT_IMPLEMENTED);
    };
    for index in 0..count {
        let byte = |stride: i64| index.wrapping_mul(stride).wrapping_mul(all.bytes as i64) as isize;
        let from = (from.wrapping_byte_offset(byte(from_stride)), from_pitch);
        let to = (to.wrapping_byte_offset(byte(to_stride)), to_pitch);
        // SAFETY: S2, S11: as promised above.
        driven(unsafe { copy_rows(to, from, width, columns as usize, handle.driver_stream()) })?;
    }
    Ok(())
}

fn follows(columns: i64, leading: i64, stride: i64) -> bool {
    columns.checked_mul(leading) == Some(stride)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_follow_each_other_when_the_stride_is_their_columns() {
        assert!(follows(3, 5, 15));
        assert!(!follows(3, 5, 16) && !follows(3, 5, 0) && !follows(i64::MAX, 2, 0));
    }
}
