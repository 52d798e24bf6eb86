//! Alignment of complex numbers. cuBLAS wants them aligned to their whole size; rocBLAS only to one of their two parts. A misaligned
//! scalar or result in host memory gets an aligned copy. A misaligned operand in device memory is refused. Members of a batch by
//! addresses are not checked, because the addresses are in device memory;
//! rocblas-safe checks those.

use super::check::{Outcome, POINTER, ensure};
use super::convert::data_type;
use super::handle::Handle;
use hip_sys::rocblas::{rocblas_datatype, rocblas_diagonal, rocblas_fill, rocblas_operation, rocblas_side};
use std::ffi::c_void;

/// The size of the largest number in bytes.
const WIDEST: usize = size_of::<Room>();

#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Room([u8; 16]);

/// A scalar at an aligned address.
pub(super) struct Held<T> {
    copy: Room,
    /// The caller's address, unless the copy is used.
    theirs: Option<*const T>,
}

impl<T> Held<T> {
    /// A scalar of so many bytes, at most 16.
    ///
    /// # Safety
    /// The scalar is null, or has so many bytes and is live if scalars are on the host.
    unsafe fn of(on_host: bool, scalar: *const T, bytes: usize) -> Outcome<Self> {
        if scalar.is_null() || scalar.addr().is_multiple_of(bytes) {
            return Ok(Self::there(scalar));
        }
        ensure(on_host && bytes <= WIDEST, POINTER)?;
        let mut copy = Room([0; WIDEST]);
        // SAFETY: S11: as promised above; there is room for so many.
        unsafe { scalar.cast::<u8>().copy_to_nonoverlapping(copy.0.as_mut_ptr(), bytes) };
        Ok(Self { copy, theirs: None })
    }

    /// The aligned address.
    pub(super) fn there(scalar: *const T) -> Self {
        Self { copy: Room([0; WIDEST]), theirs: Some(scalar) }
    }

    pub(super) fn pointer(&self) -> *const T {
        self.theirs.unwrap_or_else(|| self.copy.0.as_ptr().cast())
    }
}

/// A scalar whose type is an argument.
///
/// # Safety
/// The scalar is null, or of that type and live if scalars are on the host.
pub(super) unsafe fn hold_typed(
    handle: &Handle,
    scalar: *const c_void,
    data: rocblas_datatype,
) -> Outcome<Held<c_void>> {
    let (_, bytes) = data_type(data)?;
    // SAFETY: S11: as promised above.
    unsafe { Held::of(handle.on_host(), scalar, bytes) }
}

/// Both scalars of a product.
///
/// # Safety
/// Each is null, or live if scalars are on the host.
pub(super) unsafe fn hold_both<T>(
    handle: &Handle,
    (alpha, beta): (*const T, *const T),
) -> Outcome<[Held<T>; 2]> {
    // SAFETY: S11: as promised above.
    unsafe { Ok([alpha.hold(handle)?, beta.hold(handle)?]) }
}

/// An argument that may be copied while cuBLAS reads it. Only scalars are.
pub(super) trait Hold: Sized {
    type Held;
    /// # Safety
    /// A scalar is null, or live if scalars are on the host.
    unsafe fn hold(self, handle: &Handle) -> Outcome<Self::Held>;
    fn held(held: &Self::Held) -> Self;
}

impl<T> Hold for *const T {
    type Held = Held<T>;
    unsafe fn hold(self, handle: &Handle) -> Outcome<Held<T>> {
        // SAFETY: S11: as promised.
        unsafe { Held::of(handle.on_host(), self, size_of::<T>()) }
    }
    fn held(held: &Held<T>) -> Self {
        held.pointer()
    }
}

macro_rules! as_it_is {
    ($($type:ty),*) => {$(
        impl Hold for $type {
            type Held = Self;
            unsafe fn hold(self, _: &Handle) -> Outcome<Self> { Ok(self) }
            fn held(held: &Self) -> Self { *held }
        }
    )*};
}

as_it_is!(i32, i64, rocblas_operation, rocblas_fill, rocblas_diagonal, rocblas_side);

/// Fails if elements in device memory are not aligned for cuBLAS.
pub(super) fn aligned<T>(elements: *const T) -> Outcome {
    aligned_to(elements.cast(), size_of::<T>())
}

/// [`aligned`] for elements of so many bytes.
pub(super) fn aligned_to(elements: *const c_void, bytes: usize) -> Outcome {
    ensure(elements.addr().is_multiple_of(bytes), POINTER)
}

/// Calls with an aligned address for a number of so many bytes that the call writes, or reads and writes.
///
/// # Safety
/// `theirs` is writable, on the host or not.
pub(super) unsafe fn in_place<T>(
    on_host: bool,
    theirs: *mut T,
    bytes: usize,
    call: impl FnOnce(*mut T) -> Outcome,
) -> Outcome {
    if theirs.addr().is_multiple_of(bytes) {
        return call(theirs);
    }
    ensure(on_host && bytes <= WIDEST, POINTER)?;
    let mut copy = Room([0; WIDEST]);
    let (caller, aligned) = (theirs.cast::<u8>(), copy.0.as_mut_ptr());
    // SAFETY: S11: as promised above; there is room for so many.
    unsafe { caller.copy_to_nonoverlapping(aligned, bytes) };
    call(aligned.cast())?;
    // SAFETY: S11: as promised above; a call whose results are on the host has written them.
    unsafe { caller.copy_from_nonoverlapping(aligned, bytes) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hip_sys::rocblas::rocblas_double_complex as C64;

    /// A complex number that straddles two others: the second part of the one and the first part of the next.
    fn between(room: &mut [C64; 2]) -> *mut C64 {
        room.as_mut_ptr().cast::<f64>().wrapping_add(1).cast()
    }

    #[repr(align(16))]
    struct Two([C64; 2]);

    fn two() -> Two {
        Two([C64 { x: 1.0, y: 2.0 }, C64 { x: 3.0, y: 4.0 }])
    }

    #[test]
    fn only_a_misaligned_scalar_is_copied() {
        let mut two = two();
        let (first, between) = (&raw const two.0[0], between(&mut two.0).cast_const());
        // SAFETY: S11: live scalars.
        unsafe {
            assert_eq!(Held::of(true, first, 16).unwrap().pointer(), first);
            assert_eq!(Held::of(false, first, 16).unwrap().pointer(), first);
            assert!(Held::of(true, std::ptr::null::<C64>(), 16).unwrap().pointer().is_null());
            let held = Held::of(true, between, 16).unwrap();
            assert_eq!(aligned(held.pointer()), Ok(()));
            assert_eq!(((*held.pointer()).x, (*held.pointer()).y), (2.0, 3.0));
            assert_eq!(Held::of(false, between, 16).err(), Some(POINTER));
        }
        assert_eq!((aligned(first), aligned(between)), (Ok(()), Err(POINTER)));
    }

    #[test]
    fn a_misaligned_result_goes_through_an_aligned_copy() {
        let mut two = two();
        let result = between(&mut two.0);
        let negate = |result: *mut C64| {
            assert_eq!(aligned(result), Ok(()));
            // SAFETY: S11: a live variable.
            unsafe { *result = C64 { x: -(*result).x, y: -(*result).y } };
            Ok(())
        };
        // SAFETY: S11: a live variable of the host, and one that is not touched.
        unsafe {
            assert_eq!(in_place(true, result, 16, negate), Ok(()));
            assert_eq!(in_place(false, result, 16, |_| Ok(())), Err(POINTER));
        }
        let [first, second] = two.0;
        assert_eq!([first.x, first.y, second.x, second.y], [1.0, -2.0, -3.0, 4.0]);
    }
}
