//! Factors of products and solves, which are on the host.

use hip_sys::provider::sparse::{Outcome, Scalar, ensure};
use hip_sys::rocsparse::rocsparse_status as Status;
use std::ffi::c_void;

/// A copy of a factor at a multiple of 16 bytes. rocSPARSE's complex numbers of two `f64` lie at multiples of 8; cuSPARSE loads both halves at once, which
/// ends the program elsewhere.
#[repr(C, align(16))]
pub(super) struct Factor([u8; 16]);

/// The bytes of a number.
pub(super) fn bytes(scalar: Scalar) -> usize {
    match scalar {
        Scalar::F32 => 4,
        Scalar::F64 | Scalar::C32 => 8,
        Scalar::C64 => 16,
    }
}

impl Factor {
    /// Zero in every type of numbers.
    pub(super) const ZERO: Self = Self([0; 16]);

    /// # Safety
    /// The address is null or that of a number of this type.
    pub(super) unsafe fn of(number: *const c_void, scalar: Scalar) -> Outcome<Self> {
        ensure(!number.is_null(), Status::rocsparse_status_invalid_pointer)?;
        let mut copy = Self::ZERO;
        // SAFETY: S11: as the caller vouches, and at most the copy's size.
        unsafe { number.cast::<u8>().copy_to_nonoverlapping(copy.0.as_mut_ptr(), bytes(scalar)) };
        Ok(copy)
    }

    pub(super) fn address(&self) -> *const c_void {
        self.0.as_ptr().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_that_lies_anywhere_is_copied_to_a_multiple_of_its_size() {
        let bytes: [u8; 24] = std::array::from_fn(|at| at as u8);
        for start in 0..8 {
            let number = bytes[start..].as_ptr().cast();
            for (scalar, len) in [(Scalar::F32, 4), (Scalar::F64, 8), (Scalar::C32, 8), (Scalar::C64, 16)] {
                // SAFETY: S11: 16 bytes lie there.
                let factor = unsafe { Factor::of(number, scalar) }.expect("no null");
                assert_eq!(factor.address() as usize % 16, 0);
                assert_eq!(factor.0[..len], bytes[start..start + len]);
                assert!(factor.0[len..].iter().all(|byte| *byte == 0));
            }
        }
        // SAFETY: S11: null is allowed.
        assert!(unsafe { Factor::of(std::ptr::null(), Scalar::F32) }.is_err());
    }
}
