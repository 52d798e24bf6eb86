//! The factors that MIOpen and cuDNN take in host memory.

use super::entry::there;
use super::{BAD, Outcome};
use hip_sys::miopen::miopenDataType_t;
use std::ffi::c_void;

/// A factor as cuDNN takes it: an `f64` for tensors of `f64`, else an `f32`. MIOpen takes an `f32` for both.
#[derive(Clone, Copy)]
pub(super) struct Factor {
    single: f32,
    double: f64,
    wide: bool,
}

impl Factor {
    pub(super) fn new(value: f64, kind: miopenDataType_t) -> Self {
        Self { single: value as f32, double: value, wide: kind == miopenDataType_t::miopenDouble }
    }

    /// The caller's factor.
    ///
    /// # Safety
    /// `pointer` is null or points to an `f32`.
    pub(super) unsafe fn read(pointer: *const c_void, kind: miopenDataType_t) -> Outcome<Self> {
        there(pointer)?;
        // SAFETY: S11: not null; the C contract puts an f32 there, wherever it lies.
        Ok(Self::new(f64::from(unsafe { pointer.cast::<f32>().read_unaligned() }), kind))
    }

    /// The caller's factor, in the tensor's own type.
    ///
    /// # Safety
    /// `pointer` is null or points to a value of the type.
    pub(super) unsafe fn read_as(pointer: *const c_void, kind: miopenDataType_t) -> Outcome<Self> {
        there(pointer)?;
        // SAFETY: S11: not null; the C contract puts a value of the type there.
        let value = unsafe {
            match kind {
                miopenDataType_t::miopenFloat => f64::from(pointer.cast::<f32>().read_unaligned()),
                miopenDataType_t::miopenDouble => pointer.cast::<f64>().read_unaligned(),
                miopenDataType_t::miopenHalf => f64::from(half(pointer.cast::<u16>().read_unaligned())),
                miopenDataType_t::miopenBFloat16 => {
                    f64::from(f32::from_bits(u32::from(pointer.cast::<u16>().read_unaligned()) << 16))
                }
                miopenDataType_t::miopenInt8 => f64::from(pointer.cast::<i8>().read()),
                miopenDataType_t::miopenInt32 => f64::from(pointer.cast::<i32>().read_unaligned()),
                _ => return Err(BAD),
            }
        };
        Ok(Self::new(value, kind))
    }

    pub(super) fn value(&self) -> f64 {
        self.double
    }

    /// The pointer for cuDNN, valid while `self` is not moved.
    pub(super) fn get(&self) -> *const c_void {
        if self.wide { (&raw const self.double).cast() } else { (&raw const self.single).cast() }
    }
}

/// The value of an IEEE half.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    sign * match exponent {
        0 => fraction * (-24_f32).exp2(),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * ((exponent - 25) as f32).exp2(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_kind<T>(value: T, kind: miopenDataType_t) -> f64 {
        // SAFETY: S11: a live value of the type that the number names.
        unsafe { Factor::read_as((&raw const value).cast(), kind) }.unwrap().value()
    }

    #[test]
    fn a_factor_has_the_type_that_cudnn_reads() {
        let value = 2.5_f32;
        for kind in [miopenDataType_t::miopenHalf, miopenDataType_t::miopenFloat] {
            // SAFETY: S11: a live f32.
            let factor = unsafe { Factor::read((&raw const value).cast(), kind) }.unwrap();
            // SAFETY: S1: the factor lives here and is an f32.
            assert_eq!(unsafe { factor.get().cast::<f32>().read() }, 2.5);
        }
        // SAFETY: S11: a live f32.
        let factor =
            unsafe { Factor::read((&raw const value).cast(), miopenDataType_t::miopenDouble) }.unwrap();
        // SAFETY: S1: the factor lives here and is an f64.
        assert_eq!(unsafe { factor.get().cast::<f64>().read() }, 2.5);
        // SAFETY: S11: null is refused.
        assert!(unsafe { Factor::read(std::ptr::null(), miopenDataType_t::miopenFloat) }.is_err());
    }

    #[test]
    fn values_of_every_type_are_read() {
        assert_eq!(as_kind(0x3e00_u16, miopenDataType_t::miopenHalf), 1.5);
        assert_eq!(as_kind(0xc400_u16, miopenDataType_t::miopenHalf), -4.0);
        assert_eq!(as_kind(0x0001_u16, miopenDataType_t::miopenHalf), 2_f64.powi(-24));
        assert_eq!(as_kind(0x7bff_u16, miopenDataType_t::miopenHalf), 65504.0);
        assert_eq!(as_kind(0x7c00_u16, miopenDataType_t::miopenHalf), f64::INFINITY);
        assert_eq!(as_kind(0xc040_u16, miopenDataType_t::miopenBFloat16), -3.0);
        assert_eq!(as_kind(-7_i8, miopenDataType_t::miopenInt8), -7.0);
        assert_eq!(as_kind(1_000_000_i32, miopenDataType_t::miopenInt32), 1e6);
        assert_eq!(as_kind(0.1_f64, miopenDataType_t::miopenDouble), 0.1);
    }
}
