//! Views of memory that a kernel writes. Each type says which elements a thread may write, so that no two threads write the same one.

mod out;
mod per_block;
mod rows;
mod scatter;

pub use out::Out;
pub use per_block::PerBlock;
pub use rows::{Columns, Rows};
pub use scatter::Scatter;

use core::marker::PhantomData;

/// How long a view may live: as long as the kernel's entry, which has one as a local. Without it a parameter could be `'static`, by an alias:
///
/// ```compile_fail
/// type Out<T> = hip_kernel::Out<'static, T>;
/// #[hip_kernel::kernel]
/// fn keep(y: Out<f32>) {}
/// ```
#[doc(hidden)]
pub struct Scope;

/// Elements in global memory that the kernel alone uses. They have at least one byte each, for `#[kernel]` refuses others:
///
/// ```compile_fail,E0080
/// # use hip_kernel::{Out, kernel};
/// #[kernel]
/// fn set(mut y: Out<()>) {
///     if let Some(y) = y.own() {
///         *y = ();
///     }
/// }
/// ```
/// ```compile_fail,E0080
/// #[hip_kernel::kernel]
/// fn read(x: &[[f32; 0]]) {
///     assert!(x.is_empty());
/// }
/// ```
/// ```
/// #[hip_kernel::kernel]
/// fn read(x: &[[f32; 1]]) {
///     assert!(x.is_empty());
/// }
/// ```
struct Elements<'a, T> {
    start: *mut T,
    len: usize,
    borrow: PhantomData<&'a mut [T]>,
}

impl<T> Elements<'_, T> {
    /// # Safety
    /// `len` elements of at least one byte lie at `start`, valid for reading and writing as long as the view lives. Other views of them are of
    /// the same launch.
    unsafe fn new(start: *mut T, len: usize) -> Self {
        Self { start, len, borrow: PhantomData }
    }

    /// The element, if there is one.
    ///
    /// # Safety
    /// No other thread of the launch uses this element, and the reference is the only one of this thread.
    #[inline(always)]
    unsafe fn only(&mut self, index: usize) -> Option<&mut T> {
        if index < self.len {
            // SAFETY: S25: in bounds, and nobody else uses it. Memory with an element of some bytes has an address; saying so spares the
            // comparison with null by which an `Option` of a reference is read.
            unsafe {
                let element = self.start.add(index);
                core::hint::assert_unchecked(!element.is_null());
                Some(&mut *element)
            }
        } else {
            None
        }
    }
}

/// The view that a kernel gets of `len` elements that are only read.
///
/// # Safety
/// `len` elements of at least one byte lie at `start`, which nobody writes while the kernel runs.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn slice<T>(_: &Scope, start: *const T, len: usize) -> &[T] {
    if len == 0 {
        // An empty buffer has no address.
        return &[];
    }
    // SAFETY: S25: the caller's promise.
    unsafe { core::slice::from_raw_parts(start, len) }
}
