//! Products of matrices for hip-host's other libraries: the sums, which the caller turns into results.
//!
//! ```
//! use hip_host_rocblas::sums::{Factor, of_f32};
//! use std::sync::Mutex;
//!
//! /// # Safety
//! /// There are as many bytes as `to` has elements.
//! unsafe fn bytes(from: *const u8, to: &mut [f32]) {
//!     // SAFETY: S2: the caller vouches for them.
//!     let from = unsafe { std::slice::from_raw_parts(from, to.len()) };
//!     to.iter_mut().zip(from).for_each(|(to, from)| *to = f32::from(*from));
//! }
//!
//! // Columns: [1 2] and [3 4]; the product is that of the matrix and its transpose.
//! let numbers = [1_u8, 2, 3, 4];
//! let [a, b] = [false, true].map(|transposed| Factor::new(numbers.as_ptr(), 1, 2, transposed, bytes));
//! let result = Mutex::new(Vec::new());
//! // SAFETY: S2: both have two rows and two columns.
//! unsafe { of_f32((2, 2, 2), &a, &b, &|tile| result.lock().unwrap().extend_from_slice(tile.sums)) };
//! assert_eq!(result.into_inner().unwrap(), [10.0, 14.0, 14.0, 20.0]);
//! ```

pub use crate::level3::tiles::{Factor, Tile, Widen};

use crate::level3::tiles::sums;
use crate::parallel;

/// Sums in f32 of op(a) op(b) for every element of an m × n result: `finish` gets them in parts that together cover the result, on any
/// thread. With `k` zero the sums are zero, and the factors are not read.
///
/// # Safety
/// op(a) is m × k and op(b) is k × n, of elements that their functions read.
pub unsafe fn of_f32(
    (m, n, k): (usize, usize, usize),
    a: &Factor<f32>,
    b: &Factor<f32>,
    finish: &(dyn Fn(&Tile<'_, f32>) + Sync),
) {
    // SAFETY: S2: the caller vouches for the factors.
    unsafe { sums((m, n, k), a, b, finish) }
}

/// As [`of_f32`], in f64, where sums of integers of 8 bits are exact.
///
/// # Safety
/// As there.
pub unsafe fn of_f64(
    (m, n, k): (usize, usize, usize),
    a: &Factor<f64>,
    b: &Factor<f64>,
    finish: &(dyn Fn(&Tile<'_, f64>) + Sync),
) {
    // SAFETY: S2: the caller vouches for the factors.
    unsafe { sums((m, n, k), a, b, finish) }
}

/// Whether the calling thread can compute sums: one that is ending may have lost what products keep for each thread. It is
/// [`Job::fits`](hip_host::library::Job::fits) of calls that do.
pub fn fits() -> bool {
    parallel::fits()
}
