//! Memory that the threads of a block share.

use crate::backend;
use crate::view::Scope;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// `N` elements that the threads of a block share. Their values are arbitrary when the kernel begins.
///
/// Reading and writing are atomic accesses without order, so that a missing [`barrier`](crate::barrier) gives a wrong number and no undefined
/// behaviour. They compile to the same instructions as ordinary ones, but the compiler does not merge several into a wider one.
pub struct Shared<'a, T, const N: usize> {
    start: *mut T,
    borrow: PhantomData<&'a [T; N]>,
}

impl<'a, T: SharedValue, const N: usize> Shared<'a, T, N> {
    /// Bytes that it takes of a block's shared memory, so that the next one is aligned as well.
    #[doc(hidden)]
    pub const BYTES: u32 = {
        let bytes = (N * size_of::<T>()).next_multiple_of(16);
        assert!(bytes <= u32::MAX as usize, "more shared memory than any device has");
        bytes as u32
    };

    /// The view at this offset in the block's shared memory.
    ///
    /// # Safety
    /// Called in a kernel whose launch has `offset + BYTES` bytes of shared memory; `offset` is a multiple of 16, and no view of another
    /// type or at another offset overlaps.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn at(_: &'a Scope, offset: u32) -> Self {
        // SAFETY: S25: the caller's promise.
        Self { start: unsafe { backend::shared().add(offset as usize) }.cast(), borrow: PhantomData }
    }

    /// Element `index`; past the end it panics.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, index: usize) -> T {
        T::load(self.element(index))
    }

    /// Writes element `index`; past the end it panics.
    #[inline(always)]
    #[track_caller]
    pub fn set(&self, index: usize, value: T) {
        T::store(self.element(index), value);
    }

    /// All elements, for reading: the compiler may read several at once.
    ///
    /// # Safety
    /// Every element was written, before a [`barrier`](crate::barrier) that this thread has passed, and no thread of the block writes one as
    /// long as the reference is used.
    #[inline(always)]
    pub unsafe fn as_array(&self) -> &[T; N] {
        // SAFETY: S25: the view's memory, which nobody writes.
        unsafe { &*self.start.cast::<[T; N]>() }
    }

    #[inline(always)]
    #[track_caller]
    fn element(&self, index: usize) -> &T::Atomic {
        assert!(index < N, "shared memory has fewer elements than the index");
        // SAFETY: S25: in bounds; an atomic has the size and at most the alignment of the 16 bytes at which the memory begins.
        unsafe { &*self.start.add(index).cast::<T::Atomic>() }
    }
}

impl<const N: usize> Shared<'_, u32, N> {
    /// Adds to element `index` and returns what it was, wrapping around; past the end it panics.
    #[doc(alias = "atomicAdd")]
    #[inline(always)]
    #[track_caller]
    pub fn fetch_add(&self, index: usize, value: u32) -> u32 {
        self.element(index).fetch_add(value, Relaxed)
    }
}

/// Values for shared memory: numbers of 4 and 8 bytes.
pub trait SharedValue: Copy + sealed::Sealed {
    /// The atomic of its size.
    #[doc(hidden)]
    type Atomic;
    /// The value there.
    #[doc(hidden)]
    fn load(element: &Self::Atomic) -> Self;
    /// Puts the value there.
    #[doc(hidden)]
    fn store(element: &Self::Atomic, value: Self);
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! shared_values {
    ($($type:ty: $atomic:ty, $to:expr, $from:expr;)*) => {$(
        impl sealed::Sealed for $type {}
        impl SharedValue for $type {
            type Atomic = $atomic;
            #[inline(always)]
            fn load(element: &$atomic) -> Self {
                $from(element.load(Relaxed))
            }
            #[inline(always)]
            fn store(element: &$atomic, value: Self) {
                element.store($to(value), Relaxed);
            }
        }
    )*};
}

shared_values! {
    u32: AtomicU32, core::convert::identity, core::convert::identity;
    i32: AtomicU32, i32::cast_unsigned, u32::cast_signed;
    f32: AtomicU32, f32::to_bits, f32::from_bits;
    u64: AtomicU64, core::convert::identity, core::convert::identity;
    i64: AtomicU64, i64::cast_unsigned, u64::cast_signed;
    f64: AtomicU64, f64::to_bits, f64::from_bits;
}
