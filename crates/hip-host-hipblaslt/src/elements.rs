//! The types of matrices: how a number is read from memory and stored there.

use crate::float8::Float8;
use crate::status::{Outcome, UNSUPPORTED};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use hip_host::library::Uses;
use hip_host_rocblas::sums::Widen;
use hip_sys::hip::hipError_t;
use hip_sys::hipblaslt::hipDataType as t;

/// A type of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F32,
    F16,
    Bf16,
    F8(Float8),
    I8,
    I32,
}

impl Element {
    pub(crate) fn of(data_type: u32) -> Outcome<Self> {
        Ok(match t(data_type) {
            t::HIP_R_32F => Self::F32,
            t::HIP_R_16F => Self::F16,
            t::HIP_R_16BF => Self::Bf16,
            t::HIP_R_8F_E4M3 => Self::F8(Float8::E4M3),
            t::HIP_R_8F_E5M2 => Self::F8(Float8::E5M2),
            t::HIP_R_8F_E4M3_FNUZ => Self::F8(Float8::E4M3Fnuz),
            t::HIP_R_8F_E5M2_FNUZ => Self::F8(Float8::E5M2Fnuz),
            t::HIP_R_8I => Self::I8,
            t::HIP_R_32I => Self::I32,
            _ => return Err(UNSUPPORTED),
        })
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::F8(_) | Self::I8 => 1,
        }
    }

    pub(crate) fn is_f8(self) -> bool {
        matches!(self, Self::F8(_))
    }

    /// Names so many elements as read, or as written.
    pub(crate) fn uses(
        self,
        uses: &mut Uses,
        address: usize,
        count: usize,
        writes: bool,
    ) -> Result<(), hipError_t> {
        fn name<T>(uses: &mut Uses, address: usize, count: usize, writes: bool) -> Result<(), hipError_t> {
            if writes { uses.write(address as *mut T, count) } else { uses.read(address as *const T, count) }
        }
        match self.bytes() {
            4 => name::<u32>(uses, address, count, writes),
            2 => name::<u16>(uses, address, count, writes),
            _ => name::<u8>(uses, address, count, writes),
        }
    }

    /// How a factor of floats is read.
    pub(crate) fn widen(self) -> Option<Widen<f32>> {
        Some(match self {
            Self::F32 => wide::<f32, _>,
            Self::F16 => wide::<f16, _>,
            Self::Bf16 => wide::<bf16, _>,
            Self::F8(Float8::E4M3) => wide_f8::<{ Float8::E4M3 as usize }>,
            Self::F8(Float8::E5M2) => wide_f8::<{ Float8::E5M2 as usize }>,
            Self::F8(Float8::E4M3Fnuz) => wide_f8::<{ Float8::E4M3Fnuz as usize }>,
            Self::F8(Float8::E5M2Fnuz) => wide_f8::<{ Float8::E5M2Fnuz as usize }>,
            Self::I8 | Self::I32 => return None,
        })
    }

    /// The float at an address.
    ///
    /// # Safety
    /// There is one of this type, which is not an integer.
    pub(crate) unsafe fn read(self, at: *const u8) -> f32 {
        // SAFETY: S2: the caller vouches for it; the address was found to be aligned.
        unsafe {
            match self {
                Self::F32 => at.cast::<f32>().read(),
                Self::F16 => at.cast::<f16>().read().to_f32(),
                Self::Bf16 => at.cast::<bf16>().read().to_f32(),
                Self::F8(format) => format.decode(at.read()),
                Self::I8 | Self::I32 => 0.0,
            }
        }
    }

    /// Rounds a number to the type and stores it.
    ///
    /// # Safety
    /// There is room for one of this type, which is not an integer, and nobody else uses it.
    pub(crate) unsafe fn store(self, at: *mut u8, value: f32) {
        // SAFETY: S2, S12: the caller vouches for it; the address was found to be aligned.
        unsafe {
            match self {
                Self::F32 => at.cast::<f32>().write(value),
                Self::F16 => at.cast::<f16>().write(f16::from_f32(value)),
                Self::Bf16 => at.cast::<bf16>().write(bf16::from_f32(value)),
                Self::F8(format) => at.write(format.encode(value)),
                Self::I8 | Self::I32 => {}
            }
        }
    }
}

/// A type that is read as another one.
trait Narrow<W>: Sized {
    fn widen(from: &[Self], to: &mut [W]);
}

impl Narrow<Self> for f32 {
    fn widen(from: &[Self], to: &mut [Self]) {
        to.copy_from_slice(from);
    }
}

impl Narrow<f32> for f16 {
    fn widen(from: &[Self], to: &mut [f32]) {
        from.convert_to_f32_slice(to);
    }
}

impl Narrow<f32> for bf16 {
    fn widen(from: &[Self], to: &mut [f32]) {
        from.convert_to_f32_slice(to);
    }
}

impl Narrow<f64> for i8 {
    fn widen(from: &[Self], to: &mut [f64]) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = f64::from(*from));
    }
}

/// How a factor of bytes is read.
pub(crate) const WIDEN_I8: Widen<f64> = wide::<i8, f64>;

/// # Safety
/// There are as many elements of type `T` as `to` has.
unsafe fn wide<T: Narrow<W>, W>(from: *const u8, to: &mut [W]) {
    // SAFETY: S2, S12: the caller vouches for them; the address was found to be aligned.
    let from = unsafe { std::slice::from_raw_parts(from.cast(), to.len()) };
    T::widen(from, to);
}

/// # Safety
/// There are as many bytes as `to` has elements.
unsafe fn wide_f8<const FORMAT: usize>(from: *const u8, to: &mut [f32]) {
    let values = Float8::ALL[FORMAT].decoded();
    // SAFETY: S2, S12: the caller vouches for them.
    let from = unsafe { std::slice::from_raw_parts(from, to.len()) };
    to.iter_mut().zip(from).for_each(|(to, from)| *to = values[usize::from(*from)]);
}
