//! The types of elements.

use half::{bf16, f16};
use hip_safe::AnyBits;
use hip_sys::miopen::miopenDataType_t;
use std::fmt::Debug;

crate::convert::c_enum! {
    /// The type of a tensor's elements. MIOpen's two 8-bit floats are missing here, because HIP has them in two layouts.
    DataType = miopenDataType_t {
        /// `half::f16`.
        F16 = miopenDataType_t::miopenHalf,
        /// `half::bf16`.
        BF16 = miopenDataType_t::miopenBFloat16,
        /// `f32`.
        F32 = miopenDataType_t::miopenFloat,
        /// `f64`.
        F64 = miopenDataType_t::miopenDouble,
        /// `i8`.
        I8 = miopenDataType_t::miopenInt8,
        /// `i32`.
        I32 = miopenDataType_t::miopenInt32,
        /// `i64`.
        I64 = miopenDataType_t::miopenInt64,
    }
}

impl DataType {
    /// The type with C's number; `None` for a type that is not listed here.
    pub(crate) fn from_raw(raw: miopenDataType_t) -> Option<Self> {
        let all = [Self::F16, Self::BF16, Self::F32, Self::F64, Self::I8, Self::I32, Self::I64];
        all.into_iter().find(|data_type| data_type.raw() == raw)
    }

    /// The size of an element in bytes.
    pub fn size(self) -> usize {
        match self {
            Self::I8 => 1,
            Self::F16 | Self::BF16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A type of tensor elements. The platform decides which of them an operation supports: as a rule, floats of 16 and 32
/// bits.
pub trait Element: AnyBits + Debug + sealed::Sealed {
    /// The type's name.
    const DATA_TYPE: DataType;

    /// The nearest element, stored in the first bytes of eight.
    #[doc(hidden)]
    fn bytes_of(value: f64) -> [u8; 8];
}

macro_rules! elements {
    ($($type:ty, $name:ident, $convert:expr;)*) => {$(
        impl sealed::Sealed for $type {}

        impl Element for $type {
            const DATA_TYPE: DataType = DataType::$name;

            fn bytes_of(value: f64) -> [u8; 8] {
                let convert: fn(f64) -> $type = $convert;
                let mut bytes = [0; 8];
                let value = convert(value).to_ne_bytes();
                bytes[..value.len()].copy_from_slice(&value);
                bytes
            }
        }
    )*};
}

elements! {
    f16, F16, f16::from_f64;
    bf16, BF16, bf16::from_f64;
    f32, F32, |x| x as f32;
    f64, F64, |x| x;
    i8, I8, |x| x as i8;
    i32, I32, |x| x as i32;
    i64, I64, |x| x as i64;
}
