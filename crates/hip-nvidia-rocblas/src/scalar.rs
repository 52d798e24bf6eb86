//! Scalars whose type is an argument. cuBLAS sums 16-bit elements in 32 bits only if the scalars have 32 bits, so 16-bit scalars on
//! the host are widened, which is exact.

use super::convert::DataType;
use super::handle::Handle;
use hip_sys::rocblas::rocblas_half;
use hip_sys::rocblas::{rocblas_bfloat16, rocblas_datatype, rocblas_double_complex, rocblas_float_complex};
use std::ffi::c_void;

/// Whether a scalar is known to have a value.
///
/// # Safety
/// The scalar is of that type, not null, and live if scalars are on the host.
pub(super) unsafe fn is(handle: &Handle, scalar: *const c_void, data: rocblas_datatype, number: u8) -> bool {
    use rocblas_datatype as R;
    // SAFETY: S11: as promised above.
    unsafe {
        match data {
            R::rocblas_datatype_f16_r => handle.is(scalar.cast::<rocblas_half>(), number),
            R::rocblas_datatype_bf16_r => handle.is(scalar.cast::<rocblas_bfloat16>(), number),
            R::rocblas_datatype_f32_r => handle.is(scalar.cast::<f32>(), number),
            R::rocblas_datatype_f64_r => handle.is(scalar.cast::<f64>(), number),
            R::rocblas_datatype_i32_r => handle.is(scalar.cast::<i32>(), number),
            R::rocblas_datatype_f32_c => handle.is(scalar.cast::<rocblas_float_complex>(), number),
            R::rocblas_datatype_f64_c => handle.is(scalar.cast::<rocblas_double_complex>(), number),
            _ => false,
        }
    }
}

/// The value of a `rocblas_half`.
pub(super) fn from_f16(bits: u16) -> f32 {
    let (sign, rest) = (u32::from(bits & 0x8000) << 16, u32::from(bits & 0x7fff));
    let magnitude = match rest {
        // Infinity or NaN: the greatest exponent stays the greatest.
        0x7c00.. => f32::from_bits(rest << 13 | 0x7f80_0000),
        // The exponent biases differ by 112. The product is exact, also for subnormal numbers.
        _ => f32::from_bits(rest << 13) * f32::from_bits((127 + 112) << 23),
    };
    f32::from_bits(magnitude.to_bits() | sign)
}

/// The value of a `rocblas_bfloat16`.
pub(super) fn from_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// A 16-bit scalar in 32 bits, if its value is known.
///
/// # Safety
/// The scalar is of that type, not null, and live if scalars are on the host.
pub(super) unsafe fn widened(handle: &Handle, scalar: *const c_void, data: DataType) -> Option<f32> {
    if !handle.on_host() {
        return None;
    }
    let convert = match data {
        DataType::F16 => from_f16,
        DataType::BF16 => from_bf16,
        _ => return None,
    };
    // SAFETY: S11: as promised above.
    Some(convert(unsafe { scalar.cast::<u16>().read_unaligned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bits_keep_their_value() {
        let halves = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 1365.0 / 4096.0),
            (0x7bff, 65504.0),
            (0x0001, 1.0 / 16_777_216.0),
            (0x03ff, 1023.0 / 16_777_216.0),
            (0x0400, 1.0 / 16_384.0),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (bits, value) in halves {
            assert_eq!(from_f16(bits), value, "{bits:#x}");
        }
        assert!(from_f16(0x7e00).is_nan() && from_f16(0x8000).is_sign_negative());
        assert_eq!((from_bf16(0x3f80), from_bf16(0xc040)), (1.0, -3.0));
    }
}
